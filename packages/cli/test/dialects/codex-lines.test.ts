/** A run as the lines of `codex exec --json`, and back. */
import type { RunEventBody, ToolEffect } from "@sheaf/protocol";
import { createAgentStreamDecoder } from "@sheaf/documents/agent-streams";
import { toDocumentType } from "../../../documents/src/tool-names.ts";
import { describe, expect, test } from "vitest";
import { project, runStart, toCall, toLog, toTexts, turnEnd } from "../../../agent/test/output/log.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createCodexLines } from "../../src/dialects/codex/lines.ts";

type Line = { readonly type: string; readonly item?: { readonly id: string; readonly type: string } };

const end: RunEventBody = { type: "run_end", reason: "end_turn" };
const think = (text: string): RunEventBody => ({ type: "reasoning_delta", text });
const call = (toolName: string, args: object, result: Parameters<typeof toCall>[3]): RunEventBody[] =>
  toCall(`call_${toolName}`, toolName, { ...args }, result).map((event) =>
    event.type === "tool_call_start" ? { ...event, documentType: toDocumentType(toolName) } : event,
  );

const print = (bodies: readonly RunEventBody[], start: object = {}): string[] =>
  project(createCodexLines(), toLog({ ...runStart, ...start }, ...bodies));
/** Lines between the start and the end, without their ids. */
const toItems = (bodies: readonly RunEventBody[], start: object = {}): object[] =>
  print(bodies, start)
    .map((line) => JSON.parse(line) as Line)
    .filter(({ item }) => item)
    .map(({ type, item }) => {
      const { id: _, ...fields } = item!;
      return [type.slice("item.".length), fields];
    });

const command = (exitCode: number, more: object = {}): ToolEffect => ({
  kind: "command",
  command: "make",
  workingDirectory: "/w",
  exitCode,
  signal: "",
  stdout: "out",
  stderr: "",
  timedOut: false,
  background: false,
  permissions: [],
  ...more,
});
const change = (operation: "create" | "edit" | "delete" | "rename", more: object = {}) =>
  ({
    operation,
    filePath: "a",
    path: "/w/a",
    content: null,
    linesAdded: 0,
    linesRemoved: 0,
    bytes: 0,
    ...more,
  }) as const;
const files = (...changes: ReturnType<typeof change>[]): ToolEffect => ({ kind: "file_edit", changes });
const denied = { code: "PERMISSION_DENIED", message: "the rule denies it", details: "" } as const;
const todo = (status: "pending" | "completed"): ToolEffect => ({
  kind: "todo",
  changes: [],
  todos: [{ id: "1", content: "test", status, dependencies: [] }],
});

const started = { type: "command_execution", command: "make", aggregated_output: "", status: "in_progress" };
const ended = { ...started, aggregated_output: "out" };
const server = { type: "mcp_tool_call", server: "db", tool: "find", arguments: { id: 1 }, status: "in_progress" };
const read = { ...server, server: "sheaf", tool: "read_file" };
const content = { content: [{ type: "text", text: "out" }], structured_content: null };
const list = (completed: boolean) => ({ type: "todo_list", items: [{ text: "test", completed }] });

