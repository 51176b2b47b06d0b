/** Documents of type file_edit (R7, N28, N31 to N35). */
import type {
  FileChange,
  FileDiff,
  FileEditMetadata,
  ToolCallArguments,
  ToolCallStart,
  ToolResult,
} from "@sheaf/protocol";
import { type ContentDocument, startContentDocument } from "./content-document.ts";
import { type FileEditAttempt, toFileEditAttempt } from "./file-edit-attempt.ts";
import { createFileEditDraft, type FileEditDraft } from "./file-edit-draft.ts";
import { toLanguage } from "./language.ts";
import { cutToUtf8, maxFinalContent } from "./payload-limits.ts";
import type { StreamWriter } from "./stream-writer.ts";
import type { ToolArguments } from "./tool-arguments.ts";
import { isNotExecuted, type ToolDocument, toToolOrigin } from "./tool-document.ts";
import { toFileOperation } from "./tool-names.ts";
import { toWorkspacePath } from "./workspace-path.ts";

/**
 * Starts as soon as the file is known, so that its content shows while the model writes it. A rename starts when its
 * destination is known too.
 */
export function createFileEditDocument(writer: StreamWriter, call: ToolCallStart, workspace: string): ToolDocument {
  return new FileEditWriter(writer, call, workspace);
}

class FileEditWriter implements ToolDocument {
  readonly #writer: StreamWriter;
  readonly #call: ToolCallStart;
  readonly #workspace: string;
  #draft: FileEditDraft | undefined;
  #document: ContentDocument | undefined;
  #filePath = "";
  /** Content that came before the file was known. */
  #waiting = "";
  #arguments: ToolArguments | undefined;

  constructor(writer: StreamWriter, call: ToolCallStart, workspace: string) {
    this.#writer = writer;
    this.#call = call;
    this.#workspace = workspace;
  }

  get documentId(): string | undefined {
    return this.#document?.id;
  }

  pushArguments(delta: string): void {
    if (toFileOperation(this.#call.toolName) === "rename") return;
    this.#draft ??= createFileEditDraft();
    const content = this.#draft.push(delta);
    if (this.#document === undefined && this.#draft.path === undefined) this.#waiting += content;
    else this.#open().write(content);
  }

  setArguments(event: ToolCallArguments): void {
    if (this.#arguments !== undefined) return;
    this.#arguments = event.arguments;
    if (event.rawArguments !== undefined) return;
    const { content } = this.#toAttempt();
    const document = this.#open();
    if (typeof content === "string") document.complete(content);
  }

  start(): string {
    return this.#open().id;
  }

  /** On success the result tells what became of each file; otherwise what was not done is shown as an attempt (N35). */
  end(result: ToolResult): void {
    const document = this.#open();
    const changes = result.effect?.kind === "file_edit" ? result.effect.changes : [];
    const same = changes.find(({ filePath }) => filePath === this.#filePath);
    const own = same ?? (result.status === "success" ? changes[0] : undefined);
    if (own === undefined) this.#endAttempt(document, result);
    else this.#endChange(document, own);
    for (const change of changes) {
      if (change !== own) this.#endChange(this.#openChange(change), change);
    }
  }

  #open(): ContentDocument {
    if (this.#document !== undefined) return this.#document;
    const metadata = this.#arguments === undefined ? this.#toDraftMetadata() : this.#toStartMetadata();
    this.#filePath = metadata.filePath;
    this.#document = startContentDocument(this.#writer, "file_edit", { ...metadata, ...toToolOrigin(this.#call) });
    this.#document.write(this.#waiting);
    this.#waiting = "";
    return this.#document;
  }

  #openChange({ filePath, operation, newFilePath }: FileChange): ContentDocument {
    const metadata = { filePath, operation, language: toLanguage(newFilePath ?? filePath) };
    return startContentDocument(this.#writer, "file_edit", { ...metadata, ...toToolOrigin(this.#call) });
  }

  #toDraftMetadata(): Pick<FileEditMetadata, "filePath" | "language"> & Partial<FileEditMetadata> {
    const filePath = toWorkspacePath(this.#draft?.path ?? "", this.#workspace);
    const operation = toFileOperation(this.#call.toolName);
    return { filePath, language: toLanguage(filePath), ...(operation === undefined ? {} : { operation }) };
  }

  /** A diff without lines is no help while the edit has not been made. */
  #toStartMetadata(): FileEditAttempt["metadata"] {
    const { diff: _, ...metadata } = this.#toAttempt().metadata;
    return metadata;
  }

  #toAttempt(): FileEditAttempt {
    return toFileEditAttempt(this.#call.toolName, this.#arguments ?? {}, this.#workspace);
  }

  #endAttempt(document: ContentDocument, result: ToolResult): void {
    const state = toAttemptState(result);
    const { metadata, content } = this.#toAttempt();
    // Arguments that did not parse tell nothing: then what has been shown of them is the attempt.
    const filePath = metadata.filePath === "" ? this.#filePath : metadata.filePath;
    const language = metadata.filePath === "" ? toLanguage(filePath) : metadata.language;
    const isEmptyEdit = metadata.diff?.newString === "" && metadata.diff.oldString === "";
    const diff = isEmptyEdit ? { diff: { ...metadata.diff, newString: document.text } } : {};
    const origin = toToolOrigin(this.#call);
    document.end({ ...metadata, filePath, language, ...diff, state, ...origin }, isEmptyEdit ? undefined : content);
  }

  #endChange(document: ContentDocument, change: FileChange): void {
    const { diff, ...shown } = this.#toShown(change);
    const { content, isCut } = toBoundedContent(shown.content);
    const isIncomplete = isCut || change.truncated === true || (change.operation === "edit" && diff === undefined);
    const metadata: FileEditMetadata = {
      filePath: change.filePath,
      operation: change.operation,
      language: toLanguage(change.newFilePath ?? change.filePath),
      ...(change.newFilePath === undefined ? {} : { newFilePath: change.newFilePath }),
      ...(diff === undefined ? {} : { diff }),
      ...(change.patch === undefined ? {} : { patch: change.patch }),
      linesAdded: change.linesAdded,
      linesRemoved: change.linesRemoved,
      state: "applied",
      ...(change.binary === true ? { binary: true } : {}),
      ...(change.operation === "delete" ? {} : { bytes: change.bytes }),
      ...(isIncomplete && change.binary !== true ? { truncated: true } : {}),
      ...toToolOrigin(this.#call),
    };
    document.end({ ...metadata }, content);
  }

  /** A diff that was too large for the result (N34) is shown as the model wrote it, if it did. */
  #toShown(change: FileChange): Pick<FileChange, "content"> & { readonly diff?: FileDiff } {
    const { content, diff } = change;
    if (diff !== undefined) return { content, diff };
    const written = this.#toAttempt().metadata.diff;
    if (change.operation !== "edit" || change.binary === true || !written) return { content };
    const isEmpty = written.oldString === "" && written.newString === "";
    return isEmpty ? { content } : { content: written.newString, diff: written };
  }
}

/** N34. */
function toBoundedContent(content: string | null): { readonly content: string | null; readonly isCut: boolean } {
  if (content === null) return { content, isCut: false };
  const bounded = cutToUtf8(content, maxFinalContent);
  return { content: bounded, isCut: bounded.length < content.length };
}

/** N35: what nobody ran is still a proposal. */
function toAttemptState(result: ToolResult): NonNullable<FileEditMetadata["state"]> {
  if (isNotExecuted(result)) return "proposed";
  if (result.status === "success") return "applied";
  return result.status === "rejected" ? "rejected" : "failed";
}
