import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { reduce, type ChatResponse, type RunEvent, type Usage } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import {
  createCursorStreamDecoder,
  type CursorStreamDecoder,
  type CursorStreamReport,
} from "../../src/agent-streams.ts";
import { createAssembler } from "../../src/index.ts";
import { describeWithFixtures } from "../../../../test/support/fixtures.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { cutAt, cutEverywhere } from "../model-streams/cut-body.ts";

type Line = Readonly<Record<string, unknown>>;

interface Decoded {
  readonly events: readonly RunEvent[];
  readonly report: CursorStreamReport;
  readonly response: ChatResponse;
}

/** Long streams are cut in two at this many places. */
const maximumCuts = 500;

function createDecoder(): CursorStreamDecoder {
  let count = 0;
  return createCursorStreamDecoder({ newId: () => `id-${(count += 1)}` });
}

function decodeEvents(chunks: readonly (Uint8Array | string)[], decoder = createDecoder()): RunEvent[] {
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()];
}

function decode(chunks: readonly (Uint8Array | string)[]): Decoded {
  const decoder = createDecoder();
  const events = decodeEvents(chunks, decoder);
  const assembler = createAssembler();
  const stream = events.flatMap((event) => assembler.push(event));
  expect(verify(stream)).toBeUndefined();
  return { events, report: decoder.report, response: reduce(stream) };
}

const toJoinedText = (events: readonly RunEvent[]): string =>
  events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");

describeWithFixtures("cursor-streams", (folder) => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".ndjson"));

  test.each(files)(verifies(["C30", "N6", "N44"], "%s is read without loss"), (file) => {
    const bytes = readFileSync(join(folder, file));
    const lines = bytes
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    const { events, report, response } = decode([bytes]);

    expect(report).toMatchObject({ lines: lines.length, unparsable: 0, differences: 0 });
    // What no event tells of is a question to a person, and is kept as it came.
    expect(report.others).toEqual(lines.filter(({ type }) => type === "interaction_query"));
    const result = lines.at(-1)!;
    expect(report.result).toEqual(result);
    expect(toJoinedText(events)).toBe(result.result);
    const thinking = events.map((event) => (event.type === "reasoning_delta" ? event.text : "")).join("");
    expect(thinking).toBe(
      lines.map(({ type, text }) => (type === "thinking" && typeof text === "string" ? text : "")).join(""),
    );

    const started = lines.filter(({ type, subtype }) => type === "tool_call" && subtype === "started");
    const calls = events.flatMap((event) => (event.type === "tool_call_start" ? [event.providerCallId] : []));
    expect(calls).toEqual(started.map(({ call_id }) => call_id));
    expect(events.filter(({ type }) => type === "tool_result")).toHaveLength(started.length);

    const init = lines[0]!;
    expect(response).toMatchObject({ conversationId: `conv_${String(init.session_id)}`, status: "completed" });
    expect(response.usage).toMatchObject(toExpectedUsage(result.usage as CursorUsage | undefined));
  });

  test.each(files)(verifies("N25", "%s cut at every byte gives the same"), (file) => {
    const bytes = readFileSync(join(folder, file));
    const { events } = decode([bytes]);
    expect(decodeEvents(cutEverywhere(bytes))).toEqual(events);
    const step = Math.ceil(bytes.length / maximumCuts);
    for (let cut = 1; cut < bytes.length; cut += step) {
      const pieces = decodeEvents(cutAt(bytes, [cut]));
      if (JSON.stringify(pieces) !== JSON.stringify(events)) expect(pieces, `cut at ${cut}`).toEqual(events);
    }
    expect(events.length).toBeGreaterThan(3);
  });

  test("a command is a terminal document, with its output and exit code", () => {
    const { response } = decode([readFileSync(join(folder, "2026.05-nshkr-shell-partial.ndjson"))]);
    expect(response.documents).toMatchObject([
      { type: "terminal_command", metadata: { command: "echo TOOL_OK", exitCode: 0 } },
      { type: "text", content: "TOOL_OK_DONE" },
    ]);
  });
});

interface CursorUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Before 2026, results had no usage. */
function toExpectedUsage(usage: CursorUsage | undefined): Partial<Usage> {
  if (usage === undefined) return { promptTokens: 0, completionTokens: 0, estimated: true };
  return { promptTokens: usage.inputTokens, completionTokens: usage.outputTokens };
}

const init = { type: "system", subtype: "init", cwd: "/w", session_id: "s", model: "M" };
const user = { type: "user", message: { role: "user", content: [{ type: "text", text: "go" }] } };
const say = (text: string, more: object = {}): Line => ({
  type: "assistant",
  message: { role: "assistant", content: [{ type: "text", text }] },
  ...more,
});
const call = (subtype: string, toolCall: object): Line => ({
  type: "tool_call",
  subtype,
  call_id: "a\nb",
  tool_call: toolCall,
});
const toStream = (...lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

describe("a stream", () => {
  test(verifies(["N51", "C22"], "that is cut ends with its reason, and open calls with a result"), () => {
    const args = { path: "a.txt", fileText: "x\n" };
    const { response } = decode([
      toStream(init, user, say("I write.", { timestamp_ms: 5 }), call("started", { writeToolCall: { args } })),
    ]);
    expect(response.status).toBe("error");
    expect(response.documents).toMatchObject([
      { type: "text", content: "I write." },
      { type: "file_edit", metadata: { filePath: "a.txt", operation: "create" } },
      { type: "error" },
      { type: "error", metadata: { errorCode: "STREAM_TRUNCATED" } },
    ]);
  });

  test("of an unknown kind of line or call loses neither", () => {
    const strange = { type: "weather", sun: true };
    const tool = { danceToolCall: { args: { steps: 3 }, result: { success: { done: true } } } };
    const result = { type: "result", subtype: "success", result: "Hi." };
    const { report, response } = decode([
      toStream(init, user, strange, call("completed", tool), say("Hi."), result),
      `{"broken": `,
    ]);
    expect(report).toMatchObject({ others: [strange], unparsable: 1 });
    expect(response.documents).toMatchObject([
      { type: "tool_call", metadata: { toolName: "danceToolCall", arguments: { steps: 3 } } },
      { type: "text", content: "Hi." },
    ]);
  });

  test("with segments that say more than their deltas tells the rest once", () => {
    const { events, report } = decode([toStream(init, user, say("Hel", { timestamp_ms: 1 }), say("Hello"))]);
    expect(toJoinedText(events)).toBe("Hello");
    expect(report.differences).toBe(0);
    const other = decode([toStream(init, user, say("Hel", { timestamp_ms: 1 }), say("Bye"))]);
    expect(other.report.differences).toBe(1);
  });
});
