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
  function toShown({ content, diff, binary, operation: done }: FileChange): Pick<FileChange, "content" | "diff"> {
    if (diff !== undefined) return { content, diff };
    const written = toAttempt().metadata.diff;
    if (done !== "edit" || binary === true || !isWritten(written)) return { content };
    return { content: written.newString, diff: written };
  }

  function endAttempt(opened: ContentDocument, result: ToolResult): void {
    const { metadata, content } = toAttempt();
    const { diff } = metadata;
    // Arguments that did not parse tell nothing: then what has been shown of them is the attempt.
    const shown = metadata.filePath === "" ? toNamed(filePath) : {};
    const isEmptyEdit = diff?.newString === "" && diff.oldString === "";
    const shownDiff = isEmptyEdit ? { diff: { ...diff, newString: opened.text } } : {};
    const state = toAttemptState(result);
    call.end(opened, { ...metadata, ...shown, ...shownDiff, state }, isEmptyEdit ? undefined : content);
  }

  function endChange(opened: ContentDocument, change: FileChange): void {
    const { content, diff } = toShown(change);
    // N34.
    const bounded = content === null ? null : cutToUtf8(content, maxFinalContent);
    call.end(opened, toChangeMetadata(change, diff, bounded?.length !== content?.length), bounded);
  }

  return {
    open: () => {
      const given = call.arguments === undefined ? undefined : toAttempt().metadata;
      filePath = given?.filePath ?? toWorkspacePath(draft.path ?? "", workspace);
      // A diff without lines is no help while the edit has not been made.
      const document = call.start(
        given === undefined ? { ...toNamed(filePath), operation } : { ...given, diff: undefined },
      );
      document.write(waiting);
      return document;
    },
    pushArguments: (delta) => {
      if (operation === "rename") return;
      const content = draft.push(delta);
      if (call.document === undefined && draft.path === undefined) waiting += content;
      else call.open().write(content);
    },
    takeArguments: () => {
      if (call.rawArguments !== undefined) return;
      const { content } = toAttempt();
      const opened = call.open();
      if (typeof content === "string") opened.complete(content);
    },
    // On success the result tells what became of each file; otherwise what was not done is shown as an attempt (N35).
    end: (result) => {
      const opened = call.open();
      const changes = result.effect?.kind === "file_edit" ? result.effect.changes : [];
      const same = changes.find((change) => change.filePath === filePath);
      const own = same ?? (result.status === "success" ? changes[0] : undefined);
      if (own === undefined) endAttempt(opened, result);
      else endChange(opened, own);
      for (const change of changes) {
        if (change === own) continue;
        const { filePath: path, operation: done, newFilePath = path } = change;
        endChange(call.start({ filePath: path, operation: done, language: toLanguage(newFilePath) }), change);
      }
    },
  };
}

/** A file by its name alone. */
function toNamed(filePath: string): PartialMetadata {
  return { filePath, language: toLanguage(filePath) };
}

/** What has been done; `isCut`: the content is too large for one event (N34). */
function toChangeMetadata(change: FileChange, diff: FileDiff | undefined, isCut: boolean): PartialMetadata {
  const { filePath, operation, newFilePath, patch, linesAdded, linesRemoved, binary, bytes } = change;
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

function isWritten(diff: FileDiff | null | undefined): diff is FileDiff {
  return Boolean(diff?.oldString) || Boolean(diff?.newString);
}

/** N35: what nobody ran is still a proposal. */
function toAttemptState(result: ToolResult): NonNullable<FileEditMetadata["state"]> {
  if (isNotExecuted(result)) return "proposed";
  if (result.status === "success") return "applied";
  return result.status === "rejected" ? "rejected" : "failed";
}
