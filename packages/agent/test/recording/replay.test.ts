import { setTimeout as sleep } from "node:timers/promises";
import type { RunEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { SheafError } from "@sheaf/base/errors";
import type { ModelMessage } from "@sheaf/models/provider";
import { verifies } from "../../../../test/support/verifies.ts";
import { call, createFakeModel, createFakeTools, createFullStore, end, ok, start, text } from "../run/fake-ports.ts";
import { recordRun, replayText, toRecords, type RecordedRun } from "./record-run.ts";

const last = (events: readonly RunEvent[]) => events.at(-1);

/** Three readers side by side with live output and pauses, then a writer, then text with a reference. */
function recordBusyRun(): Promise<RecordedRun> {
  const model = createFakeModel([
    [
      [text("I look. ")],
      [...call("call_1", "read", { a: 1 }), ...call("call_2", "slow"), ...call("call_3", "broken"), end("tool_calls")],
    ],
    [[...call("call_4", "write", { b: 2 }), ...call("call_5", "read"), end("tool_calls")]],
    [[text("See\n\n```1:2:a.ts\nri")], [text("ght\n```\n\n"), text("```3:4:a.ts\nwrong\n```\nDone.")], [end()]],
  ]);
  const tools = createFakeTools({
    read: async (_signal, emit) => {
      emit("stdout", "one");
      emit("stderr", "two");
      return ok("read");
    },
    slow: async (_signal, emit) => {
      for (const piece of ["a", "b", "c"]) {
        await sleep(2);
        emit("stdout", piece);
      }
      return ok("slow");
    },
    broken: async () => {
      await sleep(3);
      throw new Error("defect");
    },
    write: async () => ok("written"),
  });
  return recordRun(model, { tools });
}

/** The end of a run, whose replay is the same log. */
async function replayToEnd({ events, cassette }: RecordedRun): Promise<RunEvent | undefined> {
  expect(await replayText(cassette)).toEqual(events);
  return last(events);
}

/** A replay of each prefix, and of the whole. */
async function replayPrefixes(run: RecordedRun): Promise<RunEvent[][]> {
  const lines = toRecords(run.cassette);
  return Promise.all(lines.map((_, index) => replayText(`${lines.slice(0, index + 1).join("\n")}\n`)));
}

describe("a replayed run", () => {
  test(verifies("X11", "is the same log, with tools side by side, failures and references"), async () => {
    for (let round = 0; round < 10; round += 1) {
      expect(await replayToEnd(await recordBusyRun())).toMatchObject({ reason: "end_turn" });
    }
  });

  test(verifies("X11", "of a slow reader has the same groups and times"), async () => {
    const model = createFakeModel([[[...call("call_1", "run", {}), end("tool_calls")]], [[text("Done.")], [end()]]]);
    const tools = createFakeTools({
      run: async (_signal, emit) => {
        for (let piece = 0; piece < 20; piece += 1) {
          emit("stdout", `${piece}`);
          await sleep(1);
        }
        return ok();
      },
    });
    expect(await replayToEnd(await recordRun(model, { tools, onEvent: () => sleep(3) }))).toMatchObject({
      type: "run_end",
    });
  });

  test.each(["tool_output_delta", "text_delta", "tool_result", "turn_start", "run_start"])(
    verifies("X11", "ends at the same abort: %s"),
    async (type) => {
      const model = createFakeModel([
        [[text("a")], [...call("call_1", "run"), ...call("call_2", "run"), end("tool_calls")]],
        [[text("b")], "hang"],
      ]);
      const tools = createFakeTools({
        run: async (signal, emit) => {
          emit("stdout", "begun");
          await sleep(5, undefined, { signal }).catch(() => undefined);
          return signal.aborted ? { status: "cancelled", output: "" } : ok();
        },
      });
      for (const isLate of [false, true]) {
        const run = await recordRun(model, {
          tools,
          onEvent(event, abort) {
            if (event.type !== type) return;
            const reason = new SheafError("BUDGET_TIME", "too long", { details: "d" });
            if (isLate) setTimeout(() => abort(reason), 1);
            else abort(reason);
          },
        });
        expect(await replayToEnd(run)).toMatchObject({ type: "run_end" });
        model.requests.length = 0;
      }
    },
  );

  test(verifies("X11", "of a tool that does not hear the abort"), async () => {
    const model = createFakeModel([[[...call("call_1", "run"), end("tool_calls")]]]);
    const tools = createFakeTools({ run: () => new Promise(() => undefined) });
    const run = await recordRun(model, {
      tools,
      onEvent: (event, abort) => void (event.type === "turn_end" && setTimeout(abort, 5)),
    });
    expect(await replayToEnd(run)).toMatchObject({ error: { code: "CANCELLED" } });
  });

  test(verifies("X11", "fails as the model failed: error, stream without its end"), async () => {
    const quota = new SheafError("RATE_LIMITED", "later", { source: "provider", resetsAt: "2026-01-01T00:00:00Z" });
    for (const turn of [[[text("half")], quota], [[text("half")]], [new Error("defect")], [[end()]]]) {
      expect(await replayToEnd(await recordRun(createFakeModel([turn])))).toMatchObject({ reason: "error" });
    }
  });

  test(verifies("X11", "fails where the store failed"), async () => {
    for (const failing of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const model = createFakeModel([
        [[text("a")], [text("b")], [...call("call_1", "read"), end("tool_calls")]],
        [[text("c")], [end()]],
      ]);
      const tools = createFakeTools({ read: async () => ok() });
      const store = createFullStore((_events, count) => count === failing);
      expect(await replayToEnd(await recordRun(model, { tools, store }))).toMatchObject({
        error: { code: "STORAGE_FULL" },
      });
    }
  });

  test(verifies("X11", "keeps budgets and the checks of the answer"), async () => {
    const turns = [
      [[text("no")], [end()]],
      [[text("yes")], [end()]],
    ];
    const checked = await recordRun(createFakeModel(turns), {
      checkAnswer: async (answer) =>
        answer === "yes" ? { ok: true, value: { yes: 1 } } : { ok: false, problem: "say yes" },
    });
    expect(await replayToEnd(checked)).toMatchObject({ output: { yes: 1 } });
    const limited = await recordRun(createFakeModel([[[...call("call_1", "read"), end("tool_calls")]]]), {
      settings: { limits: { maxToolCalls: 0 } },
    });
    expect(await replayToEnd(limited)).toMatchObject({ error: { code: "BUDGET_TOOLS" } });
  });

  test(verifies("X11", "keeps an abort that came while the answer was checked"), async () => {
    const run = await recordRun(createFakeModel([[[text("yes")], [end()]]]), {
      checkAnswer: async () => {
        await sleep(50);
        return { ok: false, problem: "the run has ended" };
      },
      onEvent: (event, abort) => void (event.type === "turn_end" && setTimeout(abort, 5)),
    });
    expect(await replayToEnd(run)).toMatchObject({ error: { code: "CANCELLED" } });
  });
});

/** A conversation that has been going on for a while. */
const history: readonly ModelMessage[] = [
  { role: "user", text: "The first task." },
  {
    role: "assistant",
    content: [
      { type: "text", text: "I look." },
      { type: "tool_call", callId: "call_0", toolName: "read", arguments: { a: 1 } },
      { type: "provider_data", origin: "o", callId: "call_0", data: { signature: "s" } },
    ],
  },
  { role: "tool", callId: "call_0", toolName: "read", output: "content ".repeat(400), isError: false },
  { role: "assistant", content: [{ type: "text", text: "The first answer. ".repeat(40) }] },
];

/** A run whose conversation is summarised: before its first turn, and again behind a long result. */
function recordSummarisedRun(): Promise<RecordedRun> {
  const model = createFakeModel([
    [[text("what "), text("was done")], [end()]],
    [[text("I read."), ...call("call_1", "read", { b: 1 }), end("tool_calls")]],
    [[text("all of "), text("that")], [end()]],
    [[...call("call_2", "look", { b: 2 }), end("tool_calls")]],
    [[text("Done."), end()]],
  ]);
  const tools = createFakeTools({
    read: async ({ aborted }) => ok(`${aborted} content `.repeat(240)),
    look: async () => ok(),
  });
  const settings = {
    history,
    start: { ...start, prompt: "The second task.", context: { windowTokens: 1000, usedTokens: 990 } },
  };
  return recordRun(model, { tools, settings });
}

describe("a replayed run of a conversation that goes on", () => {
  test(verifies("X11", "is the same log, with the summaries of what lies back"), async () => {
    const run = await recordSummarisedRun();
    expect(run.events.flatMap((event) => (event.type === "compaction" ? [event.summary] : []))).toEqual([
      "what was done",
      "all of that",
    ]);
    expect(await replayToEnd(run)).toMatchObject({ reason: "end_turn" });
  });

  test(verifies("X11", "is made shorter where the provider refused it"), async () => {
    const tooLong = new SheafError("CONTEXT_LENGTH", "too long", { source: "provider" });
    const model = createFakeModel([[tooLong], [[text("what was done"), end()]], [[text("Done."), end()]]]);
    const run = await recordRun(model, { settings: { history } });
    expect(run.events.map(({ type }) => type)).toContain("compaction");
    expect(await replayToEnd(run)).toMatchObject({ type: "run_end" });
  });

  test(verifies("X11", "names the summary when the conversation was another one"), async () => {
    const run = await recordSummarisedRun();
    const failure = await findFailure(run, (line) => line.replace("The first answer. ", ""));
    expect(failure).toContain("INTERNAL: the replay differs at record ");
    expect(failure).toContain("compaction");
  });
});

describe("a cassette that was cut short", () => {
  test(verifies(["X11", "C22"], "at any line: the beginning of the log, then an end that names the line"), async () => {
    const run = await recordBusyRun();
    const ended = toRecords(run.cassette).findIndex((line) => line.includes('"run_end"'));
    for (const [index, events] of (await replayPrefixes(run)).entries()) {
      if (index >= ended) {
        expect(events).toEqual(run.events);
        continue;
      }
      const error = { code: "CONFIG_INVALID", message: expect.stringContaining(`ends at line ${index + 1},`) };
      expect(last(events)).toMatchObject({ type: "run_end", reason: "error", error });
      const results = events.filter(({ type }) => type === "tool_result").length;
      expect(results).toBe(events.filter(({ type }) => type === "tool_call_start").length);
    }
  });

  test(verifies("X11", "in the middle of a line: as if the line were not there"), async () => {
    const { cassette } = await recordBusyRun();
    const whole = await replayText(cassette.slice(0, cassette.indexOf("\n", 600) + 1));
    const torn = cassette.slice(0, cassette.indexOf("\n", 600) + 15);
    expect(await replayText(torn)).toEqual(whole);
  });
});

/** What the replay of a changed cassette ends with. */
async function findFailure({ cassette }: RecordedRun, change: (line: string) => string | undefined): Promise<string> {
  const lines = toRecords(cassette).flatMap((line) => change(line) ?? []);
  const events = await replayText(`${lines.join("\n")}\n`);
  const final = last(events);
  if (final?.type !== "run_end" || !final.error) return "no failure";
  return `${final.error.code}: ${final.error.message}`;
}

/** Number of the first line that holds a text. */
const lineOf = ({ cassette }: RecordedRun, part: string) =>
  toRecords(cassette).findIndex((line) => line.includes(part)) + 1;

describe("a replay that differs", () => {
  test(verifies("X11", "by other arguments names the record, what was expected and what came"), async () => {
    const run = await recordBusyRun();
    const asked = '"tool_call","callId":"call_4"';
    const failure = await findFailure(run, (line) => (line.includes(asked) ? line.replace('"b":2', '"b":3') : line));
    expect(failure).toBe(
      `INTERNAL: the replay differs at record ${lineOf(run, asked)} of run.ndjson: ` +
        'expected the call write {"b":3}, but the run makes the call write {"b":2}',
    );
  });

  test(verifies("X11", "by another tool, another request, another file that is quoted"), async () => {
    const run = await recordBusyRun();
    const swap = (part: string, from: string, to: string) => (line: string) =>
      line.includes(part) ? line.replace(from, to) : line;
    const cases = [
      [swap('"tool_call","callId":"call_1"', '"read"', '"look"'), "the call look"],
      [
        swap('"model_request","turn":2', '"messages":["', '"messages":["0'),
        "model request 2, but the run sends a different message 2 (assistant)",
      ],
      [swap('"model_request","turn":1', '"system":"', '"system":"0'), "a different system prompt: s"],
      [swap('"quote_check"', "a.ts", "b.ts"), "a check of the quote b.ts:1-2, but the run checks the quote a.ts:1-2"],
      [
        swap('"types":["turn_start"]', "turn_start", "turn_end"),
        "the log to store turn_end, but the run produces turn_start",
      ],
      [swap('"type":"tool_outcome","callId":"call_1"', '"output":"read"', '"output":"other"'), '"output":"other"'],
    ] as const;
    for (const [change, expected] of cases) {
      const failure = await findFailure(run, change);
      expect(failure).toContain("INTERNAL: the replay differs at record ");
      expect(failure).toContain(expected);
    }
  });

  test(verifies("X11", "by any record that is left out is never taken for the same"), async () => {
    const run = await recordBusyRun();
    const lines = toRecords(run.cassette);
    // The last line says only that nothing follows.
    const replays = lines.slice(1, -1).map(async (_, index) => {
      const rest = [...lines];
      const [gone] = rest.splice(index + 1, 1);
      const events = await replayText(`${rest.join("\n")}\n`);
      return { gone, final: last(events) };
    });
    for (const { gone, final } of await Promise.all(replays)) {
      expect([gone, final]).toMatchObject([gone, { type: "run_end", error: { code: "INTERNAL" } }]);
    }
  });
});
