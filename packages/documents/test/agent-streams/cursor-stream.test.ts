import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { reduce, type ChatResponse, type RunEvent, type Usage } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { createAgentStreamDecoder, type AgentStreamDecoder, type AgentStreamReport } from "../../src/agent-streams.ts";
import { createAssembler } from "../../src/index.ts";
import { describeWithFixtures } from "../../../../test/support/fixtures.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { cutAt, cutEverywhere } from "../model-streams/cut-body.ts";

type Line = Readonly<Record<string, unknown>>;

interface Decoded {
  readonly events: readonly RunEvent[];
  readonly report: AgentStreamReport;
  readonly response: ChatResponse;
}

/** Long streams are cut in two at this many places. */
const maximumCuts = 500;

function createDecoder(): AgentStreamDecoder {
  let count = 0;
  return createAgentStreamDecoder("cursor-stream-json", { newId: () => `id-${(count += 1)}` });
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

test(verifies("N7", "a run begins when its first timed line was written, not in 1970"), () => {
  const result = { type: "result", subtype: "success" };
  const { response } = decode([
    toStream(init, user, say("Hi", { timestamp_ms: 1_771_842_600_812 }), say("Hi"), result),
  ]);
  expect(response).toMatchObject({ created: "2026-02-23T10:30:00.812Z", metadata: { duration_ms: 0 } });
});

test(verifies("C52", "a result of a server's tool is read with its text, its images by name, and its failure"), () => {
  const args = { name: "db-query", args: { table: "t" }, providerIdentifier: "db", toolName: "query" };
  const content = [{ text: { text: "two rows" } }, { image: { data: "AAAA", mimeType: "image/png" } }];
  const read = (isError: boolean): readonly RunEvent[] => {
    const tool = { mcpToolCall: { args, result: { success: { content, isError } } } };
    return decodeEvents([toStream(init, user, call("completed", tool))]);
  };
  const find = (events: readonly RunEvent[]) => events.find(({ type }) => type === "tool_result");
  expect(find(read(false))).toMatchObject({
    status: "success",
    output: "two rows\n[image image/png]",
    effect: { kind: "mcp", server: "db", tool: "query" },
  });
  expect(find(read(true))).toMatchObject({ status: "error", error: { code: "TOOL_FAILED" } });
});

describe("an edit", () => {
  const path = "/w/calc.py";
  const before = "def add(a, b):\n    return a + b\n";
  const after = `${before}\n\ndef subtract(a, b):\n    return a - b\n`;
  const patch =
    "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,6 @@\n def add(a, b):\n     return a + b\n+\n+\n+def subtract(a, b):\n+    return a - b";
  const edit = (args: object, success: object) => {
    const lines = [
      call("started", { editToolCall: { args: { path, ...args } } }),
      call("completed", { editToolCall: { result: { success: { path, ...success } } } }),
    ];
    const { response } = decode([toStream(init, user, ...lines, say("Done."), { type: "result", subtype: "success" })]);
    return response.documents[0];
  };
  const added = "\n\ndef subtract(a, b):\n    return a - b\n";
  const diff = { oldString: "", newString: added, startLine: 3, endLine: 2 };

  test.each<[string, object, object]>([
    ["both contents", { streamContent: after }, { beforeFullFileContent: before, afterFullFileContent: after }],
    ["the content after and a patch", { streamContent: after }, { afterFullFileContent: after, diffString: patch }],
    ["both and a patch", {}, { beforeFullFileContent: before, afterFullFileContent: after, diffString: patch }],
  ])(verifies(["C33", "N31"], "with %s is one exact replacement"), (_, args, success) => {
    expect(edit(args, success)).toMatchObject({
      type: "file_edit",
      content: added,
      metadata: { filePath: "calc.py", operation: "edit", diff },
    });
  });

  test(verifies(["C33", "N31"], "with a patch alone has the lines of the patch"), () => {
    expect(edit({}, { diffString: patch, linesAdded: 4, linesRemoved: 0 })).toMatchObject({
      content: "def add(a, b):\n    return a + b\n\n\ndef subtract(a, b):\n    return a - b",
      metadata: { operation: "edit", patch, linesAdded: 4, linesRemoved: 0, diff: { startLine: 1, endLine: 2 } },
    });
    const old = { diffString: "  a\n- b\n+ c", afterFullFileContent: "x\na\nc\n" };
    expect(edit({}, old)).toMatchObject({
      content: "a\nc",
      metadata: { operation: "edit", diff: { oldString: "a\nb", newString: "a\nc", startLine: 2, endLine: 3 } },
    });
  });

  test(verifies(["C33", "N31"], "by a replacement keeps its exact texts"), () => {
    const args = { strReplace: { oldText: "a + b", newText: "b + a" } };
    const success = { afterFullFileContent: before.replace("a + b", "b + a"), beforeFullFileContent: before };
    expect(edit(args, success)).toMatchObject({
      content: "b + a",
      metadata: { diff: { oldString: "a + b", newString: "b + a", startLine: 2, endLine: 2 } },
    });
  });

  test.each<[string, object, object]>([
    [
      "/dev/null",
      {},
      { diffString: "--- /dev/null\n+++ b/calc.py\n@@ -0,0 +1,2 @@\n+x\n+y", afterFullFileContent: "x\ny\n" },
    ],
    ["an empty line replaced", {}, { diffString: "- \n+ x\n+ y", afterFullFileContent: "x\ny\n", linesRemoved: 1 }],
    ["the same without blanks", { streamContent: "x\ny\n" }, { diffString: "-\n+x\n+y", message: "Wrote contents" }],
    ["added lines alone", {}, { diffString: "+x\n+y", afterFullFileContent: "x\ny\n" }],
  ])(verifies(["C33", "N33"], "of a new file, told by %s, is a create with its content"), (_, args, success) => {
    expect(edit(args, success)).toMatchObject({
      type: "file_edit",
      content: "x\ny\n",
      metadata: { operation: "create", state: "applied", linesRemoved: 0 },
    });
  });

  test(verifies("C33", "whose result says nothing keeps what the call wrote"), () => {
    expect(edit({ streamContent: "x\n" }, { message: "ok" })).toMatchObject({
      type: "file_edit",
      content: "x\n",
      metadata: { filePath: "calc.py", state: "applied", diff: { oldString: "", newString: "x\n" } },
    });
  });

  test(verifies("C33", "that does not fit its patch loses neither side"), () => {
    const success = { diffString: "@@ -1 +1 @@\n-old\n+new", afterFullFileContent: "something else\n" };
    expect(edit({}, success)).toMatchObject({
      content: "new",
      metadata: { diff: { oldString: "old", newString: "new", startLine: 1, endLine: 1 } },
    });
  });
});

test(verifies(["C33", "N38"], "a command without a folder ran in that of the stream, or in the given one"), () => {
  const shell = { command: "ls", workingDirectory: "", exitCode: 0, stdout: "" };
  const line = call("completed", { shellToolCall: { args: { command: "ls" }, result: { success: shell } } });
  const { response } = decode([toStream(init, user, line)]);
  expect(response.documents[0]).toMatchObject({ metadata: { workingDirectory: "/w" } });
  const decoder = createAgentStreamDecoder("cursor-stream-json", { newId: () => "id", workspace: "/elsewhere" });
  const events = decodeEvents([toStream(user, line)], decoder);
  const result = events.find((event) => event.type === "tool_result");
  expect(result).toMatchObject({ effect: { workingDirectory: "/elsewhere" } });
});
