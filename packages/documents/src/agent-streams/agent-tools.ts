/** Translates other agents' tools into the names and arguments of documents (N28), and their results. */
import type { ToolEffect, ToolError } from "@sheaf/protocol";
import {
  isJsonObject,
  readCount,
  readObject,
  readObjects,
  readString,
  type JsonObject,
} from "../model-streams/read-json.ts";
import { toAbsolutePath } from "../workspace-path.ts";
import type { NamedCall, Outcome } from "./agent-run.ts";
import { toEditChange } from "./cursor-edits.ts";

interface AgentTool {
  readonly toolName: string;
  /** Sheaf's arguments, by the names that agents have for them. */
  readonly fields: Readonly<Record<string, string>>;
}

const file = { file_path: "target_file", filePath: "target_file", absolute_path: "target_file", path: "target_file" };
const command = { directory: "working_directory", workdir: "working_directory", timeout: "timeout_ms" };
const folder = { dir_path: "target_directory", path: "target_directory" };

const tool = (toolName: string, fields: AgentTool["fields"] = {}): AgentTool => ({ toolName, fields });

const shell = tool("run_terminal_cmd", { ...command, cmd: "command", run_in_background: "is_background" });
const replace = tool("edit_file", {
  ...file,
  oldString: "old_string",
  newString: "new_string",
  replaceAll: "replace_all",
});

/** Tools by the name in lower case, in Claude Code, Qwen Code, Gemini CLI and opencode. */
const tools: ReadonlyMap<string, AgentTool> = new Map([
  ["read", tool("read_file", file)],
  ["read_file", tool("read_file", file)],
  ["write", tool("write_file", file)],
  ["write_file", tool("write_file", file)],
  ["edit", replace],
  ["multiedit", replace],
  ["replace", replace],
  ["bash", shell],
  ["run_shell_command", shell],
  ["grep", tool("grep_search")],
  ["search_file_content", tool("grep_search")],
  ["glob", tool("glob_search", { ...folder, pattern: "glob_pattern" })],
  ["ls", tool("list_dir", folder)],
  ["list", tool("list_dir", folder)],
  ["list_directory", tool("list_dir", folder)],
  ["todowrite", tool("todo_write")],
  ["todo_write", tool("todo_write")],
  ["write_todos", tool("todo_write")],
  ["exitplanmode", tool("create_plan")],
  ["exit_plan_mode", tool("create_plan")],
  ["webfetch", tool("web_fetch")],
  ["web_fetch", tool("web_fetch")],
  ["websearch", tool("web_search")],
  ["web_search", tool("web_search")],
  ["google_web_search", tool("web_search")],
]);

/** Translates a call from another agent's name. A call of an unknown tool stays as it is. */
export function toNamedCall(name: string, input: JsonObject): NamedCall {
  const known = tools.get(name.toLowerCase());
  if (!known) return { toolName: name, arguments: input };
  const { toolName, fields } = known;
  const renamed = Object.fromEntries(Object.entries(input).map(([key, value]) => [fields[key] ?? key, value]));
  if (toolName === "edit_file") return { toolName, arguments: toEdits(renamed) };
  if (toolName === "todo_write") return { toolName, arguments: toTodos(renamed) };
  return { toolName, arguments: renamed };
}

function toEdits({ old_string, new_string, replace_all, edits, ...rest }: JsonObject): JsonObject {
  if (Array.isArray(edits)) return { ...rest, edits };
  return { ...rest, edits: [{ old_string, new_string, ...(replace_all !== undefined && { replace_all }) }] };
}

/** Translates a list of tasks. A list without ids is complete, and an entry's id is its position. */
function toTodos({ todos, merge, ...rest }: JsonObject): JsonObject {
  const entries = readObjects(todos).map(({ id, content, description, status }, index) => ({
    id: readString(id) || String(index + 1),
    content: content ?? description,
    status: status === "blocked" ? "pending" : status,
  }));
  return { ...rest, todos: entries, merge: merge ?? false };
}

export function toSuccess(output: string, effect?: ToolEffect): Outcome {
  return { status: "success", output, ...(effect && { effect }) };
}

/** Makes the outcome of a failed call, of which only `output` is known. */
export function toFailure(output: string, status: "error" | "rejected" = "error"): Outcome {
  const code = status === "rejected" ? "PERMISSION_DENIED" : "TOOL_FAILED";
  const error: ToolError = { code, message: output, details: "" };
  return { status, output: "", error };
}

export interface RanCommand {
  readonly command: string;
  readonly exitCode: number;
  readonly output: string;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly timedOut?: boolean;
  readonly signal?: string;
}

/** Makes the outcome of a command that ran: its exit code shows a failure (N37). `args` have Sheaf's names. */
export function toCommandOutcome(ran: RanCommand, args: JsonObject, workspace: string): Outcome {
  const { output, stdout = output, stderr = "", timedOut = false, signal = "", ...rest } = ran;
  return toSuccess(output, {
    ...rest,
    kind: "command",
    workingDirectory: toAbsolutePath(readString(args.working_directory), workspace),
    signal,
    stdout,
    stderr,
    timedOut,
    background: args.is_background === true,
    permissions: [],
  });
}

/** The file before and after an edit, or a diff, as far as a result has them. */
export interface EditedFile {
  readonly before?: unknown;
  readonly after?: unknown;
  readonly patch?: unknown;
}

/** Makes the outcome of an edit. Undefined if the result lacks both file and diff: the arguments remain. */
export function toEditOutcome(
  output: string,
  { arguments: args }: NamedCall,
  { edited, workspace }: { readonly edited: EditedFile; readonly workspace: string },
): Outcome | undefined {
  const path = readString(args.target_file);
  const [edit, ...more] = readObjects(args.edits);
  const { old_string: oldText, new_string: newText, replace_all: replaceAll } = readObject(edit);
  const strReplace = more.length === 0 && isJsonObject(edit) ? { oldText, newText, replaceAll } : undefined;
  const success = {
    path,
    diffString: edited.patch,
    beforeFullFileContent: edited.before,
    afterFullFileContent: edited.after,
  };
  const change = toEditChange({ path, strReplace }, success, workspace);
  return change && toSuccess(output, { kind: "file_edit", changes: [change] });
}

/** Formats hunks of the package `diff` as a unified diff. */
export function formatHunks(path: string, hunks: readonly JsonObject[]): string {
  const texts = hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => {
    const rows = Array.isArray(lines) ? lines.map(String) : [];
    const [o, ol, n, nl] = [oldStart, oldLines, newStart, newLines].map((value) => readCount(value) ?? 0);
    return [`@@ -${o},${ol} +${n},${nl} @@`, ...rows].join("\n");
  });
  return texts.length === 0 ? "" : `--- ${path}\n+++ ${path}\n${texts.join("\n")}\n`;
}
