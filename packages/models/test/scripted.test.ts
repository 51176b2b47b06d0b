import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { ModelEvent } from "@sheaf/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { SheafError } from "@sheaf/base/errors";
import type { Model, ModelMessage } from "../src/provider.ts";
import { createScriptedModel, createScriptedModelFrom, splitText } from "../src/scripted.ts";

const folder = join(import.meta.dirname, "../../agent/test/fixtures/scripted");

interface Options {
  readonly messages?: readonly ModelMessage[];
  readonly signal?: AbortSignal;
}

async function collect(model: Model, { messages, signal }: Options = {}): Promise<(readonly ModelEvent[])[]> {
  let number = 0;
  const request = {
    system: "",
    messages: messages ?? [{ role: "user" as const, text: "hello" }],
    tools: [],
    mode: "agent" as const,
    newCallId: () => `call_${(number += 1)}`,
  };
  const groups: (readonly ModelEvent[])[] = [];
  for await (const group of model.stream(request, signal ?? new AbortController().signal)) groups.push(group);
  return groups;
}

function afterAnswers(count: number): ModelMessage[] {
  return Array.from({ length: count }, (): ModelMessage[] => [
    { role: "user", text: "go on" },
    { role: "assistant", content: [{ type: "text", text: "…" }] },
  ])
    .flat()
    .concat({ role: "user", text: "and now" });
}

const textOf = (groups: readonly (readonly ModelEvent[])[]): string[] =>
  groups.flat().flatMap((event) => (event.type === "text_delta" ? [event.text] : []));

const oneTurn = (...events: unknown[]): unknown => ({ turns: [{ events }] });

async function failureOf(promise: Promise<unknown>): Promise<SheafError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SheafError);
  return error as SheafError;
}

