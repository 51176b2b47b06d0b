import { SheafError } from "@sheaf/base/errors";
import { toResponse } from "@sheaf/documents";
import type { HookResult, RunEvent } from "@sheaf/protocol";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { toCutLog } from "../../src/run/conversations/cut-log.ts";
import { createHistory } from "../../src/run/history.ts";
import { runResponse } from "../../src/run/run.ts";
import type { HookOccasion, Hooks } from "../../src/tools/hooks/hooks.ts";
import {
  call,
  createFakeModel,
  createFakeTools,
  end,
  last,
  ok,
  runModel,
  start,
  text,
  types,
  usage,
} from "./fake-ports.ts";

/** Hooks that are played; notes what they ran for. */
function createFakeHooks(play: (occasion: HookOccasion) => Partial<HookResult> | undefined) {
  const occasions: HookOccasion[] = [];
  const hooks: Hooks = {
    async run(occasion) {
      occasions.push(occasion);
      const said = play(occasion);
      const callId = "call" in occasion ? { callId: occasion.call.callId } : {};
      const { event } = occasion;
      const base = {
        type: "hook_result",
        event,
        origin: "user",
        command: "c",
        status: "success",
        exitCode: 0,
      } as const;
      return said ? [{ ...base, durationMs: 0, ...callId, ...said }] : [];
    },
    leaveRun: () => undefined,
    end: async () => undefined,
  };
  return { hooks, occasions };
}

