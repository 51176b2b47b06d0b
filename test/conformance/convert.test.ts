/** `sheaf convert`: foreign model streams become documents in a pipe. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reduce, type ChatResponse, type StreamEvent } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeWithFixtures } from "../support/fixtures.ts";
import { createModelServer } from "../support/model-server.ts";
import { explainInvalid, parseValidLines } from "../support/schema-check.ts";
import { createTestFolder, runSheaf, toLines } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const cwd = folders.newFolder();
const convert = (from: string, to: string, input: string) =>
  runSheaf(["convert", "--from", from, "--to", to], { cwd, input });

const chat = [
  '{"choices":[{"delta":{"content":"Try:\\n\\n```js\\nlet x;\\n```\\n"}}]}',
  '{"choices":[{"finish_reason":"stop","delta":{}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}',
  "[DONE]",
]
  .map((data) => `data: ${data}\n\n`)
  .join("");

test(verifies(["X15", "N53"], "both targets tell the same answer"), async () => {
  const whole = await convert("openai-chat", "documents", chat);
  expect([whole.code, whole.stderr]).toEqual([0, ""]);
  const response = JSON.parse(whole.stdout) as ChatResponse;
  expect(explainInvalid("documents", response)).toBeUndefined();
  expect(response.documents.map(({ type, content }) => [type, content])).toEqual([
    ["text", "Try:"],
    ["code_block", "let x;"],
  ]);
  expect(response.usage).toMatchObject({ promptTokens: 3, completionTokens: 4, totalTokens: 7 });
  const stream = await convert("openai-chat", "documents-stream", chat);
  const events = parseValidLines("events", toLines(stream.stdout)) as unknown as StreamEvent[];
  expect(verify(events)).toBeUndefined();
  expect(reduce(events).documents).toEqual(response.documents);
});

test(
  verifies(["C20", "R-11"], "a body without its end is reported by the exit code and by the last document"),
  async () => {
    const { code, stdout, stderr } = await convert("openai-chat", "documents", chat.split("\n\n")[0]!);
    expect(code).toBe(5);
    expect(stderr).toMatch(/^sheaf: STREAM_TRUNCATED: [^\n]+\n$/);
    const response = JSON.parse(stdout) as ChatResponse;
    expect(response.status).toBe("error");
    expect(response.documents.at(-1)).toMatchObject({ type: "error", metadata: { errorCode: "STREAM_TRUNCATED" } });
  },
);

const claude = (text: string, isError = false) =>
  [
    { type: "system", subtype: "init", cwd: "/w", session_id: "s", model: "m", tools: [], mcp_servers: [] },
    { type: "unheard_of", session_id: "s" },
    { type: "assistant", message: { content: [{ type: "text", text }] }, session_id: "s" },
    { type: "result", subtype: "success", is_error: isError, result: "API Error: 529", session_id: "s" },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

test(verifies("C33", "the format is found, each run of a stream is an answer, and a failed one counts"), async () => {
  const input = claude("a") + claude("b", true) + claude("c");
  const { code, stdout, stderr } = await runSheaf(["convert", "--to", "documents"], { cwd, input });
  const answers = toLines(stdout).map((line) => JSON.parse(line) as ChatResponse);
  expect(answers.map(({ status, documents }) => [status, documents[0]!.content])).toEqual([
    ["completed", "a"],
    ["error", "b"],
    ["completed", "c"],
  ]);
  expect(code).toBe(4);
  expect(stderr).toBe(
    "sheaf: PROVIDER_REJECTED: API Error: 529\nsheaf: 3 parts of the stream became no document: --report FILE shows them\n",
  );
});

test(verifies("C33", "--report has the parts of a model's answer that became no document"), async () => {
  const lost = { type: "fallback", from: "a" };
  const content = [lost, { type: "text", text: "b" }];
  const whole = { type: "message", role: "assistant", content, stop_reason: "end_turn" };
  const place = { cwd: folders.newFolder(), input: JSON.stringify(whole) };
  const { code, stdout, stderr } = await runSheaf(["convert", "--to", "text", "--report", "lost.json"], place);
  expect([code, stdout]).toEqual([0, "b\n"]);
  expect(stderr).toBe("sheaf: 1 part of the stream became no document: see lost.json\n");
  const report: unknown = JSON.parse(readFileSync(join(place.cwd, "lost.json"), "utf8"));
  expect(report).toMatchObject({ from: "anthropic-messages", payloads: 1, others: [lost] });
});

const edit = { file_path: "/w/a.txt", old_string: "x", new_string: "y" };
const edited = {
  filePath: "/w/a.txt",
  oldString: "x",
  newString: "y",
  originalFile: "x\n",
  structuredPatch: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-x", "+y"] }],
};
const working = [
  { type: "system", subtype: "init", cwd: "/w", session_id: "s", model: "m", tools: [], mcp_servers: [] },
  ...[
    { type: "text", text: "Look.\n\n```js\nlet a;\n```\n" },
    { type: "tool_use", id: "a", name: "Bash", input: { command: "ls", description: "List" } },
  ].map((block) => ({ type: "assistant", message: { content: [block] }, session_id: "s" })),
  {
    type: "user",
    message: { content: [{ type: "tool_result", tool_use_id: "a", content: "a.txt" }] },
    session_id: "s",
  },
  {
    type: "assistant",
    message: { content: [{ type: "tool_use", id: "b", name: "Edit", input: edit }] },
    session_id: "s",
  },
  {
    type: "user",
    message: { content: [{ type: "tool_result", tool_use_id: "b", content: "ok" }] },
    tool_use_result: edited,
    session_id: "s",
  },
  { type: "assistant", message: { content: [{ type: "text", text: "Done." }] }, session_id: "s" },
  {
    type: "result",
    subtype: "success",
    is_error: false,
    result: "Done.",
    session_id: "s",
    usage: { input_tokens: 5, output_tokens: 3 },
  },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");

const ids = ["file_edit.metadata.providerToolCallId", "terminal_command.metadata.providerToolCallId"];
const edits = ["bytes", "diff", "filePath", "linesAdded", "linesRemoved", "patch"];

test.each([
  ["cursor-stream-json", ids],
  [
    "claude-stream-json",
    [
      "file_edit.metadata.bytes",
      "file_edit.metadata.diff.endLine",
      "file_edit.metadata.diff.startLine",
      "file_edit.metadata.linesAdded",
      "file_edit.metadata.linesRemoved",
      "file_edit.metadata.patch",
      ...ids,
    ],
  ],
  [
    "codex-exec-json",
    [
      "file_edit.content",
      ...edits.map((field) => `file_edit.metadata.${field}`),
      "model",
      "terminal_command.metadata.workingDirectory",
      ...ids,
    ].toSorted(),
  ],
])(
  verifies("C33", "to %s: the report names each lost field once, and lines come back byte for byte"),
  async (to, lost) => {
    const place = { cwd: folders.newFolder(), input: working };
    const first = await runSheaf(["convert", "--to", to, "--report", "lost.json"], place);
    const { fields } = JSON.parse(readFileSync(join(place.cwd, "lost.json"), "utf8")) as { fields: string[] };
    expect(fields).toEqual(lost);
    const again = await runSheaf(["convert", "--from", to, "--to", to], { cwd: place.cwd, input: first.stdout });
    expect([again.code, again.stderr]).toEqual([0, ""]);
    expect(again.stdout).toBe(first.stdout);
  },
);

test(verifies("C33", "one payload with a large image shows its format"), async () => {
  const inlineData = { mimeType: "image/png", data: "A".repeat(400_000) };
  const whole = { candidates: [{ content: { parts: [{ inlineData }] }, finishReason: "STOP" }] };
  const { code, stdout } = await runSheaf(["convert", "--to", "documents"], { cwd, input: JSON.stringify(whole) });
  expect(code).toBe(0);
  expect(stdout).toContain("image/png, 300000 bytes");
});

test(verifies("C33", "--report has what became no document, and text is a target, too"), async () => {
  const place = { cwd: folders.newFolder(), input: `${claude("a")}no JSON\n` };
  const { code, stdout, stderr } = await runSheaf(["convert", "--to", "text", "--report", "lost.json"], place);
  expect([code, stdout]).toEqual([0, "a\n"]);
  expect(stderr).toBe("sheaf: 2 parts of the stream became no document: see lost.json\n");
  expect(JSON.parse(readFileSync(join(place.cwd, "lost.json"), "utf8"))).toEqual({
    from: "claude-stream-json",
    to: "text",
    fields: [],
    payloads: 4,
    unparsable: 1,
    differences: 0,
    others: [{ type: "unheard_of", session_id: "s" }],
  });
});

test.each([
  [
    ["--from", "openai-chat"],
    claude("a"),
    "nothing in stdin is openai-chat; it looks like claude-stream-json: use --from claude-stream-json",
  ],
  [
    ["--from", "cursor-stream-json"],
    chat,
    "nothing in stdin is cursor-stream-json; it looks like openai-chat: use --from openai-chat",
  ],
  [[], "Hello.\n", "stdin has no known format: name it with --from (openai-chat, "],
])(verifies(["C33", "C20"], "%j refuses a stream of another format by its name"), async (from, input, message) => {
  const { code, stdout, stderr } = await runSheaf(["convert", ...from, "--to", "documents"], { cwd, input });
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`sheaf: USAGE: ${message}`);
});

test(verifies(["C164", "C33"], "the bytes that a run kept become the same answer"), async () => {
  const server = await createModelServer({ chunks: [chat] });
  onTestFinished(() => server.close());
  const place = { cwd: folders.newFolder() };
  const run = (file: string, ...model: readonly string[]) =>
    runSheaf(["-p", "--record-body", file, "--model", ...model, "go"], place);
  const live = ["openai-chat/m", "--base-url", server.url];
  expect((await run("answer.sse", ...live)).code).toBe(0);
  const kept = readFileSync(join(place.cwd, "answer.sse"), "utf8");
  expect(kept).toBe(chat);
  expect((await convert("openai-chat", "documents", kept)).code).toBe(0);
  const refused = [await run("missing/answer", ...live), await run("answer", "offline")];
  expect(refused.map(({ code }) => code)).toEqual([2, 2]);
  expect(refused.map(({ stderr }) => /--record-body/.test(stderr))).toEqual([true, true]);
  expect(server.requests).toHaveLength(1);
});

test("Markdown is a stream too; an unknown format is a usage error that lists the known ones", async () => {
  const { code, stdout } = await convert("markdown", "documents", "a\n\n```ts\nb\n```\n");
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as ChatResponse).documents).toHaveLength(2);
  const wrong = await convert("gpt", "documents", "");
  expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
  expect(wrong.stderr).toMatch(/"gpt".*openai-chat, openai-responses, anthropic-messages, gemini/);
});

describeWithFixtures("providers", (folder) => {
  interface Row {
    readonly file: string;
    readonly protocol: string;
    readonly text: string | null;
  }
  const rows = readFileSync(join(folder, "expected.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row)
    .filter(({ file, protocol }) => file.startsWith("recorded/") && protocol === "anthropic-messages");

  test(verifies("N25", "recorded bodies through the pipe give their text"), async () => {
    expect(rows.length).toBeGreaterThan(2);
    for (const { file, protocol, text } of rows.slice(0, 5)) {
      const { stdout } = await convert(protocol, "documents", readFileSync(join(folder, file), "utf8"));
      const response = JSON.parse(stdout) as ChatResponse;
      expect(explainInvalid("documents", response), file).toBeUndefined();
      const words = (value: string) => value.replaceAll(/[\s`]+/g, "");
      const joined = response.documents.map(({ type, content }) => (type === "error" ? "" : (content ?? ""))).join("");
      expect(words(text ?? "").startsWith(words(joined).slice(0, 200)), file).toBe(true);
    }
  });
});

describe("the stream of an agent", () => {
  test(verifies(["C30", "X17"], "Sheaf's own, in both profiles, gives the documents of the run"), async () => {
    const place = folders.newFolder({ "README.md": "# Wordy\n\nCounts words.\n" });
    const session = "123e4567-e89b-42d3-a456-426614174000";
    const first = await runSheaf(["-p", "--model", "offline", "--session-id", session, "Read README.md"], {
      cwd: place,
    });
    const profile = ["--compat", "cursor-2026", "--output-format", "stream-json"];
    const cursor = await runSheaf(["show", session, ...profile, "--stream-partial-output"], { cwd: place });
    const own = await runSheaf(["show", session, "--output-format", "documents"], { cwd: place });
    const { documents } = JSON.parse(own.stdout) as { documents: { type: string; content: string | null }[] };
    const toContents = (all: typeof documents) => all.map(({ type, content }) => [type, content]);
    for (const { stdout } of [first, cursor]) {
      const args = ["convert", "--from", "cursor-stream-json", "--to", "documents"];
      const converted = await runSheaf(args, { cwd: place, input: stdout });
      expect([converted.code, converted.stderr]).toEqual([0, ""]);
      const response = JSON.parse(converted.stdout) as { documents: typeof documents };
      expect(toContents(response.documents)).toEqual(toContents(documents));
    }
  });
});

test(
  verifies(["C33", "N127"], "--text-calls reads calls in the text of a model's stream, and of no agent's"),
  async () => {
    const written = 'I look.\n<tool_call>{"name":"read_file","arguments":{"target_file":"a.txt"}}</tool_call>';
    const body = `data: ${JSON.stringify({ choices: [{ delta: { content: written }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
    const run = async (input: string, ...more: readonly string[]) =>
      runSheaf(["convert", "--to", "documents", ...more], { cwd, input });
    const read = JSON.parse((await run(body, "--text-calls", "list_dir, read_file")).stdout) as ChatResponse;
    expect(read.documents.map(({ type }) => type)).toEqual(["text", "tool_call"]);
    expect(read.documents[1]!.metadata).toMatchObject({ toolName: "read_file", arguments: { target_file: "a.txt" } });
    const plain = JSON.parse((await run(body)).stdout) as ChatResponse;
    expect(plain.documents).toMatchObject([{ type: "text", content: written }]);
    const refused = await run(claude("hi"), "--text-calls", "read_file");
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("--text-calls is for a model's stream"),
    ]);
  },
);
