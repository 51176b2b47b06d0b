import { verify } from "@sheaf/protocol/verify";
import type { ModelEvent, RunEvent, ToolResult } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { assemble, toResponse } from "../../src/assembler.ts";
import { createModelStreamDecoder } from "../../src/model-streams/model-stream-decoder.ts";
import { type RunEventOptions, toRunEvents, type TurnEvents } from "../../src/model-streams/to-run-events.ts";
import { formatEventStream } from "./read-every-cut.ts";

/** A clock that also goes back, and ids that count. */
function createOptions(options: Partial<RunEventOptions> = {}): RunEventOptions {
  const times = [1000, 1005, 1003, 1010];
  let ids = 0;
  return { now: () => times.shift() ?? 1020, newId: () => `id-${(ids += 1)}`, ...options };
}

async function collect(events: TurnEvents, options?: Partial<RunEventOptions>): Promise<RunEvent[]> {
  const collected: RunEvent[] = [];
  for await (const event of toRunEvents(events, createOptions(options))) collected.push(event);
  return collected;
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The events of an OpenAI chat turn. */
function readTurn(content: string, calls: readonly Call[] = [], finish: string | null = "stop"): ModelEvent[] {
  const ids = calls.map(({ id }) => `call_${id}`);
  const decoder = createModelStreamDecoder("openai-chat", { newCallId: () => ids.shift() ?? "" });
  const parts = calls.map(({ id, name, arguments: text }, index) => ({
    index,
    id,
    function: { name, arguments: text },
  }));
  const delta = { content, tool_calls: parts };
  return [...decoder.push(formatEventStream([{ choices: [{ delta, finish_reason: finish }] }])), ...decoder.end()];
}

const now = (id: string, text = "{}") => ({ id, name: "now", arguments: text });
const call = (id: string, name: string, values: object) => ({ id, name, arguments: JSON.stringify(values) });

describe("toRunEvents", () => {
  test("numbers the events, and the time never falls", async () => {
    const events = await collect(readTurn("a"), { run: { model: "m-1", mode: "ask", prompt: "?" } });
    expect(events.map((event) => event.type)).toEqual(["run_start", "turn_start", "text_delta", "turn_end", "run_end"]);
    expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5]);
    expect(events.map((event) => event.time)).toEqual([1000, 1005, 1005, 1010, 1020]);
    expect(events[0]).toMatchObject({
      responseId: "chat_id-1",
      conversationId: "conv_id-2",
      mode: "ask",
      model: "m-1",
      modelName: "m-1",
      prompt: "?",
    });
    expect(events.at(-1)).toMatchObject({ reason: "end_turn" });
  });

  test(verifies("N5", "a turn begins with the first event behind the end of the one before"), async () => {
    const result: ToolResult = {
      type: "tool_result",
      callId: "call_a",
      status: "success",
      output: "12",
      durationMs: 3,
    };
    const events = await collect([...readTurn("", [now("a")]), result, ...readTurn("b")]);
    expect(events.flatMap((event) => (event.type === "turn_start" ? [event.turn] : []))).toEqual([1, 2]);
    expect(events.filter((event) => event.type === "tool_result")).toMatchObject([{ status: "success" }]);
    expect(toResponse(events).metadata).toMatchObject({ turnCount: 2, toolCallCount: 1 });
  });

  test(verifies("C8", "a call without a result gets one before the next turn, and at the end"), async () => {
    const events = await collect([...readTurn("", [now("a"), now("b", "{")]), ...readTurn("", [now("c")])]);
    const order = events.map((event) => event.type).filter((type) => type !== "tool_call_arguments_delta");
    expect(order.join(" ")).toBe(
      "run_start turn_start tool_call_start tool_call_start tool_call_arguments tool_call_arguments turn_end " +
        "tool_result tool_result turn_start tool_call_start tool_call_arguments turn_end tool_result run_end",
    );
    expect(events.filter((event) => event.type === "tool_result")).toMatchObject([
      {
        callId: "call_a",
        status: "error",
        error: { code: "NOT_EXECUTED", message: expect.stringContaining("no program here runs tools") },
      },
      {
        callId: "call_b",
        status: "error",
        error: { code: "NOT_EXECUTED", message: expect.stringContaining("not a complete JSON") },
      },
      { callId: "call_c", status: "error", error: { code: "NOT_EXECUTED" } },
    ]);
  });

  test.each([
    ["stop", { reason: "end_turn" }],
    ["length", { reason: "max_tokens", error: { code: "MAX_TOKENS", retryable: false } }],
    ["content_filter", { reason: "refusal", error: { code: "CONTENT_FILTER" } }],
    ["refusal", { reason: "refusal", error: { code: "REFUSED" } }],
    ["error", { reason: "error", error: { code: "OVERLOADED", retryable: true } }],
    ["malformed_response", { reason: "error", error: { code: "PROVIDER_REJECTED", retryable: false } }],
    ["odd", { reason: "error", error: { code: "STREAM_TRUNCATED", message: expect.stringContaining("odd") } }],
    [null, { reason: "error", error: { code: "STREAM_TRUNCATED", retryable: true } }],
  ])(verifies("N2", "a turn that ends with %s"), async (finish, end) => {
    const events = await collect(readTurn("a", [], finish));
    expect(events.at(-1)).toMatchObject({ type: "run_end", ...end });
    expect(toResponse(events).status).toBe(end.reason === "end_turn" ? "completed" : "error");
  });

  test("a turn without its end is truncated", async () => {
    expect((await collect(readTurn("a").slice(0, 1))).at(-1)).toMatchObject({ error: { code: "STREAM_TRUNCATED" } });
    expect((await collect([])).map((event) => event.type)).toEqual(["run_start", "run_end"]);
  });

  test(
    verifies(["N44", "N2"], "an answer without text and calls is a failure, so that there is a document"),
    async () => {
      const error = { code: "EMPTY_ANSWER", source: "provider", retryable: true };
      const empty = await collect(readTurn(" \n"));
      expect(empty.at(-1)).toMatchObject({ type: "run_end", reason: "error", error });
      expect(toResponse(empty).documents).toMatchObject([{ type: "error", metadata: { errorCode: "EMPTY_ANSWER" } }]);
      expect(verify(assemble(empty), { requireExtensions: true })).toBeUndefined();

      const afterCall = [...readTurn("I look.", [now("1")], "tool_calls"), ...readTurn("")];
      expect((await collect(afterCall)).at(-1)).toMatchObject({ reason: "end_turn" });
    },
  );

  test("what the provider did by itself is named where there is nothing else", async () => {
    const decoder = createModelStreamDecoder("openai-responses");
    const item = { type: "compaction", id: "cmp_1", encrypted_content: "x" };
    const events = decoder.push(
      formatEventStream([
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { status: "completed", output: [item] } },
      ]),
    );
    const log = await collect([...events, ...decoder.end()], { report: decoder.report });
    expect(toResponse(log).documents[0]?.content).toMatch(/without an answer.*\(compaction\)/);
  });

  test(verifies("N69", "an image is an answer"), async () => {
    const decoder = createModelStreamDecoder("gemini");
    const parts = [{ inlineData: { mimeType: "image/png", data: "AAAA" } }];
    const events = decoder.push(formatEventStream([{ candidates: [{ content: { parts }, finishReason: "STOP" }] }]));
    const log = await collect([...events, ...decoder.end()], { report: decoder.report });
    expect(log.at(-1)).toMatchObject({ reason: "end_turn" });
    expect(toResponse(log).documents).toMatchObject([{ type: "tool_call" }]);
  });

  test(verifies("C20", "an answer with a hole is no success"), async () => {
    const decoder = createModelStreamDecoder("openai-chat");
    const payloads = ['{"choices":[{"delta":{"content":"a"}}]}', '{"cho', '{"choices":[{"finish_reason":"stop"}]}'];
    const events = decoder.push(payloads.map((payload) => `data: ${payload}\n\n`).join(""));
    const log = await collect([...events, ...decoder.end()], { report: decoder.report });
    expect(log.at(-1)).toMatchObject({ reason: "error", error: { code: "STREAM_TRUNCATED", retryable: true } });
  });

  test("the report tells what went wrong", async () => {
    const decoder = createModelStreamDecoder("openai-chat");
    const events = decoder.push(formatEventStream([{ error: { message: "No credit", code: "insufficient_quota" } }]));
    events.push(...decoder.end());
    const [end] = (await collect(events, { report: decoder.report })).slice(-1);
    const message = "the provider reported an error: insufficient_quota: No credit";
    expect(end).toMatchObject({
      error: { code: "RATE_LIMITED", message, details: "insufficient_quota", source: "provider" },
    });
  });
});

