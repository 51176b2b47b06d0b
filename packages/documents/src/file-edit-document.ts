/** Makes documents of type file_edit (R7, N28, N31 to N35). */
import type { FileChange, FileDiff, FileEditMetadata, PartialMetadata, ToolResult } from "@sheaf/protocol";
import type { ContentDocument } from "./content-document.ts";
import { createJsonScanner } from "./incremental-json.ts";
import { toLanguage } from "./language.ts";
import { cutToUtf8, maxFinalContent } from "./payload-limits.ts";
import { findTextArgument, toListArgument, toTextArgument, type ToolArguments } from "./tool-arguments.ts";
import { isNotExecuted, type ToolCall, type ToolDocument } from "./tool-document.ts";
import { toFileOperation } from "./tool-names.ts";
import { toWorkspacePath } from "./workspace-path.ts";

/** Starts once the file is known, a rename once its destination is, so that clients see the content as it grows. */
export function createFileEditDocument(call: ToolCall): ToolDocument {
  const { workspace } = call;
  const { toolName } = call.origin;
  const operation = toFileOperation(toolName);
  const draft = createFileEditDraft();
  let filePath = "";
  /** Content that arrived before the file was known. */
  let waiting = "";

  const toAttempt = () => toFileEditAttempt(toolName, call.arguments, workspace);

  /** Adds the diff as the model wrote it, if the result lacks a too large one (N34). */
  function toShown(change: FileChange): FileChange {
    const isMissing = change.operation === "edit" && change.diff === undefined && change.binary !== true;
    const diff = isMissing ? toAttempt().metadata.diff : undefined;
    return diff && isWritten(diff) ? { ...change, content: diff.newString, diff } : change;
  }

  function endAttempt(result: ToolResult): void {
    const { metadata, content } = toAttempt();
    const { diff } = metadata;
    // Unreadable arguments are useless: the deltas so far are the attempt.
    const shown = metadata.filePath === "" ? toNamed(filePath) : {};
    const drafted = diff && !isWritten(diff) ? { diff: { ...diff, newString: call.open().text } } : undefined;
    const state = toAttemptState(result);
    call.end({ ...metadata, ...shown, ...drafted, state }, drafted ? undefined : content);
  }

  function endChange(change: FileChange, document?: ContentDocument): void {
    const shown = toShown(change);
    // N34.
    const content = shown.content === null ? null : cutToUtf8(shown.content, maxFinalContent);
    call.end(toChangeMetadata(shown, content?.length !== shown.content?.length), content, document);
  }

  return {
    open: () => {
      const given = call.arguments === undefined ? undefined : toAttempt().metadata;
      filePath = given?.filePath ?? toWorkspacePath(draft.path ?? "", workspace);
      // A diff without line numbers does not help before the edit.
      const known = given === undefined ? { ...toNamed(filePath), operation } : { ...given, diff: undefined };
      return call.start(known, waiting);
    },
    pushArguments: (delta) => {
      if (operation === "rename") return;
      const content = draft.push(delta);
      if (call.document === undefined && draft.path === undefined) waiting += content;
      else call.open().write(content);
    },
    takeArguments: () => {
      call.open().complete(toAttempt().content ?? "");
    },
    // On success the result has the outcome of each file. Otherwise the document shows the attempt (N35).
    end: (result) => {
      call.open();
      const changes = result.effect?.kind === "file_edit" ? result.effect.changes : [];
      const same = changes.find((change) => change.filePath === filePath);
      const own = same ?? (result.status === "success" ? changes[0] : undefined);
      if (own === undefined) endAttempt(result);
      else endChange(own);
      for (const change of changes) {
        if (change === own) continue;
        const { filePath: path, operation: done, newFilePath = path } = change;
        endChange(change, call.start({ filePath: path, operation: done, language: toLanguage(newFilePath) }));
      }
    },
  };
}

function toNamed(filePath: string): PartialMetadata {
  return { filePath, language: toLanguage(filePath) };
}

