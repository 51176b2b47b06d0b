/** Streams of other agents, in the shape of what their programs print. */
import { reduce, type ChatResponse, type RunEvent } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  agentStreamFormats,
  createAgentStreamDecoder,
  findStreamFormat,
  type AgentStreamFormat,
  type AgentStreamReport,
} from "../../src/agent-streams.ts";
import { createAssembler } from "../../src/index.ts";
import { cutEverywhere } from "../model-streams/cut-body.ts";

type Line = Readonly<Record<string, unknown>>;

interface Read {
  readonly responses: readonly ChatResponse[];
  readonly starts: readonly RunEvent[];
  readonly report: AgentStreamReport;
}

/** Reads the lines at once and byte by byte, and expects the same from both. */
function read(format: AgentStreamFormat, lines: readonly Line[]): Read {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const decode = (chunks: readonly (string | Uint8Array)[]) => {
    let ids = 0;
    const decoder = createAgentStreamDecoder(format, { newId: () => `id-${(ids += 1)}`, workspace: "/w" });
    return { events: [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], report: decoder.report };
  };
  const { events, report } = decode([text]);
  expect(decode(cutEverywhere(new TextEncoder().encode(text))).events).toEqual(events);
  expect(findStreamFormat(text)).toBe(format);
  const logs = events.reduce<RunEvent[][]>((all, event) => {
    if (event.type === "run_start") return [...all, [event]];
    all.at(-1)!.push(event);
    return all;
  }, []);
  const responses = logs.map((log) => {
    const assembler = createAssembler();
    const stream = log.flatMap((event) => assembler.push(event));
    expect(verify(stream)).toBeUndefined();
    return reduce(stream);
  });
  return { responses, starts: logs.map((log) => log[0]!), report };
}

const texts = ({ documents }: ChatResponse) => documents.map(({ type, content }) => [type, content]);

