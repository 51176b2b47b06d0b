/** Translates tool calls of `cursor-agent` into the names and arguments of documents (N28), and their results. */
import type { McpContent, McpEffect } from "@sheaf/protocol";
import type { NamedCall, Outcome } from "./agent-run.ts";
import { toEditChange } from "./cursor-edits.ts";
import { toCommandOutcome, toFailure } from "./agent-tools.ts";
import { isJsonObject, readObject, readObjects, readString, type JsonObject } from "../model-streams/read-json.ts";

export interface CursorCall extends NamedCall {
  /** The arguments as in the stream. */
  readonly args: JsonObject;
}

type Convert = (args: JsonObject) => JsonObject;

const readers: Readonly<Record<string, readonly [toolName: string, convert: Convert]>> = {
  readToolCall: ["read_file", ({ path, ...rest }) => ({ target_file: path, ...rest })],
  writeToolCall: ["write_file", ({ path, fileText }) => ({ target_file: path, content: fileText })],
  editToolCall: ["edit_file", toEditArguments],
  deleteToolCall: ["delete_file", ({ path }) => ({ target_file: path })],
  shellToolCall: ["run_terminal_cmd", toShellArguments],
  grepToolCall: ["grep_search", (args) => args],
  globToolCall: [
    "glob_search",
    ({ globPattern, targetDirectory, ...rest }) => ({
      glob_pattern: globPattern,
      ...(targetDirectory !== undefined && { target_directory: targetDirectory }),
      ...rest,
    }),
  ],
  lsToolCall: ["list_dir", ({ path, ...rest }) => ({ target_directory: path, ...rest })],
  updateTodosToolCall: ["todo_write", toTodoArguments],
  createPlanToolCall: ["create_plan", ({ plan }) => ({ plan })],
  askQuestionToolCall: ["ask_question", (args) => args],
  webFetchToolCall: ["web_fetch", ({ url }) => ({ url })],
};

/** Reads the one call in `tool_call`: a key that ends in `ToolCall`, or `function` (C8, C9). */
export function readCall(toolCall: JsonObject): { readonly call: CursorCall; readonly result: JsonObject | undefined } {
  const key = Object.keys(toolCall).find((name) => name.endsWith("ToolCall") || name === "function") ?? "";
  const payload = readObject(toolCall[key]);
  const result = isJsonObject(payload.result) ? payload.result : undefined;
  if (key === "function") return { call: readFunction(payload), result };
  const args = readObject(payload.args);
  if (key === "mcpToolCall") {
    const { providerIdentifier, toolName, args: own } = args;
    const name = `mcp__${readString(providerIdentifier)}__${readString(toolName)}`;
    return { call: { toolName: name, arguments: readObject(own), args }, result };
  }
  const reader = Object.hasOwn(readers, key) ? readers[key] : undefined;
  if (!reader) return { call: { toolName: key, arguments: args, args }, result };
  const [toolName, convert] = reader;
  return { call: { toolName, arguments: convert(args), args }, result };
}

function readFunction({ name, arguments: text }: JsonObject): CursorCall {
  let args: JsonObject = {};
  try {
    args = readObject(JSON.parse(readString(text)));
  } catch {
    // Arguments that do not parse become empty (N30).
  }
  return { toolName: readString(name), arguments: args, args };
}

function toEditArguments({ path, strReplace, multiStrReplace, streamContent }: JsonObject): JsonObject {
  // Newer versions show only the content that they write.
  const written: readonly JsonObject[] =
    typeof streamContent === "string" ? [{ oldText: "", newText: streamContent }] : [];
  const several = isJsonObject(multiStrReplace) ? readObjects(multiStrReplace.edits) : written;
  const edits = isJsonObject(strReplace) ? [strReplace] : several;
  const converted = edits.map(({ oldText, newText, replaceAll }) => ({
    old_string: oldText,
    new_string: newText,
    ...(replaceAll !== undefined && { replace_all: replaceAll }),
  }));
  return { target_file: path, edits: converted };
}

function toShellArguments({ command, workingDirectory, timeout, isBackground, description }: JsonObject): JsonObject {
  return {
    command,
    ...(workingDirectory !== undefined && { working_directory: workingDirectory }),
    ...(timeout !== undefined && { timeout_ms: timeout }),
    ...(isBackground !== undefined && { is_background: isBackground }),
    ...(description !== undefined && { description }),
  };
}

function toTodoArguments({ todos, merge }: JsonObject): JsonObject {
  const converted = readObjects(todos).map(({ status, ...rest }) => ({
    ...rest,
    status: readString(status).replace("TODO_STATUS_", "").toLowerCase(),
  }));
  return { todos: converted, merge };
}

/** Reads the outcome of a call from its one key: `success`, `failure`, `timeout`, `error` or `rejected` (C9). */
export function readOutcome(
  { toolName, args }: CursorCall,
  result: JsonObject | undefined,
  workspace: string,
): Outcome {
  const { success, failure, timeout, error, rejected } = result ?? {};
  if (isJsonObject(rejected)) return toFailure(readString(rejected.reason), "rejected");
  if (isJsonObject(error)) return toFailure(readString(error.errorMessage));
  const given = [success, failure, timeout].find(isJsonObject);
  if (!given) return toFailure("the stream has no result for it");
  if (toolName === "run_terminal_cmd") return toRanOutcome(given, timeout !== undefined, workspace);
  if (toolName === "edit_file") {
    const change = toEditChange(args, given, workspace);
    const output = readString(given.message) || readString(given.resultForModel);
    if (change) return { status: "success", output, effect: { kind: "file_edit", changes: [change] } };
  }
  if (typeof given.content === "string") return { status: "success", output: given.content };
  if (toolName.startsWith("mcp__")) return toServerOutcome(args, given);
  return { status: "success", output: JSON.stringify(given) };
}

/** Reads a tool server's outcome (C52). Earlier versions of Sheaf wrote the parts as servers do. */
function toServerOutcome({ providerIdentifier, toolName }: JsonObject, given: JsonObject): Outcome {
  const content = readObjects(given.content).map(({ text, image }): McpContent => {
    if (isJsonObject(image)) return { type: "text", text: `[image ${readString(image.mimeType)}]` };
    return { type: "text", text: isJsonObject(text) ? readString(text.text) : readString(text) };
  });
  const output = content.map(({ text }) => text).join("\n");
  const isError = given.isError === true;
  const [server, tool] = [readString(providerIdentifier), readString(toolName)];
  const effect: McpEffect = { kind: "mcp", server, tool, content, isError };
  return isError ? { ...toFailure(output), output, effect } : { status: "success", output, effect };
}

function toRanOutcome(given: JsonObject, timedOut: boolean, workspace: string): Outcome {
  const [stdout, stderr] = [readString(given.stdout), readString(given.stderr)];
  const ran = {
    command: readString(given.command),
    exitCode: typeof given.exitCode === "number" ? given.exitCode : timedOut ? 124 : 0,
    signal: readString(given.signal),
    output: typeof given.interleavedOutput === "string" ? given.interleavedOutput : stdout + stderr,
    stdout,
    stderr,
    timedOut,
  };
  return toCommandOutcome(ran, { working_directory: given.workingDirectory }, workspace);
}
