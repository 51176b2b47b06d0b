/** Tool results in the shapes of the command line (C9). */
import type { Attachment, FileEditEffect, McpContent, ToolEffect, CliToolOutcome, ToolResult } from "@sheaf/protocol";
import { toCliTodoStatus } from "../tools/todo-write.ts";
import { writeFileTool } from "../tools/write-file.ts";
import { countLines } from "@sheaf/base/files/text-format";
import { toCliQuestions } from "./result-line.ts";

type Fields = Record<string, unknown>;

/** Returns the `result` of a completed call: exactly one key (C9). */
export function toCliOutcome(toolName: string, result: ToolResult): CliToolOutcome {
  const message = result.error?.message ?? "";
  switch (result.status) {
    case "rejected":
      return { rejected: { reason: message } };
    case "error":
      // The tool's own report of a failure is content like any other (C9).
      if (result.effect?.kind === "mcp") return { success: toSuccess(toolName, result) };
      return { error: { errorMessage: message } };
    case "cancelled":
      return { error: { errorMessage: message } };
    case "success":
      return result.effect?.kind === "command"
        ? toShellOutcome(result, result.effect)
        : {
            success: { ...toSuccess(toolName, result), ...(result.denied !== undefined && { denied: result.denied }) },
          };
  }
}

function toShellOutcome(result: ToolResult, effect: Extract<ToolEffect, { kind: "command" }>): CliToolOutcome {
  const fields = {
    command: effect.command,
    workingDirectory: effect.workingDirectory,
    exitCode: effect.exitCode,
    signal: effect.signal,
    stdout: effect.stdout,
    stderr: effect.stderr,
    executionTime: result.durationMs,
    interleavedOutput: result.output,
    ...(effect.terminalId !== undefined && { terminalId: effect.terminalId }),
    ...(effect.refusals && { refusals: effect.refusals }),
  };
  if (effect.timedOut) return { timeout: fields };
  return effect.exitCode === 0 ? { success: fields } : { failure: fields };
}

function toSuccess(toolName: string, { effect, output, note, attachments, callId, durationMs }: ToolResult): Fields {
  switch (effect?.kind) {
    case "read":
      return {
        content: output,
        isEmpty: effect.isEmpty,
        exceededLimit: effect.exceededLimit,
        totalLines: effect.totalLines,
        totalChars: effect.totalChars,
        fileSize: effect.fileSize,
        path: effect.path,
        readRange: { startLine: effect.startLine, endLine: effect.endLine },
      };
    case "file_edit":
      return toFileSuccess(toolName, effect, output);
    case "search":
      return {
        matches: effect.matches,
        totalFiles: effect.totalFiles,
        totalMatches: effect.totalMatches,
        truncated: effect.truncated,
      };
    case "glob":
      return { files: effect.files, totalFiles: effect.totalFiles, truncated: effect.truncated };
    case "list":
      return effect.path === undefined ? { tree: output } : toFolderRead(effect.path, output);
    case "todo":
      return {
        todos: effect.todos.map((todo) => ({ ...todo, status: toCliTodoStatus(todo.status) })),
        totalCount: effect.todos.length,
      };
    case "plan":
      return {};
    case "mcp":
      return { content: effect.content.map((part) => toCliContent(part, attachments)), isError: effect.isError };
    case "web":
      return { url: effect.url, markdown: output };
    case "question":
      return { answers: [], questions: toCliQuestions(effect) };
    case "agent":
      return {
        conversationSteps: [{ assistantMessage: { text: output } }],
        agentId: callId,
        isBackground: false,
        durationMs: String(durationMs),
      };
    case "command":
    case "terminal":
    case "skill":
    case undefined:
      return { output, ...(note !== undefined && { note }) };
  }
}

/** Returns an image with its bytes, any other content as text (C52). */
function toCliContent({ text, sha256 }: McpContent, attachments: readonly Attachment[] = []): Fields {
  const image = sha256 === undefined ? undefined : attachments.find((attachment) => attachment.sha256 === sha256);
  return image ? { image: { data: image.data, mimeType: image.mediaType } } : { text: { text } };
}

/** Returns the tree of a folder as the content that read_file read (C34). */
function toFolderRead(path: string, tree: string): Fields {
  return {
    content: tree,
    isEmpty: false,
    exceededLimit: false,
    totalLines: tree.split("\n").length,
    totalChars: tree.length,
    fileSize: 0,
    path,
    readRange: { startLine: 0, endLine: 0 },
  };
}

function toFileSuccess(toolName: string, { changes }: FileEditEffect, message: string): Fields {
  const [change] = changes;
  if (!change) return { message };
  // A write keeps its shape when it replaces a file: its key in `tool_call` is the same (C9).
  if (toolName === writeFileTool.name) {
    const lines = change.operation === "create" ? change.linesAdded : countLines(change.after ?? "");
    return { path: change.path, linesCreated: lines, fileSize: change.bytes };
  }
  switch (change.operation) {
    case "delete":
      return { path: change.path, fileSize: change.bytes };
    case "rename":
      return { path: change.path, newPath: change.newFilePath ?? "", message };
    case "create":
    case "edit":
      return {
        path: change.path,
        linesAdded: change.linesAdded,
        linesRemoved: change.linesRemoved,
        diffString: change.patch ?? "",
        afterFullFileContent: change.after ?? change.content ?? "",
        message,
      };
  }
}