/** Returns the metadata of a finished change. `isCut`: the content is too large for one event (N34). */
function toChangeMetadata(change: FileChange, isCut: boolean): PartialMetadata {
  const { filePath, operation, newFilePath, diff, patch, linesAdded, linesRemoved, binary, bytes } = change;
  const isIncomplete = isCut || change.truncated === true || (operation === "edit" && diff === undefined);
  return {
    filePath,
    operation,
    language: toLanguage(newFilePath ?? filePath),
    newFilePath,
    diff,
    patch,
    linesAdded,
    linesRemoved,
    state: "applied",
    binary,
    bytes: operation === "delete" ? undefined : bytes,
    truncated: (isIncomplete && binary !== true) || undefined,
  };
}

function isWritten({ oldString, newString }: FileDiff): boolean {
  return oldString + newString !== "";
}

/** Returns the state of an attempt (N35). A call that never ran is still a proposal. */
function toAttemptState(result: ToolResult): NonNullable<FileEditMetadata["state"]> {
  if (isNotExecuted(result)) return "proposed";
  if (result.status === "success") return "applied";
  return result.status === "rejected" ? "rejected" : "failed";
}

/** A file_edit, as far as the arguments describe it (N11, N12, N31 to N33). */
interface FileEditAttempt {
  readonly metadata: Pick<FileEditMetadata, "filePath" | "operation" | "language" | "diff" | "newFilePath">;
  /** Null for delete and rename; undefined if the arguments lack it. */
  readonly content: string | null | undefined;
}

function toFileEditAttempt(toolName: string, values: ToolArguments | undefined, workspace: string): FileEditAttempt {
  const path = pathArguments.map((name) => findTextArgument(values, name)).find((found) => found !== undefined);
  const filePath = toWorkspacePath(path ?? "", workspace);
  const edits = toListArgument(values, "edits");
  const operation = toFileOperation(toolName) ?? (edits.length > 0 ? "edit" : "create");
  const metadata = { filePath, operation, language: toLanguage(filePath) };
  switch (operation) {
    case "create":
      return { metadata, content: findTextArgument(values, "content") };
    case "delete":
      return { metadata, content: null };
    case "edit": {
      const diff = toDiff(edits);
      return { metadata: { ...metadata, diff }, content: diff.newString };
    }
    case "rename": {
      // The language follows from the new name (N32).
      const newFilePath = toWorkspacePath(toTextArgument(values, "destination_file"), workspace);
      return { metadata: { ...metadata, language: toLanguage(newFilePath), newFilePath }, content: null };
    }
  }
}

/**
 * Returns the diff of an edit whose file was not read. The place of the text is unknown, so both lines are 0. Several
 * edits are joined with line ends, so that a client can show the whole attempt.
 */
function toDiff(edits: readonly ToolArguments[]): FileDiff {
  const join = (name: string) => edits.map((edit) => toTextArgument(edit, name)).join("\n");
  return { oldString: join("old_string"), newString: join("new_string"), startLine: 0, endLine: 0 };
}

interface FileEditDraft {
  /** Takes a piece of the arguments' JSON text; returns the new content in it. */
  push(delta: string): string;
  /** The path as the model wrote it, once that argument is complete. */
  readonly path: string | undefined;
}

/** Arguments with the file's path, in order of precedence. */
const pathArguments = ["target_file", "source_file", "file_path", "path"] as const;

/** JSON pointers to the file, to its content, and to the new string of an edit with its number. */
const target = new RegExp(`^/(?:(${pathArguments.join("|")})|content|edits/(\\d+)/new_string)$`);

/** Reads `content`, or the new strings of `edits`, joined with line ends. */
function createFileEditDraft(): FileEditDraft {
  const scanner = createJsonScanner();
  /** Pointer of the last event, since the next event mostly has the same one. */
  let pointer = "";
  let found: RegExpExecArray | null = null;
  let lastEdit = "0";
  let pathText = "";
  let path: string | undefined;
  return {
    get path() {
      return path;
    },
    push: (delta) => {
      let content = "";
      for (const event of scanner.push(delta)) {
        if (event.path !== pointer) {
          pointer = event.path;
          found = target.exec(pointer);
          const edit = found?.[2] ?? lastEdit;
          if (edit !== lastEdit) content += "\n";
          lastEdit = edit;
        }
        const text = event.type === "string_delta" ? event.delta : "";
        if (found?.[1] === undefined) {
          if (found !== null) content += text;
        } else if (path === undefined) {
          pathText += text;
          if (event.type === "string_end") path = pathText;
        }
      }
      return content;
    },
  };
}