describe("hooks of a run", () => {
  test(verifies("C83", "a refused prompt ends the run, and is no part of the history"), async () => {
    const model = createFakeModel([]);
    const { hooks } = createFakeHooks(() => ({ decision: "block", reason: "has a key" }));
    const groups = await runModel(model, { hooks });
    expect(types(groups)).toEqual(["run_start", "hook_result", "run_end"]);
    expect(last(groups)).toMatchObject({
      error: { code: "PERMISSION_REQUIRED", message: "the user's UserPromptSubmit hook refused the prompt: has a key" },
    });
    expect(model.requests).toEqual([]);
    const history = createHistory([{ role: "user", text: "before" }]);
    for (const event of groups.flat()) history.push(event);
    expect(history.messages).toEqual([{ role: "user", text: "before" }]);
  });

  test(verifies(["C80", "C240"], "a message that a hook refuses is not seen, and the run continues"), async () => {
    const model = createFakeModel([[[...call("call_1", "read"), end("tool_calls")]], [[text("done"), end()]]]);
    const { hooks, occasions } = createFakeHooks((occasion) =>
      "prompt" in occasion && occasion.prompt === "key" ? { decision: "block", reason: "has a key" } : undefined,
    );
    const added = [{ message: "key" }, { message: "go on" }];
    const groups = await runModel(model, {
      hooks,
      tools: createFakeTools({ read: async () => ok("a") }),
      takeMessage: async () => added.shift(),
    });
    expect(occasions.filter((occasion) => "prompt" in occasion).map(({ event }) => event)).toHaveLength(3);
    expect(last(groups)).toMatchObject({ reason: "end_turn" });
    expect(model.requests[1]!.messages.at(-1)).toEqual({ role: "user", text: "go on" });
    expect(JSON.stringify(model.requests[1]!.messages)).not.toContain("key");
  });

  test(verifies(["C89", "C240"], "a message is in the request after a stop hook objects"), async () => {
    const model = createFakeModel([[[text("done"), end()]], [[text("more"), end()]]]);
    const { hooks } = createFakeHooks((occasion) =>
      "isContinued" in occasion && !occasion.isContinued ? { decision: "block", reason: "test it" } : undefined,
    );
    const added = [{ message: "use tabs" }];
    await runModel(model, { hooks, takeMessage: async () => added.shift() });
    expect(JSON.stringify(model.requests[1]?.messages)).toContain("use tabs");
  });

  test(verifies(["C83", "C240"], "messages after one at which a hook ends the run wait for the next run"), async () => {
    const model = createFakeModel([[[...call("call_1", "read"), end("tool_calls")]]]);
    const { hooks } = createFakeHooks((occasion) =>
      "prompt" in occasion && occasion.prompt === "key" ? { decision: "end", reason: "has a key" } : undefined,
    );
    const added = [{ message: "key" }, { message: "later" }];
    const tools = createFakeTools({ read: async () => ok("a") });
    const groups = await runModel(model, { hooks, tools, takeMessage: async () => added.shift() });
    expect(last(groups)).toMatchObject({ error: { code: "PERMISSION_REQUIRED" } });
    expect(added).toEqual([{ message: "later" }]);
  });

  const refused = {
    type: "hook_result",
    event: "UserPromptSubmit",
    origin: "user",
    command: "c",
    status: "success",
    exitCode: 0,
    durationMs: 0,
    decision: "block",
  } as const;

  test.each([
    ["first", 0, []],
    ["refused", 0, [{ ...refused, seq: 2, time: 1 }]],
    ["added", 1, [{ type: "user_message", message: "key", seq: 2, time: 1 }]],
    [
      "late",
      1,
      [
        { type: "turn_start", turn: 1, seq: 2, time: 1 },
        { type: "turn_end", finishReason: "stop", rawFinishReason: "", usage, modelMs: 0, seq: 3, time: 1 },
        { type: "user_message", message: "key", seq: 4, time: 1 },
      ],
    ],
  ] as const)(
    verifies(["C80", "C240", "R-40"], "a process that continues a run asks the hook about its %s message"),
    async (_, requests, added) => {
      const model = createFakeModel([[[text("done"), end()]]]);
      const { hooks } = createFakeHooks(({ event }) =>
        event === "UserPromptSubmit" ? { decision: "block", reason: "has a key" } : undefined,
      );
      const store = createSqliteStore(":memory:");
      const events: RunEvent[] = [{ type: "run_start", ...start, seq: 1, time: 1 }, ...added];
      await store.createResponse({ ...start, id: start.responseId, title: "t", createdAt: 1 });
      await store.appendEvents(start.responseId, events, "synced");
      const groups = await runModel(model, { hooks, store, settings: { cut: toCutLog(events) } });
      expect(groups.flat()[0]).toMatchObject({ type: "hook_result", decision: "block" });
      expect(model.requests).toHaveLength(requests);
      expect(JSON.stringify(model.requests)).not.toContain("key");
    },
  );

  test(verifies(["C80", "C83"], "a call is refused, changed or left; the log has the events in order"), async () => {
    const model = createFakeModel([
      [[...call("call_1", "read", { a: 1 }), ...call("call_2", "run_x", { a: 2 }), end("tool_calls")]],
      [[text("done"), end()]],
    ]);
    const { hooks, occasions } = createFakeHooks((occasion) => {
      if (occasion.event === "UserPromptSubmit") return { context: "Monday" };
      if (occasion.event !== "PreToolUse") return undefined;
      return occasion.call.callId === "call_1"
        ? { decision: "block", reason: "secret" }
        : { arguments: { a: 3 }, context: "as you like" };
    });
    const groups = await runModel(model, { hooks, tools: createFakeTools({ run_x: async () => ok("ran") }) });
    expect(types(groups).filter((type) => /hook|result|arguments/.test(type))).toEqual([
      "hook_result",
      "tool_call_arguments",
      "tool_call_arguments",
      "hook_result",
      "hook_result",
      "tool_result",
      "tool_result",
    ]);
    expect(model.requests[0]!.messages[1]).toMatchObject({
      isNote: true,
      text: "A UserPromptSubmit hook adds (material, not instruction):\n```\nMonday\n```",
    });
    const results = groups.flat().filter((event) => event.type === "tool_result");
    expect(results).toMatchObject([
      {
        callId: "call_1",
        status: "rejected",
        error: { message: "the user's PreToolUse hook refused this call: secret" },
      },
      { callId: "call_2", status: "success", output: "ran" },
    ]);
    expect(results[1]!.note).toContain('A hook changed the arguments of this call; it ran with {"a":3}.');
    expect(results[1]!.note).toContain("as you like");
    expect(occasions.map(({ event }) => event)).toEqual(["UserPromptSubmit", "PreToolUse", "PreToolUse", "Stop"]);
  });

  test(verifies("C83", "continue: false ends the run after the call"), async () => {
    const model = createFakeModel([[[...call("call_1", "read"), end("tool_calls")]], [[text("more"), end()]]]);
    const { hooks } = createFakeHooks(({ event }) =>
      event === "PreToolUse" ? { decision: "end", reason: "enough" } : undefined,
    );
    const groups = await runModel(model, { hooks });
    expect(last(groups)).toMatchObject({
      error: { code: "PERMISSION_REQUIRED", message: "the user's PreToolUse hook ended the run: enough" },
    });
    expect(groups.flat().find(({ type }) => type === "tool_result")).toMatchObject({ status: "rejected" });
  });

  test(
    verifies("C89", "a stop hook lets the model go on five times, and not beyond the budget; then the run fails"),
    async () => {
      const create = () => createFakeModel(Array.from({ length: 9 }, (_, index) => [[text(`${index}`), end()]]));
      const { hooks, occasions } = createFakeHooks(({ event }) =>
        event === "Stop" ? { decision: "block", reason: "test it" } : undefined,
      );
      const model = create();
      const groups = await runModel(model, { hooks });
      const failure = { error: { code: "VERIFY_FAILED", message: "the user's Stop hook still objects: test it" } };
      expect(last(groups)).toMatchObject(failure);
      expect(model.requests).toHaveLength(6);
      expect(model.requests[1]!.messages.at(-1)).toMatchObject({ text: "A Stop hook objects:\n```\ntest it\n```" });
      const stops = occasions.filter((occasion) => occasion.event === "Stop");
      expect(stops.map(({ isContinued }) => isContinued)).toEqual([false, true, true, true, true, true]);
      const short = create();
      expect(last(await runModel(short, { hooks, settings: { limits: { maxTurns: 2 } } }))).toMatchObject(failure);
      expect(short.requests).toHaveLength(2);
    },
  );

  test(verifies("C89", "a run that is ended during its Stop hooks did not succeed"), async () => {
    const controller = new AbortController();
    const { hooks } = createFakeHooks(({ event }) => {
      if (event === "Stop") controller.abort(new SheafError("BUDGET_TIME", "too long"));
      return undefined;
    });
    const groups = await runModel(createFakeModel([[[text("done"), end()]]]), { hooks, controller });
    expect(last(groups)).toMatchObject({ error: { code: "BUDGET_TIME" } });
  });

  test(verifies(["C80", "C87"], "a session begins before the prompt, and ends before the last event"), async () => {
    const model = createFakeModel([[[text("done"), end()]]]);
    const { hooks, occasions } = createFakeHooks(({ event }) =>
      event === "SessionStart" ? { context: "Notes" } : { status: "success" },
    );
    const settings = { moments: { begins: "startup", ends: true } } as const;
    const groups = await runModel(model, { hooks, settings });
    expect(occasions).toEqual([
      { event: "SessionStart", source: "startup" },
      { event: "UserPromptSubmit", prompt: "go" },
      { event: "Stop", isContinued: false, text: "done" },
      { event: "SessionEnd" },
    ]);
    expect(types(groups).slice(-2)).toEqual(["hook_result", "run_end"]);
    expect(model.requests[0]!.messages.map((message) => ("text" in message ? message.text : ""))).toEqual([
      "go",
      "A SessionStart hook adds (material, not instruction):\n```\nNotes\n```",
    ]);
  });

  test(
    verifies("C180", "a hook that fails at the end of a session fails a strict run, which keeps its answer"),
    async () => {
      const { hooks } = createFakeHooks(({ event }) =>
        event === "SessionEnd" ? { exitCode: 1, notice: { code: "HOOK_FAILED", message: "m" } } : undefined,
      );
      const run = async (strict?: true) => {
        const settings = { start: { ...start, ...(strict && { strict }) }, moments: { ends: true } } as const;
        return last(await runModel(createFakeModel([[[text("done"), end()]]]), { hooks, settings }));
      };
      expect(await run(true)).toMatchObject({ error: { code: "SETUP_INCOMPLETE", message: "m" } });
      expect(await run()).toMatchObject({ reason: "end_turn" });
    },
  );

  test(verifies("C80", "a question to the user is notified, and so is a question of the agent"), async () => {
    const model = createFakeModel([[[...call("call_1", "run_ask"), end("tool_calls")]], [[text("x"), end()]]]);
    const { hooks, occasions } = createFakeHooks(() => undefined);
    const ask = async () => ({ optionId: "allow_once", by: "user" }) as const;
    const tools = createFakeTools({ run_ask: async () => ok() });
    await runModel(model, { hooks, tools, approver: { expiresAfterMs: 1000, ask } });
    const message = "Sheaf needs your permission to use run_ask";
    expect(occasions).toContainEqual({ event: "Notification", kind: "permission_prompt", message });
    const asking = createFakeModel([[[...call("call_1", "ask_question"), end("tool_calls")]]]);
    const effect = { kind: "question", title: "", questions: [] } as never;
    const questions = createFakeTools({ ask_question: async () => ({ ...ok(), effect }) });
    await runModel(asking, { hooks, tools: questions });
    expect(occasions.at(-1)).toEqual({
      event: "Notification",
      kind: "elicitation_dialog",
      message: "Sheaf has a question for you",
    });
  });

  test(verifies("C80", "hooks run before a summary"), async () => {
    const model = createFakeModel([[[text("summary"), end()]]]);
    const { hooks, occasions } = createFakeHooks(({ event }) => (event === "PreCompact" ? {} : undefined));
    const history = [
      { role: "user", text: "one" },
      { role: "assistant", content: [{ type: "text", text: "x".repeat(9000) }] },
      { role: "user", text: "two" },
      { role: "assistant", content: [{ type: "text", text: "y".repeat(9000) }] },
    ] as const;
    const settings = { history, start: { ...start, prompt: "", shortens: true } } as const;
    const groups = await runModel(model, { hooks, settings });
    expect(types(groups)).toEqual(["run_start", "hook_result", "compaction", "run_end"]);
    expect(occasions).toEqual([{ event: "PreCompact", trigger: "manual" }]);
  });

  test(verifies("C88", "without hooks, the log and the requests are as ever"), async () => {
    const model = createFakeModel([[[text("done"), end()]]]);
    const none = await runModel(model);
    const silent = createFakeHooks(() => undefined);
    const again = createFakeModel([[[text("done"), end()]]]);
    expect(await runModel(again, { hooks: silent.hooks })).toEqual(none);
    const [request, expected] = [again.requests[0]!, model.requests[0]!];
    expect([request.system, request.messages, request.tools]).toEqual([
      expected.system,
      expected.messages,
      expected.tools,
    ]);
  });
});