describe("the events of a script", () => {
  test("a text is one delta in one group, and the turn ends with stop", async () => {
    const groups = await collect(createScriptedModelFrom(oneTurn({ text: "Hello." }), "test"));
    expect(groups.slice(0, -1)).toEqual([[{ type: "text_delta", text: "Hello." }]]);
    expect(groups.at(-1)).toEqual([
      {
        type: "turn_end",
        finishReason: "stop",
        rawFinishReason: "",
        usage: { promptTokens: 2, completionTokens: 2, totalTokens: 4, estimated: true },
        modelMs: 0,
      },
    ]);
  });

  test("chunk cuts a text, group puts deltas together", async () => {
    const groups = await collect(createScriptedModelFrom(oneTurn({ text: "abcdefg", chunk: 2, group: 3 }), "test"));
    expect(groups.slice(0, -1).map((group) => textOf([group]))).toEqual([["ab", "cd", "ef"], ["g"]]);
  });

  test("an array of strings is one group of its deltas", async () => {
    const groups = await collect(createScriptedModelFrom(oneTurn({ text: ["a", "b"] }, { text: ["c"] }), "test"));
    expect(groups.slice(0, -1).map((group) => textOf([group]))).toEqual([["a", "b"], ["c"]]);
  });

  test("repeat repeats, and group fills over the repetitions of one delta", async () => {
    const groups = await collect(createScriptedModelFrom(oneTurn({ text: "ab", repeat: 5, group: 2 }), "test"));
    expect(groups.slice(0, -1).map((group) => textOf([group]))).toEqual([["ab", "ab"], ["ab", "ab"], ["ab"]]);
    const chunked = await collect(createScriptedModelFrom(oneTurn({ text: "abc", chunk: 2, repeat: 2 }), "test"));
    expect(textOf(chunked)).toEqual(["ab", "c", "ab", "c"]);
  });

  test("reasoning comes as reasoning", async () => {
    const groups = await collect(await createScriptedModel(join(folder, "thinking.json")));
    const reasoning = groups.flat().flatMap((event) => (event.type === "reasoning_delta" ? [event.text] : []));
    expect(reasoning.join("")).toBe("The user greets me.");
    expect(reasoning.length).toBe(3);
    expect(textOf(groups)).toEqual(["Hi."]);
  });

  test(verifies("N29", "a call has the id of the request, and the provider's beside it"), async () => {
    const call = { tool: "write_file", arguments: { target_file: "a.md", content: "ä😀" }, chunk: 9, id: "toolu_1" };
    const groups = await collect(createScriptedModelFrom(oneTurn({ call }), "test"));
    expect(groups[0]).toEqual([
      {
        type: "tool_call_start",
        callId: "call_1",
        toolName: "write_file",
        documentType: "file_edit",
        providerCallId: "toolu_1",
      },
    ]);
    const deltas = groups.flat().flatMap((event) => (event.type === "tool_call_arguments_delta" ? [event.delta] : []));
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.join("")).toBe(JSON.stringify(call.arguments));
    expect(groups.at(-2)).toEqual([{ type: "tool_call_arguments", callId: "call_1", arguments: call.arguments }]);
    expect(groups.at(-1)?.[0]).toMatchObject({ finishReason: "tool_calls" });
  });

  test(verifies("N30", "raw text that is no object is kept as it is"), async () => {
    const groups = await collect(await createScriptedModel(join(folder, "raw-arguments.json")));
    expect(groups.flat().find(({ type }) => type === "tool_call_arguments")).toEqual({
      type: "tool_call_arguments",
      callId: "call_1",
      arguments: {},
      rawArguments: '{"target_file": ',
    });
    for (const text of ["[1]", '"x"']) {
      const events = (
        await collect(createScriptedModelFrom(oneTurn({ call: { tool: "x", arguments: text } }), "test"))
      ).flat();
      expect(events.find(({ type }) => type === "tool_call_arguments")).toMatchObject({
        arguments: {},
        rawArguments: text,
      });
    }
  });

  test("raw text that is an object is one", async () => {
    const events = (
      await collect(createScriptedModelFrom(oneTurn({ call: { tool: "x", arguments: ' {"a":1}' } }), "test"))
    ).flat();
    expect(events.find(({ type }) => type === "tool_call_arguments")).toEqual({
      type: "tool_call_arguments",
      callId: "call_1",
      arguments: { a: 1 },
    });
  });

  test("parallel calls start together, and their pieces take turns", async () => {
    const groups = await collect(await createScriptedModel(join(folder, "parallel-reads.json")));
    expect(groups[0]?.map(({ type }) => type)).toEqual(["tool_call_start", "tool_call_start"]);
    const order = groups.flat().flatMap((event) => (event.type === "tool_call_arguments_delta" ? [event.callId] : []));
    expect(order.slice(0, 4)).toEqual(["call_1", "call_2", "call_1", "call_2"]);
    expect(groups.at(-2)).toEqual([
      { type: "tool_call_arguments", callId: "call_1", arguments: { target_file: "a.md" } },
      { type: "tool_call_arguments", callId: "call_2", arguments: { target_file: "b.md" } },
    ]);
  });

  test("a wait is waited for, an abort ends it at once and without an error", async () => {
    expect(textOf(await collect(await createScriptedModel(join(folder, "slow.json"))))).toEqual(["one ", "two"]);
    const controller = new AbortController();
    const model = createScriptedModelFrom(oneTurn({ text: "a" }, { wait_ms: 3_600_000 }, { text: "b" }), "test");
    const collecting = collect(model, { signal: controller.signal });
    setTimeout(() => controller.abort(), 5);
    expect(textOf(await collecting)).toEqual(["a"]);
  });

  test("a stall lasts until the abort", async () => {
    const controller = new AbortController();
    const collecting = collect(await createScriptedModel(join(folder, "stalled.json")), { signal: controller.signal });
    setTimeout(() => controller.abort(), 5);
    const groups = await collecting;
    expect(textOf(groups)).toEqual(["Still "]);
    expect(groups.flat().some(({ type }) => type === "turn_end")).toBe(false);
  });

  test("an abort in the middle of deltas ends the stream", async () => {
    const controller = new AbortController();
    const model = createScriptedModelFrom(oneTurn({ text: "ab", repeat: 1000 }), "test");
    let count = 0;
    const request = { system: "", messages: [], tools: [], mode: "agent" as const, newCallId: () => "call_1" };
    for await (const group of model.stream(request, controller.signal)) {
      expect(group.every(({ type }) => type === "text_delta")).toBe(true);
      count += 1;
      if (count === 10) controller.abort();
    }
    expect(count).toBe(10);
    controller.abort();
    expect(await collect(model, { signal: controller.signal })).toEqual([]);
  });

  test(verifies("C20", "an error is thrown with its code of the table, from the provider"), async () => {
    const error = await failureOf(collect(await createScriptedModel(join(folder, "rate-limited.json"))));
    expect(error.code).toBe("RATE_LIMITED");
    expect(error.source).toBe("provider");
    expect(error.message).toBe("the quota is used up: wait or use another key");
    expect(error.resetsAt).toBe("2026-03-01T12:00:00Z");
  });

  test("a truncated stream has no turn_end", async () => {
    const groups = await collect(await createScriptedModel(join(folder, "truncated.json")));
    expect(groups.flat()).toEqual([{ type: "text_delta", text: "This breaks o" }]);
  });

  test("finish and usage are as written", async () => {
    const refusal = await collect(await createScriptedModel(join(folder, "refusal.json")));
    expect(refusal.at(-1)?.[0]).toMatchObject({ finishReason: "refusal", rawFinishReason: "refusal" });
    const reads = await collect(await createScriptedModel(join(folder, "parallel-reads.json")), {
      messages: afterAnswers(1),
    });
    expect(reads.at(-1)?.[0]).toMatchObject({
      usage: { promptTokens: 120, completionTokens: 8, totalTokens: 128, cachedPromptTokens: 100 },
    });
  });
});

