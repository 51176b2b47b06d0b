/** Tool arguments in the words of the command line (C9). */
import type { ToolCallKey } from "@sheaf/protocol";
import { parseMcpToolName } from "../tools/mcp/tool-name.ts";

type Arguments = Readonly<Record<string, unknown>>;

interface CliTool {
  readonly key: ToolCallKey;
  readonly toArguments: (args: Arguments, callId: string) => Record<string, unknown>;
}

/** Arguments come from a model: a field of another type than expected is shown as text, a missing one as "". */
const text = (value: unknown): string => {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
};

const list = (value: unknown): Arguments[] =>
  Array.isArray(value) ? value.filter((item): item is Arguments => typeof item === "object" && item !== null) : [];

/** A field that is there only if the model gave it with the right type. */
const optional = (name: string, value: unknown, type: "string" | "number" | "boolean"): Record<string, unknown> =>
  typeof value === type ? { [name]: value } : {};

const integer = (name: string, value: unknown): Record<string, unknown> =>
  Number.isInteger(value) ? { [name]: value } : {};

function toEdit(edit: Arguments): Record<string, unknown> {
  return {
    oldText: text(edit.old_string),
    newText: text(edit.new_string),
    ...optional("replaceAll", edit.replace_all, "boolean"),
  };
}

function toEditArguments(args: Arguments): Record<string, unknown> {
  const edits = list(args.edits).map(toEdit);
  const [first] = edits;
  const path = text(args.target_file);
  return first && edits.length === 1 ? { path, strReplace: first } : { path, multiStrReplace: { edits } };
}

/** Inserted lines, as a replacement of their neighbours. */
function toInstrumentationArguments(args: Arguments): Record<string, unknown> {
  const [anchor, code] = [text(args.anchor), text(args.code)];
  const newText = args.position === "before" ? `${code}\n${anchor}` : `${anchor}\n${code}`;
  return { path: text(args.target_file), strReplace: { oldText: anchor, newText } };
}

/** `in_progress` as the command line writes it (C9). */
export function toCliTodoStatus(status: unknown): string {
  return `TODO_STATUS_${(typeof status === "string" && status !== "" ? status : "pending").toUpperCase()}`;
}

function toCliTodo(todo: Arguments): Record<string, unknown> {
  return {
    id: text(todo.id),
    content: text(todo.content),
    status: toCliTodoStatus(todo.status),
    ...(Array.isArray(todo.dependencies) && { dependencies: todo.dependencies.map(text) }),
  };
}

function toCliQuestion(question: Arguments): Record<string, unknown> {
  return {
    id: text(question.id),
    prompt: text(question.prompt),
    options: list(question.options).map((option) => ({ id: text(option.id), label: text(option.label) })),
    allowMultiple: question.allow_multiple === true,
  };
}

/** The first line of a task, shortened. */
function toShortText(task: string): string {
  const [line = ""] = task.trim().split("\n", 1);
  return line.length > 60 ? `${line.slice(0, 59).toWellFormed().trimEnd()}…` : line;
}

/** As the captured streams name a kind: `explore` is theirs for a search, every other has a name. */
function toSubagentType(kind: string): Record<string, unknown> {
  return kind === "search" ? { explore: {} } : { custom: { name: kind } };
}

const tools: ReadonlyMap<string, CliTool> = new Map<string, CliTool>([
  [
    "read_file",
    {
      key: "readToolCall",
      toArguments: (args) => ({
        path: text(args.target_file),
        ...integer("offset", args.offset),
        ...integer("limit", args.limit),
      }),
    },
  ],
  [
    "write_file",
    {
      key: "writeToolCall",
      toArguments: (args, callId) => ({
        path: text(args.target_file),
        fileText: text(args.content),
        toolCallId: callId,
      }),
    },
  ],
  ["edit_file", { key: "editToolCall", toArguments: toEditArguments }],
  ["add_instrumentation", { key: "editToolCall", toArguments: toInstrumentationArguments }],
  ["delete_file", { key: "deleteToolCall", toArguments: (args) => ({ path: text(args.target_file) }) }],
  [
    "run_terminal_cmd",
    {
      key: "shellToolCall",
      toArguments: (args, callId) => ({
        command: text(args.command),
        workingDirectory: text(args.working_directory),
        timeout: Number.isInteger(args.timeout_ms) ? args.timeout_ms : 0,
        toolCallId: callId,
        isBackground: args.is_background === true,
        ...optional("description", args.description, "string"),
      }),
    },
  ],
  [
    "grep_search",
    {
      key: "grepToolCall",
      toArguments: (args) => ({
        pattern: text(args.pattern),
        ...optional("path", args.path, "string"),
        ...optional("glob", args.glob, "string"),
        ...optional("caseInsensitive", args.case_insensitive, "boolean"),
        ...optional("outputMode", args.output_mode, "string"),
      }),
    },
  ],
  [
    "glob_search",
    {
      key: "globToolCall",
      toArguments: (args) => ({
        globPattern: text(args.pattern),
        ...optional("targetDirectory", args.target_directory, "string"),
      }),
    },
  ],
  ["list_dir", { key: "lsToolCall", toArguments: (args) => ({ path: text(args.target_directory) }) }],
  [
    "todo_write",
    {
      key: "updateTodosToolCall",
      toArguments: (args) => ({ todos: list(args.todos).map(toCliTodo), merge: args.merge === true }),
    },
  ],
  [
    "create_plan",
    { key: "createPlanToolCall", toArguments: (args, callId) => ({ plan: text(args.plan), toolCallId: callId }) },
  ],
  [
    "ask_question",
    {
      key: "askQuestionToolCall",
      toArguments: (args) => ({ title: text(args.title), questions: list(args.questions).map(toCliQuestion) }),
    },
  ],
  [
    "run_agent",
    {
      key: "taskToolCall",
      toArguments: (args, callId) => ({
        description: toShortText(text(args.task)),
        prompt: text(args.task),
        subagentType: toSubagentType(text(args.kind)),
        agentId: callId,
        mode: "TASK_MODE_UNSPECIFIED",
        environment: "SUBAGENT_EXECUTION_ENVIRONMENT_UNSPECIFIED",
      }),
    },
  ],
  [
    "web_fetch",
    { key: "webFetchToolCall", toArguments: (args, callId) => ({ url: text(args.url), toolCallId: callId }) },
  ],
]);

/** Key and arguments of a tool with its own shape (C9); undefined for any other tool. */
export function toCliArguments(
  toolName: string,
  args: Arguments,
  callId: string,
): { readonly key: ToolCallKey; readonly args: Record<string, unknown> } | undefined {
  const ofServer = parseMcpToolName(toolName);
  if (ofServer) {
    const { server, tool } = ofServer;
    const name = `${server}-${tool}`;
    const shown = { name, args, toolCallId: callId, providerIdentifier: server, toolName: tool };
    return { key: "mcpToolCall", args: shown };
  }
  const tool = tools.get(toolName);
  return tool && { key: tool.key, args: tool.toArguments(args, callId) };
}