/** `npm test` fails until its run of this number; notes how often it ran. */
function createCheck(passesAt: number, result: Partial<HookResult> = {}) {
  let ran = 0;
  const failed = { decision: "block", exitCode: 1, reason: "1 failed", ...result } as const;
  return createFakeHooks(({ event }) =>
    event === "Verify" ? { command: "npm test", ...((ran += 1) < passesAt && failed) } : undefined,
  );
}

const answers = () => createFakeModel(Array.from({ length: 5 }, (_, index) => [[text(`${index}`), end()]]));

describe("what verifies a run", () => {
  const settings = { moments: { verifyRounds: 2 } };

  test(
    verifies("C168", "a failure goes back to the model, and a command that passes then lets the run succeed"),
    async () => {
      const model = answers();
      const { hooks } = createCheck(3);
      const groups = await runModel(model, { hooks, settings });
      expect(last(groups)).toMatchObject({ reason: "end_turn" });
      expect(model.requests).toHaveLength(3);
      expect(model.requests[1]!.messages.at(-1)).toMatchObject({
        isNote: true,
        text: 'The task is not done: "npm test", which verifies it, failed with exit code 1. It printed:\n```\n1 failed\n```',
      });
      expect(toResponse(groups.flat()).metadata.verify).toEqual([
        { command: "npm test", passed: true, exitCode: 0, rounds: 2 },
      ]);
    },
  );

  test(verifies(["C168", "C20"], "a command that fails after the last round ends the run"), async () => {
    const model = answers();
    const { hooks } = createCheck(9);
    const groups = await runModel(model, { hooks, settings });
    expect(model.requests).toHaveLength(3);
    expect(last(groups)).toMatchObject({
      error: {
        code: "VERIFY_FAILED",
        message: '"npm test", which verifies the run, failed with exit code 1 after 2 rounds of repair: 1 failed',
      },
    });
    expect(toResponse(groups.flat()).metadata.verify).toEqual([
      { command: "npm test", passed: false, exitCode: 1, rounds: 2 },
    ]);
  });

  test(verifies("C168", "no round exceeds a budget, and none can mend a command that does not start"), async () => {
    const short = answers();
    const limits = { maxTurns: 2 };
    expect(last(await runModel(short, { ...createCheck(9), settings: { ...settings, limits } }))).toMatchObject({
      error: { code: "VERIFY_FAILED" },
    });
    expect(short.requests).toHaveLength(2);
    const model = answers();
    const { hooks } = createCheck(9, { status: "failed", exitCode: -1, reason: "it did not run: no sandbox works" });
    expect(last(await runModel(model, { hooks, settings }))).toMatchObject({
      error: { message: '"npm test", which verifies the run, failed: it did not run: no sandbox works' },
    });
    expect(model.requests).toHaveLength(1);
  });

  test(verifies("C168", "an answer that must fit a schema stays, whatever verifies the run"), async () => {
    const checkAnswer = async (value: string) => ({ ok: true as const, value });
    expect(last(await runModel(answers(), { ...createCheck(9), settings, checkAnswer }))).toMatchObject({
      error: { code: "VERIFY_FAILED" },
      output: "2",
    });
  });

  test(verifies("C168", "an answer that was repaired before is not refused again in the next round"), async () => {
    const model = answers();
    const checkAnswer = async (value: string) =>
      value === "0" ? { ok: false as const, problem: "no JSON" } : { ok: true as const, value };
    await runModel(model, { ...createCheck(2), settings, checkAnswer });
    const notes = model.requests.map(({ messages }) => messages.findLast(({ role }) => role === "user"));
    expect(notes[1]).toMatchObject({ text: expect.stringContaining("not accepted") as unknown });
    expect(notes[2]).toMatchObject({ text: expect.not.stringContaining("not accepted") as unknown });
  });

  test(
    verifies(["C168", "R-40"], "a response that another process continues is verified, within the same rounds"),
    async () => {
      const { hooks } = createCheck(9);
      const whole = (await runModel(answers(), { hooks, settings })).flat();
      // The first process died while the command of the second answer ran.
      const cut = toCutLog(whole.slice(0, whole.findLastIndex(({ type }) => type === "turn_start") - 1))!;
      const model = answers();
      const ports = {
        model,
        tools: createFakeTools({}),
        hooks,
        now: () => 0,
        newCallId: () => "call_x",
        newApprovalId: () => "appr_x",
        findQuote: async () => undefined,
      };
      const all = { ...settings, start, history: [], system: "", limits: {}, stopsOnDenied: false, cut };
      const groups = [];
      for await (const group of runResponse(all, ports, new AbortController().signal)) groups.push(...group.events);
      expect(groups.at(-1)).toMatchObject({ error: { code: "VERIFY_FAILED" } });
      expect(model.requests).toHaveLength(1);
    },
  );

  test(verifies("C168", "an error of the model, and a question, end the run unverified"), async () => {
    const { hooks, occasions } = createCheck(1);
    const groups = await runModel(createFakeModel([[[end("refusal")]]]), { hooks, settings });
    expect(last(groups)).toMatchObject({ error: { code: "REFUSED" } });
    expect(occasions.map(({ event }) => event)).not.toContain("Verify");
    expect(toResponse(groups.flat()).metadata).not.toHaveProperty("verify");
  });
});