describe("Claude Code", () => {
  const session = { session_id: "s", parent_tool_use_id: null, uuid: "u" };
  const init = { type: "system", subtype: "init", cwd: "/w", model: "m", tools: [], mcp_servers: [], ...session };
  const say = (...content: readonly Line[]) => ({ type: "assistant", message: { content }, ...session });
  const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
  const result = (id: string, content: string, more: object = {}, details: object = {}) => ({
    type: "user",
    message: { content: [{ type: "tool_result", tool_use_id: id, content, ...more }] },
    tool_use_result: details,
    ...session,
  });
  const end = (more: object = {}) => ({
    type: "result",
    subtype: "success",
    is_error: false,
    result: "Done.",
    usage: { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 4 },
    ...session,
    ...more,
  });

  test(verifies("C33", "text, thinking, calls and their results"), () => {
    const { responses, report } = read("claude-stream-json", [
      init,
      say({ type: "thinking", thinking: "hm" }),
      say({ type: "text", text: "I look." }),
      say(use("a", "Read", { file_path: "/w/a.md", offset: 2 })),
      say(use("b", "Bash", { command: "false" })),
      say(use("c", "Edit", { file_path: "/w/a.md", old_string: "one", new_string: "two" })),
      result("a", "1\tone"),
      result("b", "Exit code 1\nno", { is_error: true }),
      result(
        "c",
        "updated",
        {},
        {
          filePath: "/w/a.md",
          oldString: "one",
          newString: "two",
          originalFile: "# A\none\n",
          structuredPatch: [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: [" # A", "-one", "+two"] }],
        },
      ),
      say({ type: "text", text: "Done." }),
      end(),
    ]);
    expect(report).toMatchObject({ lines: 11, others: [], differences: 0, runs: 1 });
    expect(responses).toMatchObject([
      {
        status: "completed",
        conversationId: "conv_s",
        usage: { promptTokens: 7, completionTokens: 2, cachedPromptTokens: 4 },
        documents: [
          { type: "text", content: "I look." },
          { type: "tool_call", metadata: { toolName: "read_file", arguments: { target_file: "/w/a.md", offset: 2 } } },
          { type: "terminal_command", metadata: { command: "false", exitCode: 1, output: "no" } },
          {
            type: "file_edit",
            metadata: { filePath: "a.md", diff: { oldString: "one", newString: "two", startLine: 2, endLine: 2 } },
          },
          { type: "text", content: "Done." },
        ],
      },
    ]);
  });

  test(verifies("C33", "partial messages and the whole ones are one text"), () => {
    const partial = (event: object) => ({ type: "stream_event", event, ...session });
    const delta = (text: string) =>
      partial({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
    const { responses, report } = read("claude-stream-json", [
      init,
      partial({ type: "message_start", message: {} }),
      delta("Do"),
      delta("ne."),
      say({ type: "text", text: "Done." }),
      end(),
    ]);
    expect(responses.map(texts)).toEqual([[["text", "Done."]]]);
    expect(report).toMatchObject({ differences: 0, others: [] });
  });

  test(verifies("C33", "two runs are two answers, and is_error is a failure"), () => {
    const failed = { is_error: true, result: "API Error: 500" };
    const { responses } = read("claude-stream-json", [
      init,
      say({ type: "text", text: "a" }),
      end(),
      init,
      end(failed),
    ]);
    expect(responses).toMatchObject([
      { status: "completed" },
      { status: "error", documents: [{ type: "error", content: "API Error: 500" }] },
    ]);
  });

  test.each([
    ["error_max_turns", "BUDGET_TURNS"],
    ["error_max_budget_usd", "BUDGET_COST"],
    ["error_during_execution", "PROVIDER_REJECTED"],
  ])(verifies("C33", "a run that ended with %s failed"), (subtype, errorCode) => {
    const { responses } = read("claude-stream-json", [init, end({ subtype, is_error: true, result: undefined })]);
    expect(responses[0]!.documents.at(-1)).toMatchObject({ type: "error", metadata: { errorCode } });
  });

  test(verifies("C33", "lines of a subagent are in the report"), () => {
    const other = { ...say({ type: "text", text: "sub" }), parent_tool_use_id: "a" };
    const { responses, report } = read("claude-stream-json", [init, other, say({ type: "text", text: "a" }), end()]);
    expect(responses.map(texts)).toEqual([[["text", "a"]]]);
    expect(report.others).toEqual([other]);
  });

  test(verifies("C33", "a call that was refused"), () => {
    const refused = "Permission to use Bash with command rm has been denied.";
    const lines = [init, say(use("a", "Bash", { command: "rm" })), result("a", refused, { is_error: true }), end()];
    const { responses } = read("claude-stream-json", lines);
    expect(responses[0]!.documents).toMatchObject([
      { type: "terminal_command" },
      { type: "error", metadata: { errorCode: "PERMISSION_DENIED" } },
    ]);
  });

  test(verifies("C33", "a stored session is one run"), () => {
    const stored = { sessionId: "s", cwd: "/w", uuid: "u", isSidechain: false };
    const usage = { input_tokens: 3, output_tokens: 2 };
    const { responses, starts } = read("claude-session", [
      { ...stored, type: "user", message: { role: "user", content: "go" } },
      { ...stored, type: "assistant", message: { model: "m", usage, content: [use("a", "Read", { file_path: "b" })] } },
      { ...stored, type: "user", message: { content: [{ type: "tool_result", tool_use_id: "a", content: "x" }] } },
      { ...stored, type: "assistant", message: { model: "m", usage, content: [{ type: "text", text: "Done." }] } },
    ]);
    expect(starts).toMatchObject([{ conversationId: "conv_s", workspace: "/w", model: "m", prompt: "go" }]);
    expect(responses).toMatchObject([{ status: "completed", usage: { promptTokens: 6, completionTokens: 4 } }]);
  });

  test.each([
    ["its own session has a subagent's lines", true, [{ type: "text", text: "a" }]],
    ["a text is an answer", false, "a"],
  ])(verifies("C33", "stored: %s"), (_, isSidechain, content) => {
    const stored = { sessionId: "s", cwd: "/w", uuid: "u", isSidechain };
    const { responses, report } = read("claude-session", [
      { ...stored, type: "user", message: { role: "user", content: "go" } },
      { ...stored, type: "assistant", message: { content } },
      { ...stored, type: "assistant", message: { parts: [] } },
    ]);
    expect(responses.map(texts)).toEqual([[["text", "a"]]]);
    expect(report.others).toHaveLength(1);
  });
});

describe("Codex", () => {
  const item = (step: string, fields: object) => ({ type: `item.${step}`, item: { id: "i", ...fields } });
  const usage = { input_tokens: 5, cached_input_tokens: 1, output_tokens: 2, reasoning_output_tokens: 1 };

  test(verifies("C33", "each turn of a thread is a run"), () => {
    const command = { type: "command_execution", command: "ls", aggregated_output: "", exit_code: null };
    const { responses, report } = read("codex-exec-json", [
      { type: "thread.started", thread_id: "t" },
      { type: "turn.started" },
      item("completed", { type: "reasoning", text: "hm" }),
      item("started", { id: "c", ...command, status: "in_progress" }),
      item("completed", { id: "c", ...command, aggregated_output: "a\n", exit_code: 2, status: "failed" }),
      item("completed", {
        id: "f",
        type: "file_change",
        changes: [{ path: "/w/a.ts", kind: "add" }],
        status: "completed",
      }),
      item("completed", { id: "m1", type: "agent_message", text: "One." }),
      item("completed", { id: "m2", type: "agent_message", text: "Two." }),
      { type: "turn.completed", usage },
      { type: "turn.started" },
      { type: "turn.failed", error: { message: "no quota" } },
    ]);
    expect(report).toMatchObject({ others: [], runs: 2 });
    expect(responses).toMatchObject([
      {
        conversationId: "conv_t",
        status: "completed",
        usage: { promptTokens: 5, completionTokens: 2, reasoningTokens: 1, cachedPromptTokens: 1 },
        documents: [
          { type: "terminal_command", metadata: { command: "ls", exitCode: 2, output: "a\n" } },
          { type: "file_edit", metadata: { filePath: "a.ts", operation: "create" } },
          { type: "text", content: "One.\n\nTwo." },
        ],
      },
      { status: "error", documents: [{ type: "error", content: "no quota" }] },
    ]);
  });

  test(verifies("C33", "tools of servers, lists of tasks and searches"), () => {
    const { responses } = read("codex-exec-json", [
      { type: "thread.started", thread_id: "t" },
      item("completed", {
        id: "a",
        type: "mcp_tool_call",
        server: "s",
        tool: "echo",
        arguments: { x: 1 },
        result: { content: [{ type: "text", text: "hi" }] },
        status: "completed",
      }),
      item("completed", {
        id: "b",
        type: "mcp_tool_call",
        server: "s",
        tool: "no",
        error: { message: "gone" },
        status: "failed",
      }),
      item("started", { id: "l", type: "todo_list", items: [{ text: "a", completed: false }] }),
      item("completed", { id: "l", type: "todo_list", items: [{ text: "a", completed: true }] }),
      item("completed", { id: "w", type: "web_search", query: "q" }),
      { type: "turn.completed", usage },
    ]);
    expect(responses[0]!.documents).toMatchObject([
      { type: "tool_call", metadata: { toolName: "mcp__s__echo", arguments: { x: 1 }, result: { data: "hi" } } },
      { type: "tool_call", metadata: { toolName: "mcp__s__no" } },
      { type: "error", content: "gone" },
      { type: "todo_update", metadata: { todos: [{ content: "a" }] } },
      { type: "tool_call", metadata: { toolName: "web_search", arguments: { query: "q" } } },
    ]);
  });
});

test(verifies("C33", "Gemini CLI: an answer, and one that failed"), () => {
  const { responses, starts } = read("gemini-cli-stream-json", [
    { type: "init", session_id: "s", model: "m", timestamp: "2026-01-01T00:00:00Z" },
    { type: "message", role: "user", content: "go" },
    { type: "message", role: "assistant", content: "I ", delta: true },
    { type: "message", role: "assistant", content: "look.", delta: true },
    { type: "tool_use", tool_name: "run_shell_command", tool_id: "a", parameters: { command: "ls" } },
    { type: "tool_result", tool_id: "a", status: "success", output: "a" },
    { type: "tool_use", tool_name: "read_file", tool_id: "b", parameters: { absolute_path: "/w/b" } },
    { type: "tool_result", tool_id: "b", status: "error", error: { type: "X", message: "no such file" } },
    { type: "result", status: "success", stats: { input_tokens: 5, output_tokens: 2, cached: 1 } },
    { type: "init", session_id: "s", model: "m" },
    { type: "result", status: "error", error: { type: "FatalTurnLimitedError", message: "too many turns" } },
  ]);
  expect(starts[0]).toMatchObject({ model: "m", prompt: "go", time: Date.parse("2026-01-01T00:00:00Z") });
  expect(responses).toMatchObject([
    {
      usage: { promptTokens: 5, completionTokens: 2, cachedPromptTokens: 1 },
      documents: [
        { type: "text", content: "I look." },
        { type: "terminal_command", metadata: { command: "ls", output: "a" } },
        { type: "tool_call", metadata: { toolName: "read_file", arguments: { target_file: "/w/b" } } },
        { type: "error", content: "no such file" },
      ],
    },
    { status: "error", documents: [{ metadata: { errorCode: "BUDGET_TURNS" } }] },
  ]);
});

test(verifies("C33", "opencode: the last step that calls nothing is the end"), () => {
  const line = (type: string, part: object) => ({ type, timestamp: 1000, sessionID: "s", part });
  const tokens = { input: 5, output: 2, reasoning: 1, cache: { read: 3, write: 0 } };
  const tool = (callID: string, name: string, state: object) => line("tool_use", { callID, tool: name, state });
  const { responses } = read("opencode-json", [
    line("step_start", {}),
    line("text", { text: "I look." }),
    tool("a", "bash", { status: "completed", input: { command: "false" }, output: "", metadata: { exit: 1 } }),
    tool("b", "edit", {
      status: "completed",
      input: { filePath: "/w/a.md", oldString: "one", newString: "two" },
      output: "ok",
      metadata: { diff: "--- a.md\n+++ a.md\n@@ -1,1 +1,1 @@\n-one\n+two\n" },
    }),
    tool("c", "read", { status: "error", input: { filePath: "x" }, error: "File not found" }),
    line("step_finish", { reason: "tool-calls", tokens }),
    line("step_start", {}),
    line("text", { text: "Done." }),
    line("step_finish", { reason: "stop", tokens }),
    { type: "error", timestamp: 2000, sessionID: "s", error: { name: "APIError", data: { message: "overloaded" } } },
  ]);
  expect(responses).toMatchObject([
    {
      usage: { promptTokens: 16, completionTokens: 6 },
      documents: [
        { type: "text", content: "I look." },
        { type: "terminal_command", metadata: { command: "false", exitCode: 1 } },
        { type: "file_edit", metadata: { filePath: "a.md", diff: { oldString: "one", newString: "two" } } },
        { type: "tool_call", metadata: { toolName: "read_file" } },
        { type: "error", content: "File not found" },
        { type: "text", content: "Done." },
      ],
    },
    { status: "error", documents: [{ type: "error", content: "overloaded" }] },
  ]);
});

test(verifies("C33", "opencode: a step without a reason ends the run if it calls nothing"), () => {
  const line = (type: string, part: object) => ({ type, timestamp: 1000, sessionID: "s", part });
  const { responses } = read("opencode-json", [
    line("tool_use", { callID: "a", tool: "read", state: { status: "completed", input: {}, output: "x" } }),
    line("step_finish", { tokens: {} }),
    line("text", { text: "Done." }),
    line("step_finish", { tokens: {} }),
  ]);
  expect(responses).toMatchObject([{ status: "completed", documents: [{ type: "tool_call" }, { content: "Done." }] }]);
});

test.each([
  ["openai-chat", 'data: {"choices":[{"delta":{}}]}\n\n'],
  ["openai-responses", 'event: response.created\ndata: {"type":"response.created","response":{}}\n\n'],
  ["anthropic-messages", '{"type":"message","role":"assistant","content":[]}'],
  ["gemini", '[{"candidates":[]}]'],
  ["ollama-chat", '{"message":{"content":""},"done":false}\n'],
  ["cohere-chat", 'data: {"type":"message-start"}\n\n'],
  ["cursor-stream-json", '{"type":"system","subtype":"init","session_id":"s","cwd":"/w"}\n'],
  ["claude-stream-json", '{"type":"assistant","message":{"type":"message","content":[]},"session_id":"s"}\n'],
  // Sessions of Qwen Code, and streams of Droid, Qwen Code's own events and pi.
  [undefined, '{"type":"assistant","sessionId":"s","uuid":"u","cwd":"/w","message":{"parts":[{"text":"a"}]}}\n'],
  [undefined, '{"type":"message","role":"assistant","session_id":"s","text":"a"}\n'],
  [undefined, '{"type":"message_start","session_id":"s","message":{"role":"assistant"}}\n'],
  [undefined, '{"type":"message_start","message":{"role":"user","content":[]}}\n'],
  [undefined, "Hello.\n"],
  [undefined, '{"a":1}\n'],
])(verifies("C33", "the beginning shows the format: %s"), (format, text) => {
  expect(findStreamFormat(text)).toBe(format);
});

test.each(agentStreamFormats)(
  verifies(["C33", "C22"], "%s: a stream without its end was cut, whatever is in it"),
  (format) => {
    const decoder = createAgentStreamDecoder(format, { newId: () => "id" });
    const junk = [
      "x",
      "[]",
      "{}",
      '{"type":"result","subtype":3}',
      '{"type":"item.completed","item":7}',
      '{"type":"text"}',
    ];
    const events = [...decoder.push(junk.slice(0, 3).join("\n")), ...decoder.end()];
    expect(events.at(-1)).toMatchObject({ type: "run_end", reason: "error", error: { code: "STREAM_TRUNCATED" } });
    for (const line of junk) createAgentStreamDecoder(format, { newId: () => "id" }).push(`${line}\n`);
  },
);
