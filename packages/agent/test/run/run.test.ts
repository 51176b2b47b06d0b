import { describe, expect, test } from "vitest";
import type { ModelEvent } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { Model } from "@sheaf/models/provider";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  call,
  createFakeModel,
  createFakeTools,
  createFullStore,
  end,
  last,
  ok,
  runModel,
  start,
  text,
  types,
} from "./fake-ports.ts";

describe("the loop", () => {
  test("asks the model, runs the calls, and asks again until the model ends", async () => {
    const model = createFakeModel([
      [[text("I read. ")], [...call("call_1", "read", { a: 1 }), end("tool_calls")]],
      [[text("Done.")], [end()]],
    ]);
    const groups = await runModel(model, { tools: createFakeTools({ read: async () => ok("content") }) });
    expect(types(groups)).toEqual([
      "run_start",
      "turn_start",
      "text_delta",
      "tool_call_start",
      "tool_call_arguments",
      "turn_end",
      "tool_result",
      "turn_start",
      "text_delta",
      "turn_end",
      "run_end",
    ]);
    expect(groups.flat().map((event) => event.seq)).toEqual(Array.from({ length: 11 }, (_, index) => index + 1));
    expect(last(groups)).toMatchObject({ type: "run_end", reason: "end_turn" });
    expect(model.requests[1]!.messages).toEqual([
      { role: "user", text: "go" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I read. " },
          { type: "tool_call", callId: "call_1", toolName: "read", arguments: { a: 1 } },
        ],
      },
      { role: "tool", callId: "call_1", toolName: "read", output: "content", isError: false },
    ]);
  });

  test(
    verifies("C240", "what the user adds during calls is in the next request, once, and nothing after them"),
    async () => {
      const turn = (id: string) => [[...call(id, "read"), end("tool_calls")]];
      const model = createFakeModel([turn("call_1"), turn("call_2"), [[text("Done."), end()]]]);
      const added = [{ messageId: "chat_b", message: "use tabs" }, undefined, undefined, { message: "too late" }];
      const groups = await runModel(model, {
        tools: createFakeTools({ read: async () => ok("content") }),
        takeMessage: async () => added.shift(),
      });
      expect(types(groups).slice(5, 8)).toEqual(["tool_result", "user_message", "turn_start"]);
      expect(types(groups).filter((type) => type === "user_message")).toHaveLength(1);
      for (const { messages } of model.requests.slice(1)) {
        expect(messages.filter(({ role }) => role === "user")).toEqual([
          { role: "user", text: "go" },
          { role: "user", text: "use tabs" },
        ]);
      }
      expect(model.requests[1]!.messages.at(-1)).toEqual({ role: "user", text: "use tabs" });
      // A run that ends takes nothing: what waits begins the next response.
      expect(added).toEqual([{ message: "too late" }]);
    },
  );

  test(verifies("N59", "the log, the tool and the history have the mended arguments"), async () => {
    const edit = { old_string: "a", new_string: "b" };
    const model = createFakeModel([
      [[...call("call_1", "edit_file", { path: "a.txt", ...edit }), end("tool_calls")]],
      [[end()]],
    ]);
    const groups = await runModel(model, { tools: createFakeTools({ edit_file: async () => ok() }) });
    const mended = { arguments: { target_file: "a.txt", edits: [edit] } };
    expect(groups.flat().find(({ type }) => type === "tool_call_arguments")).toMatchObject(mended);
    expect(model.requests[1]!.messages[1]).toMatchObject({ content: [mended] });
  });

  test("what one read of the model brought is delivered as one group", async () => {
    const model = createFakeModel([[[text("a"), text("b"), text("c")], [text("d")], [end()]]]);
    const groups = await runModel(model);
    expect(groups.map((group) => group.length)).toEqual([1, 1, 3, 1, 1, 1]);
  });

  test(verifies("R-03", "nothing is delivered that is not stored"), async () => {
    const store = createSqliteStore(":memory:");
    const model = createFakeModel([
      [
        [text("a"), text("b")],
        [...call("call_1", "read"), end()],
      ],
      [[text("c")], [end()]],
    ]);
    let delivered = 0;
    const checks: Promise<void>[] = [];
    await runModel(model, {
      store,
      tools: createFakeTools({ read: async () => ok() }),
      onEvent(event) {
        delivered = event.seq;
        checks.push(store.getResponse("chat_1").then((row) => expect(row!.lastSeq).toBeGreaterThanOrEqual(event.seq)));
      },
    });
    await Promise.all(checks);
    expect((await store.readEvents("chat_1")).length).toBe(delivered);
  });

  describe("the last result of a turn", () => {
    const createWritingModel = () =>
      createFakeModel([
        [[...call("call_1", "write"), ...call("call_2", "write"), end("tool_calls")]],
        [[text("Done.")], [end()]],
      ]);
    const tools = createFakeTools({ write: async () => ok() });

    test(verifies("R-03", "is synced before the model is asked again"), async () => {
      const model = createWritingModel();
      const store = createSqliteStore(":memory:");
      const appends: { readonly types: readonly string[]; readonly durability: string; readonly asked: number }[] = [];
      await runModel(model, {
        tools,
        store: {
          ...store,
          appendEvents(responseId, events, durability) {
            appends.push({ types: events.map(({ type }) => type), durability, asked: model.requests.length });
            return store.appendEvents(responseId, events, durability);
          },
        },
      });
      expect(appends.filter(({ types: [type] }) => type === "tool_result")).toEqual([
        { types: ["tool_result"], durability: "synced", asked: 1 },
        { types: ["tool_result"], durability: "synced", asked: 1 },
      ]);
    });

    test(verifies("R-02", "that cannot be stored ends the run, and the model is not asked again"), async () => {
      const model = createFakeModel([[[...call("call_1", "write"), end("tool_calls")]], ["hang"]]);
      const store = createFullStore((events) => events.some(({ type }) => type === "tool_result"));
      const groups = await runModel(model, { tools, store });
      expect(model.requests.length).toBe(1);
      expect(types(groups).slice(-2)).toEqual(["tool_result", "run_end"]);
      expect(last(groups)).toMatchObject({ reason: "error", error: { code: "STORAGE_FULL" } });
    });

    test("is there when its call says something behind it", async () => {
      const speaking = createFakeTools({
        write: async (_, emit) => {
          void (async () => {
            for (let round = 0; round < 30; round += 1) {
              await Promise.resolve();
              emit("stdout", "late");
            }
          })();
          return ok();
        },
      });
      const groups = await runModel(createWritingModel(), { tools: speaking });
      expect(types(groups).filter((type) => type === "tool_result")).toHaveLength(2);
    });

    test("is there when the run is cancelled before the next turn", async () => {
      const controller = new AbortController();
      const aborting = createFakeTools({
        write: async () => {
          controller.abort();
          return ok();
        },
      });
      const model = createFakeModel([[[...call("call_1", "write"), end("tool_calls")]]]);
      const groups = await runModel(model, { tools: aborting, controller });
      expect(types(groups).slice(-2)).toEqual(["tool_result", "run_end"]);
      expect(model.requests.length).toBe(1);
    });
  });
});

