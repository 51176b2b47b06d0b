/** Documents of type file_edit (R7, N28, N31 to N35). */
import type { FileChange, FileDiff, FileEditMetadata, ToolResult } from "@sheaf/protocol";
import { type ContentDocument, startContentDocument } from "./content-document.ts";
import { toFileEditAttempt } from "./file-edit-attempt.ts";
import { createFileEditDraft, type FileEditDraft } from "./file-edit-draft.ts";
import { toLanguage } from "./language.ts";
import { cutToUtf8, maxFinalContent } from "./payload-limits.ts";
import { pickDefined } from "./pick-defined.ts";
import type { StreamWriter } from "./stream-writer.ts";
import type { ToolArguments } from "./tool-arguments.ts";
import { isNotExecuted, type ToolDocument, type ToolOrigin } from "./tool-document.ts";
import { toFileOperation } from "./tool-names.ts";
import { toWorkspacePath } from "./workspace-path.ts";

/**
 * Starts as soon as the file is known, so that its content shows while the model writes it. A rename starts when its
 * destination is known too.
 */
export function createFileEditDocument(writer: StreamWriter, origin: ToolOrigin, workspace: string): ToolDocument {
  const operation = toFileOperation(origin.toolName);
  let draft: FileEditDraft | undefined;
  let document: ContentDocument | undefined;
  let filePath = "";
  /** Content that came before the file was known. */
  let waiting = "";
  let given: ToolArguments | undefined;

  const toAttempt = () => toFileEditAttempt(origin.toolName, given, workspace);
  const start = (metadata: object) => startContentDocument(writer, "file_edit", { ...metadata, ...origin });

  function open(): ContentDocument {
    if (document === undefined) {
      filePath = given === undefined ? toWorkspacePath(draft?.path ?? "", workspace) : toAttempt().metadata.filePath;
      const drafted = { filePath, language: toLanguage(filePath), ...pickDefined({ operation }) };
      // A diff without lines is no help while the edit has not been made.
      const { diff: _, ...metadata } = given === undefined ? { ...drafted, diff: undefined } : toAttempt().metadata;
      document = start(metadata);
      document.write(waiting);
      waiting = "";
    }
    return document;
  }

  function endAttempt(opened: ContentDocument, result: ToolResult): void {
    const { metadata, content } = toAttempt();
    const { diff } = metadata;
    // Arguments that did not parse tell nothing: then what has been shown of them is the attempt.
    const shown = metadata.filePath === "" ? { filePath, language: toLanguage(filePath) } : {};
    const isEmptyEdit = diff?.newString === "" && diff.oldString === "";
    const shownDiff = isEmptyEdit ? { diff: { ...diff, newString: opened.text } } : {};
    const state = toAttemptState(result);
    opened.end({ ...metadata, ...shown, ...shownDiff, state, ...origin }, isEmptyEdit ? undefined : content);
  }

  /** A diff that was too large for the result (N34) is shown as the model wrote it, if it did. */
  function toShown({ content, diff, binary, ...change }: FileChange): Pick<FileChange, "content" | "diff"> {
    if (diff !== undefined) return { content, diff };
    const written = toAttempt().metadata.diff;
    if (change.operation !== "edit" || binary === true || !isWritten(written)) return { content };
    return { content: written.newString, diff: written };
  }

  function endChange(opened: ContentDocument, change: FileChange): void {
    const { operation: done, newFilePath, patch, linesAdded, linesRemoved, binary, bytes } = change;
    const { content, diff } = toShown(change);
    // N34.
    const bounded = content === null ? null : cutToUtf8(content, maxFinalContent);
    const isCut = bounded?.length !== content?.length || change.truncated === true;
    const isIncomplete = isCut || (done === "edit" && diff === undefined);
    const metadata: FileEditMetadata = {
      filePath: change.filePath,
      operation: done,
      language: toLanguage(newFilePath ?? change.filePath),
      ...pickDefined({ newFilePath, diff, patch }),
      linesAdded,
      linesRemoved,
      state: "applied",
      ...pickDefined({
        binary,
        bytes: done === "delete" ? undefined : bytes,
        truncated: (isIncomplete && binary !== true) || undefined,
      }),
      ...origin,
    };
    opened.end({ ...metadata }, bounded);
  }

  return {
    get documentId() {
      return document?.id;
    },
    start: () => open().id,
    pushArguments: (delta) => {
      if (operation === "rename") return;
      draft ??= createFileEditDraft();
      const content = draft.push(delta);
      if (document === undefined && draft.path === undefined) waiting += content;
      else open().write(content);
    },
    setArguments: (event) => {
      if (given !== undefined) return;
      given = event.arguments;
      if (event.rawArguments !== undefined) return;
      const { content } = toAttempt();
      const opened = open();
      if (typeof content === "string") opened.complete(content);
    },
    // On success the result tells what became of each file; otherwise what was not done is shown as an attempt (N35).
    end: (result) => {
      const opened = open();
      const changes = result.effect?.kind === "file_edit" ? result.effect.changes : [];
      const same = changes.find((change) => change.filePath === filePath);
      const own = same ?? (result.status === "success" ? changes[0] : undefined);
      if (own === undefined) endAttempt(opened, result);
      else endChange(opened, own);
      for (const change of changes) {
        if (change === own) continue;
        const { filePath: path, operation: done, newFilePath = path } = change;
        endChange(start({ filePath: path, operation: done, language: toLanguage(newFilePath) }), change);
      }
    },
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