describe("documents out of a model's stream alone", () => {
  test(verifies(["N28", "N40", "N41", "N42", "N44"], "text, code and calls become documents"), async () => {
    const todos = [
      { id: "t1", content: "Read", status: "pending" },
      { id: "", status: "pending" },
      { id: "t2", status: "odd" },
    ];
    const questions = [{ id: "q1", prompt: "Which?", options: [{ id: "a", label: "A" }] }];
    const events = await collect(
      readTurn("Hi\n\n```ts\nx\n```\n", [
        call("1", "read_file", { target_file: "a.ts" }),
        call("2", "write_file", { target_file: "a.ts", content: "x\n" }),
        call("3", "create_plan", { title: "T", overview: "O", plan: "# P", todos }),
        call("4", "todo_write", { todos, merge: true }),
        call("5", "ask_question", { title: "Q", questions }),
      ]),
    );
    expect(verify(assemble(events))).toBe(undefined);
    const response = toResponse(events);
    expect(response).toMatchObject({ status: "completed", metadata: { finishReason: "clarification" } });
    expect(response.documents).toMatchObject([
      { type: "text", content: "Hi" },
      { type: "code_block", content: "x" },
      { type: "tool_call", metadata: { result: { status: "error", data: { errorCode: "NOT_EXECUTED" } } } },
      { type: "file_edit", content: "x\n", metadata: { filePath: "a.ts" } },
      { type: "plan", content: "# P", metadata: { title: "T" } },
      { type: "clarification", content: "Q", metadata: { questions: [{ id: "q1", text: "Which?" }] } },
      { type: "todo_update", metadata: { todos: [{ id: "t1", status: "pending", content: "Read" }] } },
    ]);
  });
});

test(verifies(["N35", "N39"], "a file edit that nobody ran is proposed, and no failure"), async () => {
  const edit = call("e", "edit_file", { target_file: "a.ts", edits: [{ old_string: "a", new_string: "b" }] });
  const response = toResponse(await collect(readTurn("I change it.", [edit], "tool_calls")));
  expect(response.documents).toMatchObject([
    { type: "text" },
    { type: "file_edit", content: "b", metadata: { filePath: "a.ts", operation: "edit", state: "proposed" } },
  ]);
  expect(response.status).toBe("completed");
});