describe("the turn", () => {
  const model = (after?: string): Model =>
    createScriptedModelFrom(
      { turns: [{ events: [{ text: "one" }] }, { events: [{ text: "two" }] }], ...(after && { after }) },
      "two.json",
    );

  test("goes by the answers in the history", async () => {
    expect(textOf(await collect(model()))).toEqual(["one"]);
    expect(textOf(await collect(model(), { messages: afterAnswers(1) }))).toEqual(["two"]);
  });

  test("is an error that says how many there are, behind the last one", async () => {
    for (const after of [undefined, "error"]) {
      const error = await failureOf(collect(model(after), { messages: afterAnswers(2) }));
      expect(error.code).toBe("CONFIG_INVALID");
      expect(error.message).toContain("two.json has 2 turns, but the run asks for turn 3");
    }
  });

  test("repeats or begins again when the script says so", async () => {
    expect(textOf(await collect(model("repeat_last"), { messages: afterAnswers(7) }))).toEqual(["two"]);
    expect(textOf(await collect(model("loop"), { messages: afterAnswers(4) }))).toEqual(["one"]);
    expect(textOf(await collect(model("loop"), { messages: afterAnswers(5) }))).toEqual(["two"]);
  });
});

describe("the file", () => {
  test("gives id and display name", async () => {
    const named = await createScriptedModel(join(folder, "read-and-write.json"));
    expect([named.id, named.name, named.apiKeySource]).toEqual(["claude-4-sonnet", "Claude 4 Sonnet", "none"]);
    const unnamed = await createScriptedModel(join(folder, "loop.json"));
    expect([unnamed.id, unnamed.name]).toEqual(["scripted:loop", "Scripted loop"]);
  });

  test("that is missing is named", async () => {
    const path = join(folder, "no-such.json");
    const error = await failureOf(createScriptedModel(path));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain(`${path} cannot be read: the file does not exist`);
    const folderError = await failureOf(createScriptedModel(folder));
    expect(folderError.message).toContain(folder);
  });

  test.each(readdirSync(folder))("%s is valid", async (name) => {
    await expect(createScriptedModel(join(folder, name))).resolves.toBeDefined();
  });

  const bad: [string, unknown, string][] = [
    ["no object", [], "at its top level: "],
    ["no turns", {}, "at turns: "],
    ["no turn", { turns: [] }, "at turns: "],
    ["an unknown field", { turns: [{ events: [] }], afterwards: 1 }, "afterwards"],
    ["an unknown word", { turns: [{ events: [] }], after: "stop" }, "at after: "],
    ["a finish that is none", { turns: [{ events: [], finish: "end" }] }, "at turns[0].finish: "],
    [
      "an event without a name",
      oneTurn({ texts: "a" }),
      "at turns[0].events[0]: expected an object with exactly one of text, reasoning, call",
    ],
    [
      "an event with two names",
      oneTurn({ text: "a", call: { tool: "x" } }),
      "at turns[0].events[0]: expected an object with exactly one of",
    ],
    ["an event that is a string", oneTurn("a"), "at turns[0].events[0]: expected an object"],
    [
      "a text that is a number",
      oneTurn({ text: "a" }, { text: 1 }),
      "at turns[0].events[1].text: expected a string, or an array of strings",
    ],
    ["a chunk of zero", oneTurn({ text: "a", chunk: 0 }), "at turns[0].events[0].chunk: "],
    ["an unknown field of an event", oneTurn({ text: "a", chunks: 1 }), "chunks"],
    [
      "arguments that are a list",
      oneTurn({ call: { tool: "x", arguments: [1] } }),
      "at turns[0].events[0].call.arguments: expected an object",
    ],
    ["a call without a tool", oneTurn({ calls: [{ tool: "x" }, {}] }), "at turns[0].events[0].calls[1].tool: "],
    [
      "an unknown code",
      oneTurn({ error: { code: "TEAPOT", message: "x" } }),
      "at turns[0].events[0].error.code: expected a code of the exit table",
    ],
    [
      "a date that is none",
      oneTurn({ error: { code: "NETWORK", message: "x", resets_at: "soon" } }),
      "at turns[0].events[0].error.resets_at: ",
    ],
    ["another end", oneTurn({ end: "soon" }), "at turns[0].events[0].end: "],
    [
      "negative tokens",
      { turns: [{ events: [], usage: { promptTokens: -1, completionTokens: 1 } }] },
      "at turns[0].usage.promptTokens: ",
    ],
  ];
  test.each(bad)("with %s is refused with the place", (_, script, message) => {
    const create = (): Model => createScriptedModelFrom(script, "bad.json");
    expect(create).toThrow(SheafError);
    expect(create).toThrow(message);
    expect(create).toThrow("bad.json");
    try {
      create();
    } catch (error) {
      expect((error as SheafError).code).toBe("CONFIG_INVALID");
      expect((error as SheafError).message).not.toContain("\n");
    }
  });
});

describe("long streams", () => {
  test("50,000 deltas are two groups, again and again", async () => {
    const groups = await collect(await createScriptedModel(join(folder, "long-stream.json")));
    expect(groups.length).toBe(50_001);
    expect(groups.slice(0, 2).flat()).toEqual([
      { type: "text_delta", text: "abcd" },
      { type: "text_delta", text: "efgh" },
    ]);
    expect(groups.slice(0, -1).every((group, index) => group === groups[index % 2])).toBe(true);
    expect(groups.at(-1)?.[0]).toMatchObject({ usage: { completionTokens: 50_000 } });
  });
});

test("chunks joined are the text, and no surrogate pair is cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 6 }), (text, chunk) => {
      const pieces = splitText(text, chunk);
      expect(pieces.join("")).toBe(text);
      const isCut = (piece: string) => text.isWellFormed() && !piece.isWellFormed();
      expect(pieces.filter((piece) => piece.length > Math.max(2, chunk) || isCut(piece))).toEqual([]);
    }),
  );
});