describe("failures", () => {
  const failing = async (turn: Parameters<typeof createFakeModel>[0][number]) =>
    last(await runModel(createFakeModel([turn])));

  test.each([
    ["refusal", "REFUSED", "refusal"],
    ["content_filter", "CONTENT_FILTER", "refusal"],
  ] as const)(verifies(["C20", "N2"], "finish reason %s is %s"), async (reason, code, runReason) => {
    expect(await failing([[text("half")], [end(reason)]])).toMatchObject({ reason: runReason, error: { code } });
  });

  test(verifies("R-11", "a stream without its end marker is STREAM_TRUNCATED, never completed"), async () => {
    expect(await failing([[text("half")]])).toMatchObject({
      reason: "error",
      error: { code: "STREAM_TRUNCATED", retryable: true, source: "provider" },
    });
  });

  test(verifies("C8", "calls that were begun when the model failed get a result each"), async () => {
    const begun = call("call_2", "read")[0]!;
    const model = createFakeModel([[[...call("call_1", "read"), begun], new SheafError("OVERLOADED", "busy")]]);
    const groups = await runModel(model, { tools: createFakeTools({ read: async () => ok() }) });
    const results = groups.flat().filter((event) => event.type === "tool_result");
    expect(results.map((event) => [event.callId, event.status])).toEqual([
      ["call_1", "cancelled"],
      ["call_2", "cancelled"],
    ]);
    expect(types(groups).slice(-4)).toEqual(["turn_end", "tool_result", "tool_result", "run_end"]);
    expect(last(groups)).toMatchObject({ error: { code: "OVERLOADED" } });
  });

  test(
    verifies(["R-11", "N5"], "an answer that breaks off before any text is asked for again, as if nothing had come"),
    async () => {
      const thinking = { type: "reasoning_delta", text: "hm" } as const;
      const broken = new SheafError("NETWORK", "reset", { source: "provider" });
      const half = call("call_1", "write")[0]!;
      const model = createFakeModel([
        [[thinking], broken],
        [[thinking, ...call("call_0", "write"), half], [end("error")], broken],
        [[...call("call_2", "write"), end("tool_calls")]],
        [[text("Done.")], [end()]],
      ]);
      let writes = 0;
      const write = async () => {
        writes += 1;
        return ok();
      };
      const options = { tools: createFakeTools({ write }), settings: { limits: { maxTurns: 2 } } };
      const groups = await runModel(model, options);
      expect([writes, last(groups)]).toMatchObject([1, { reason: "end_turn" }]);
      const [first, second, third, after] = model.requests.map(({ messages }) => messages);
      expect([second, third]).toEqual([first, first]);
      const turns = groups.flat().flatMap((event) => (event.type === "turn_start" ? [event.turn] : []));
      expect(turns).toEqual([1, 1, 1, 2]);
      const called = (after ?? []).map((message) => (message.role === "tool" ? message.callId : message.role));
      // The last one is the note on the last turn of the budget.
      expect(called).toEqual(["user", "assistant", "call_2", "user"]);
      const cancelled = groups.flat().filter((event) => event.type === "tool_result" && event.status === "cancelled");
      expect(cancelled).toMatchObject([{ callId: "call_0" }, { callId: "call_1" }]);
    },
  );

  test.each([
    ["after text", [text("Hel")]],
    ["a third time", [{ type: "reasoning_delta", text: "hm" }]],
  ] as const)(verifies("R-11", "an answer that breaks off %s fails"), async (_, events) => {
    const turn = [events, new SheafError("NETWORK", "reset", { source: "provider" })];
    const model = createFakeModel([turn, turn, turn, turn]);
    expect(last(await runModel(model))).toMatchObject({ error: { code: "NETWORK" } });
    expect(model.requests).toHaveLength(events[0].type === "text_delta" ? 1 : 3);
  });

  test(verifies("C20", "an answer without end is MAX_TOKENS, and the model is asked for no more of it"), async () => {
    const piece = "x".repeat(1024 * 1024);
    for (const event of [text(piece), { type: "reasoning_delta", text: piece } as const]) {
      let groups = 0;
      const model: Model = {
        ...createFakeModel([]),
        async *stream() {
          for (; groups < 100; groups += 1) yield [event];
        },
      };
      expect(last(await runModel(model))).toMatchObject({
        reason: "max_tokens",
        error: { code: "MAX_TOKENS", message: expect.stringContaining("longer than 16777216 characters") },
      });
      expect(groups).toBeLessThan(20);
    }
  });

  test("an unknown error is INTERNAL", async () => {
    expect(await failing([new Error("what?")])).toMatchObject({
      error: { code: "INTERNAL", message: "unexpected: what?" },
    });
  });
});

