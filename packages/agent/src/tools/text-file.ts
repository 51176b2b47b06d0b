/** Text files as the tools that change files load and write them. */
import type { FileChange, ToolError } from "@sheaf/protocol";
import { writeFileAtomically } from "@sheaf/base/files/atomic-write";
import { createFileFault, toFileError, type FileResult } from "@sheaf/base/files/file-error";
import {
  decodeText,
  detectLineEnd,
  detectTextFormat,
  encodeText,
  type LineEnd,
  type TextFormat,
} from "@sheaf/base/files/text-format";
import type { FileIdentity } from "@sheaf/base/files/open-file";
import { readWholeFile, toHash } from "@sheaf/base/files/read-file";
import type { WorkspacePath } from "@sheaf/base/files/workspace";
import { toCreateChange, toEditChange } from "./file-change.ts";
import { type TextRegion, toChangedLines } from "./text-region.ts";
import type { ToolContext } from "./tool.ts";

/** Largest file that tools change. Bytes. */
const MAX_TEXT_FILE_BYTES = 16 * 1024 * 1024;

/** A text file as stored on disk. */
export interface TextFile {
  /** The text without its byte order mark. */
  readonly text: string;
  readonly bytes: number;
  /** Bytes as stored on disk, or as the editor would store them. */
  readonly content: Uint8Array;
  readonly hash: string;
  readonly format: TextFormat;
  readonly lineEnd: LineEnd | "mixed" | undefined;
  readonly identity: FileIdentity;
  /** True if it has changed since a tool read or wrote it. */
  readonly isStale: boolean;
  /** True if an editor has this text, and the disk another one (C57). */
  readonly isUnsaved: boolean;
}

/**
 * Loads a file to change; undefined if it does not exist. `acceptsStale`: the caller looks at `isStale`. Errors:
 * STALE_FILE if it has changed since a tool read it; BINARY_FILE, INVALID_ENCODING, FILE_TOO_LARGE and others.
 */
export async function loadTextFile(
  context: ToolContext,
  path: WorkspacePath,
  acceptsStale = false,
): Promise<FileResult<TextFile | undefined>> {
  const { workspace, state } = context;
  const file = await readWholeFile(workspace.root, path, MAX_TEXT_FILE_BYTES);
  if (!file.ok) return file.error.code === "FILE_NOT_FOUND" ? { ok: true, value: undefined } : file;
  const { bytes, hash, identity } = file.value;
  const format = detectTextFormat(bytes);
  if (!format) return { ok: false, error: toFileError(createFileFault("BINARY_FILE"), path.named) };
  const text = decodeText(bytes, format);
  if (text === undefined) return { ok: false, error: toEncodingError(path, format) };
  const known = state.fileHashes.get(path.absolute);
  const lineEnd = detectLineEnd(text);
  const disk = { text, bytes: bytes.length, content: bytes, hash, format, lineEnd, identity };
  const written = state.writtenHashes.get(path.absolute);
  const unsaved = context.editor && (await context.editor.findUnsaved(context, path, disk, written));
  const loaded = { ...disk, ...unsaved, isUnsaved: unsaved !== undefined };
  const isStale = known !== undefined && known !== loaded.hash;
  if (isStale && !acceptsStale) return { ok: false, error: toStaleError(path) };
  return { ok: true, value: { ...loaded, isStale } };
}

/** The new text of a file, in the format of the old one. */
export interface EncodedTextFile extends Pick<TextFile, "text" | "bytes" | "hash"> {
  /** Bytes as Sheaf will store them on disk. */
  readonly content: Uint8Array;
}

/** Encodes a text in the format of the loaded file. */
export function encodeTextFile(text: string, before: TextFile | undefined): EncodedTextFile {
  const content = encodeText(text, before?.format ?? { encoding: "utf-8", hasMark: false });
  return { text, bytes: content.length, content, hash: toHash(content) };
}

export interface SavedChange {
  readonly change: FileChange;
  /** Sentences for the model. */
  readonly notes: readonly string[];
}

/** Writes a file, and remembers it. `region`: the part that `after` replaces, else the lines that differ. */
export async function saveChange(
  context: ToolContext,
  path: WorkspacePath,
  { before, after, region }: { before: TextFile | undefined; after: EncodedTextFile; region?: TextRegion },
): Promise<FileResult<SavedChange>> {
  const held = before && after.text.length < before.text.length ? findPlaceholder(before.text, after.text) : undefined;
  if (held !== undefined) {
    const message = `${path.named} would lose text, because ${JSON.stringify(held)} replaces it: write that text out, or use edit_file for the part that changes`;
    return { ok: false, error: { code: "PLACEHOLDER", message, details: "" } };
  }
  const toChange = (next: EncodedTextFile, replaced?: TextRegion): FileChange =>
    before
      ? toEditChange(path, before, next, replaced ?? toChangedLines(before.text, next.text))
      : toCreateChange(path, next);
  // Sheaf computes the change while it saves the file.
  const saving = saveTextFile(context, path, after, before);
  const change = toChange(after, region);
  const saved = await saving;
  if (!saved.ok) return saved;
  const formatted = saved.value;
  return {
    ok: true,
    value: formatted ? { change: toChange(formatted), notes: [formattedNote] } : { change, notes: [] },
  };
}

/** Lines such as `// ... rest of the file unchanged`: a comment or dots, and words for omitted text. */
const placeholder =
  /^(?=[ \t]*(?:\/[/*]|#|--|<!--|\{\/\*|[;%[(]|\.{3}|…))(?=.*\b(?:rest|existing|remain\w*|previous|other|code)\b)(?=.*(?:\.{3}|…|\b(?:unchanged|same|as before|as is)\b)).*$/gim;

/** Returns the first placeholder that the old text does not have. */
function findPlaceholder(before: string, after: string): string | undefined {
  const lines = after.match(placeholder) ?? [];
  return lines.map((line) => line.trim().slice(0, 100)).find((line) => !before.includes(line));
}

/** Saves a text. Returns the text that the editor saved; undefined if it is `after`. Never rejects. */
async function saveTextFile(
  context: ToolContext,
  path: WorkspacePath,
  after: EncodedTextFile,
  before: TextFile | undefined,
): Promise<FileResult<EncodedTextFile | undefined>> {
  const { workspace, state, undo, editor } = context;
  // The recorded state has the disk's text, not the editor's.
  if (before?.isUnsaved) await undo?.keepText(path.absolute, before.content);
  const saved = before && editor && (await editor.write(context, path, after, before));
  if (!saved) {
    const written = await writeFileAtomically(workspace, path, after.content, before?.identity);
    if (!written.ok) return written;
  }
  const { hash } = saved ?? after;
  // The model has not yet read the changes that made the file stale.
  if (!before?.isStale) state.fileHashes.set(path.absolute, after.hash);
  if (before?.hash !== after.hash) state.writtenHashes.set(path.absolute, hash);
  return { ok: true, value: hash === after.hash ? undefined : saved };
}

/** Note on a formatted file: the next edit must quote the text of the editor. */
const formattedNote = "The user's editor formatted the file as it saved it: read it again before you edit it.";

/** Returns the error of a file that the model must read again. */
export function toStaleError(path: WorkspacePath): ToolError {
  return toFileError(createFileFault("STALE_FILE"), path.named);
}

function toEncodingError(path: WorkspacePath, { encoding }: TextFormat): ToolError {
  const message = `${path.named} is not valid ${encoding.toUpperCase()}, changing it would damage it: use run_terminal_cmd`;
  return { code: "INVALID_ENCODING", message, details: "" };
}
