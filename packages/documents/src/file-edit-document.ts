/** Documents of type file_edit (R7, N28, N31 to N35). */
import type { FileChange, FileDiff, FileEditMetadata, PartialMetadata, ToolResult } from "@sheaf/protocol";
import type { ContentDocument } from "./content-document.ts";
import { toFileEditAttempt } from "./file-edit-attempt.ts";
import { createFileEditDraft } from "./file-edit-draft.ts";
import { toLanguage } from "./language.ts";
import { cutToUtf8, maxFinalContent } from "./payload-limits.ts";
import { isNotExecuted, type ToolCall, type ToolDocument } from "./tool-document.ts";
import { toFileOperation } from "./tool-names.ts";
import { toWorkspacePath } from "./workspace-path.ts";

/**
 * Starts as soon as the file is known, so that its content shows while the model writes it. A rename starts when its
 * destination is known too.
 */
export function createFileEditDocument(call: ToolCall): ToolDocument {
  const { workspace } = call;
  const { toolName } = call.origin;
  const operation = toFileOperation(toolName);
  const draft = createFileEditDraft();
  let filePath = "";
  /** Content that came before the file was known. */
  let waiting = "";

  const toAttempt = () => toFileEditAttempt(toolName, call.arguments, workspace);

  /** A diff that was too large for the result (N34) is shown as the model wrote it, if it did. */
  function toShown(change: FileChange): FileChange {
    const isMissing = change.operation === "edit" && change.diff === undefined && change.binary !== true;
    const diff = isMissing ? toAttempt().metadata.diff : undefined;
    return diff && isWritten(diff) ? { ...change, content: diff.newString, diff } : change;
  }

  function endAttempt(result: ToolResult): void {
    const { metadata, content } = toAttempt();
    const { diff } = metadata;
    // Arguments that did not parse tell nothing: then what has been shown of them is the attempt.
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
      // A diff without lines is no help while the edit has not been made.
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
    // On success the result tells what became of each file; otherwise what was not done is shown as an attempt (N35).
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

/** A file by its name alone. */
function toNamed(filePath: string): PartialMetadata {
  return { filePath, language: toLanguage(filePath) };
}

/** What has been done; `isCut`: the content is too large for one event (N34). */
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

/** N35: what nobody ran is still a proposal. */
function toAttemptState(result: ToolResult): NonNullable<FileEditMetadata["state"]> {
  if (isNotExecuted(result)) return "proposed";
  if (result.status === "success") return "applied";
  return result.status === "rejected" ? "rejected" : "failed";
}