describe("an abort", () => {
  test(verifies(["C22", "N2"], "while the model writes: CANCELLED, with what came kept"), async () => {
    const groups = await runModel(createFakeModel([[[text("half")], "hang"]]), {
      onEvent: (event, abort) => event.type === "text_delta" && abort(),
    });
    expect(types(groups)).toEqual(["run_start", "turn_start", "text_delta", "turn_end", "run_end"]);
    expect(last(groups)).toMatchObject({ reason: "cancelled", error: { code: "CANCELLED", source: "user" } });
  });

  test(verifies("C8", "while tools run: each open call gets its result, even of a tool that hangs"), async () => {
    const hanging = () => new Promise<never>(() => undefined);
    const calls = [...call("call_1", "write"), ...call("call_2", "write"), end()];
    const groups = await runModel(createFakeModel([[calls]]), {
      tools: createFakeTools({ write: hanging }),
      onEvent: (event, abort) => event.type === "turn_end" && setTimeout(abort, 5),
    });
    const results = groups.flat().filter((event) => event.type === "tool_result");
    expect(results.map((event) => [event.callId, event.status])).toEqual([
      ["call_1", "cancelled"],
      ["call_2", "cancelled"],
    ]);
    expect(last(groups)).toMatchObject({ reason: "cancelled" });
  });

  test("carries its reason: a time budget", async () => {
    const groups = await runModel(createFakeModel([["hang"]]), {
      onEvent: (event, abort) => event.type === "turn_start" && abort(new SheafError("BUDGET_TIME", "too long")),
    });
    expect(last(groups)).toMatchObject({ reason: "budget", error: { code: "BUDGET_TIME", message: "too long" } });
  });

  test(
    verifies("C24", "a time budget that ends in a wait for another try names the failure of the model"),
    async () => {
      const wait = {
        type: "provider_wait",
        code: "RATE_LIMITED",
        until: "",
        tries: 3,
        message: "m (HTTP 429): wait",
      } as const;
      const timeout = new SheafError("BUDGET_TIME", "the run took longer than 2 s: raise --timeout");
      const run = (turn: readonly ModelEvent[]) =>
        runModel(createFakeModel([[...turn.map((event) => [event]), "hang"]]), {
          onEvent: (event, abort) => event.type === turn.at(-1)!.type && abort(timeout),
        });
      const runs = [run([wait]), run([wait, text("a")])];
      expect((await Promise.all(runs)).map((groups) => last(groups))).toMatchObject([
        {
          error: {
            code: "BUDGET_TIME",
            message:
              "the run took longer than 2 s, in which the model failed 3 times, last with RATE_LIMITED: m (HTTP 429): wait",
          },
        },
        { error: { message: timeout.message } },
      ]);
    },
  );

  test("before the first turn ends the run without a request", async () => {
    const model = createFakeModel([[[text("x")], [end()]]]);
    const controller = new AbortController();
    controller.abort();
    const groups = await runModel(model, { controller });
    expect(types(groups)).toEqual(["run_start", "run_end"]);
    expect(model.requests).toHaveLength(0);
  });
});

describe("a store that fails", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    verifies(["C20", "C22", "R-03"], "at write %i: the run ends with STORAGE_FULL and no unstored delta is shown"),
    async (failsAt) => {
      const model = createFakeModel([
        [[text("a")], [...call("call_1", "read"), end()]],
        [[text("b")], [text("c")], [end()]],
      ]);
      const store = createFullStore((_events, count) => count >= failsAt);
      const groups = await runModel(model, { store, tools: createFakeTools({ read: async () => ok() }) });
      const events = groups.flat();
      expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
      expect(last(groups)).toMatchObject({ type: "run_end", error: { code: "STORAGE_FULL" } });
      const stored = await store.readEvents(start.responseId);
      expect(events.slice(0, stored.length)).toEqual(stored);
      expect(events.slice(stored.length).some((event) => event.type === "text_delta")).toBe(false);
      const begun = events.filter((event) => event.type === "tool_call_arguments").length;
      expect(events.filter((event) => event.type === "tool_result")).toHaveLength(begun);
    },
  );
});