describe("lines", () => {
  test(verifies("C212", "a run begins with its session, and ends with its usage or its failure"), () => {
    const head = [
      { type: "thread.started", thread_id: "c6b62c6f-7ead-4fd6-9922-e952131177ff" },
      { type: "turn.started" },
    ];
    const usage = { input_tokens: 10, cached_input_tokens: 4, cache_write_input_tokens: 0 };
    expect(print([{ type: "turn_start", turn: 1 }, turnEnd, end]).map((line) => JSON.parse(line) as Line)).toEqual([
      ...head,
      { type: "turn.completed", usage: { ...usage, output_tokens: 5, reasoning_output_tokens: 0 } },
    ]);
    const error = { code: "NETWORK", message: "away", source: "provider", details: "", retryable: true } as const;
    const failed = print([...toTexts("half"), { type: "run_end", reason: "error", error }]);
    expect(failed.slice(3)).toEqual(['{"type":"turn.failed","error":{"message":"NETWORK: away"}}\n']);
  });

  test.each<readonly [string, RunEventBody[], unknown[]]>([
    [
      "texts and reasoning, each once the next part begins",
      [think("hm "), think("ok"), ...toTexts("It ", "is."), think(" "), ...toTexts("So.")],
      [
        ["completed", { type: "reasoning", text: "hm ok" }],
        ["completed", { type: "agent_message", text: "It is." }],
        ["completed", { type: "agent_message", text: "So." }],
      ],
    ],
    [
      "a command",
      call("run_terminal_cmd", { command: "make" }, { output: "out", effect: command(0) }),
      [
        ["started", started],
        ["completed", { ...ended, exit_code: 0, status: "completed" }],
      ],
    ],
    [
      "a command that fails, with what its sandbox refused",
      call(
        "run_terminal_cmd",
        { command: "make" },
        { output: "out", effect: command(2, { refusals: ["no network"] }) },
      ),
      [
        ["started", started],
        ["completed", { ...ended, exit_code: 2, status: "failed" }],
        ["completed", { type: "error", message: "run_terminal_cmd: no network" }],
      ],
    ],
    [
      "a refused command",
      call("run_terminal_cmd", { command: "make" }, { status: "rejected", error: denied }),
      [
        ["started", started],
        ["completed", { ...started, aggregated_output: "the rule denies it", status: "declined" }],
      ],
    ],
    [
      "changes of files",
      [
        ...call("write_file", {}, { effect: files(change("create"), change("edit"), change("delete")) }),
        ...call("rename_file", {}, { effect: files(change("rename", { newFilePath: "b" })) }),
      ],
      [
        ["completed", toChange("completed", "add a", "update a", "delete a")],
        ["completed", toChange("completed", "delete a", "add b")],
      ],
    ],
    [
      "a refused change",
      call("edit_file", {}, { status: "rejected", error: denied }),
      [
        ["completed", toChange("failed")],
        ["completed", { type: "error", message: "edit_file: the rule denies it" }],
      ],
    ],
    [
      "calls of servers and of Sheaf's other tools",
      [
        ...call("mcp__db__find", { id: 1 }, { output: "out" }),
        ...call("read_file", { id: 1 }, { status: "error", error: denied }),
      ],
      [
        ["started", server],
        ["completed", { ...server, result: content, status: "completed" }],
        ["started", read],
        ["completed", { ...read, error: { message: "the rule denies it" }, status: "failed" }],
      ],
    ],
    [
      "the report of a failing tool",
      call(
        "mcp__db__find",
        { id: 1 },
        {
          status: "error",
          output: "out",
          error: denied,
          effect: { kind: "mcp", server: "db", tool: "find", content: [], isError: true },
        },
      ),
      [
        ["started", server],
        ["completed", { ...server, result: content, status: "failed" }],
      ],
    ],
    [
      "the task list, which ends with the turn",
      [
        ...call("todo_write", {}, { effect: todo("pending") }),
        ...call("todo_write", {}, { effect: todo("completed") }),
      ],
      [
        ["started", list(false)],
        ["updated", list(true)],
        ["completed", list(true)],
      ],
    ],
  ])(verifies("C212", "%s"), (_name, bodies, items) => {
    expect(toItems([...bodies, end])).toEqual(items);
  });

  function toChange(status: string, ...changes: readonly string[]) {
    const toEntry = (words: string) => ({ path: `/w/${words.split(" ")[1]}`, kind: words.split(" ")[0] });
    return { type: "file_change", changes: changes.map(toEntry), status };
  }

  test(verifies("C212", "a search of the provider is a web_search"), () => {
    const [first, ...rest] = call("web_search", { query: "q" }, {});
    const search = [{ ...first, origin: "provider" } as RunEventBody, ...rest];
    expect(toItems([...search, end])[1]).toEqual(["completed", { type: "web_search", query: "q" }]);
  });

  test(verifies("C212", "each notice comes once"), () => {
    const notices = [{ code: "TREE_KEPT", message: "other" }] as const;
    expect(toItems([{ ...turnEnd, notices } as RunEventBody, { ...end, notices }], { notices })).toEqual([
      ["completed", { type: "error", message: "other" }],
    ]);
  });

  test(verifies("C212", "with a schema the last message is the checked JSON alone"), () => {
    const items = toItems([...toTexts("```json\n{}\n```"), { ...end, output: { a: 1 } }]);
    expect(items).toEqual([["completed", { type: "agent_message", text: '{"a":1}' }]]);
  });
});

test(verifies("C212", "read by convert and printed again, the lines are equal byte for byte"), () => {
  const lines = print([
    { type: "turn_start", turn: 1 },
    think("hm"),
    ...toTexts("I ", "look."),
    ...call("run_terminal_cmd", { command: "make" }, { output: "out", effect: command(2) }),
    ...call("write_file", {}, { effect: files(change("create")) }),
    ...call("mcp__db__find", { id: 1 }, { output: "out" }),
    ...call("read_file", { id: 1 }, { status: "error", error: denied }),
    ...call("todo_write", {}, { effect: todo("pending") }),
    ...toTexts("Done."),
    turnEnd,
    end,
  ]);
  const decoder = createAgentStreamDecoder("codex-exec-json", { workspace: "/w", newId: () => crypto.randomUUID() });
  const events = [...decoder.push(lines.join("")), ...decoder.end()];
  expect(decoder.report.others).toEqual([]);
  expect(project(createCodexLines(), events)).toEqual(lines);
});
