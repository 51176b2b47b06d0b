/** Files as an editor has them, with changes that its user has not saved (C57). */
import { setTimeout as wait } from "node:timers/promises";
import { isSameFile } from "@sheaf/base/files/open-file";
import { findProtection } from "@sheaf/base/files/protected-names";
import { readWholeFile, toHash } from "@sheaf/base/files/read-file";
import { detectTextFormat, encodeText, toLineEnd } from "@sheaf/base/files/text-format";
import type { WorkspacePath } from "@sheaf/base/files/workspace";
import type { EncodedTextFile, TextFile } from "./text-file.ts";
import type { ToolContext } from "./tool.ts";

/** The abilities of an editor. Paths are absolute, without links. */
export interface EditorPorts {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Returns the whole text, if the editor has it. Absent: the editor cannot read. Never rejects. */
  readonly read?: ((path: string, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Replaces the text and saves it; only the disk shows the result. Absent: the editor cannot write. Never rejects. */
  readonly write?: ((path: string, text: string, signal: AbortSignal) => Promise<void>) | undefined;
}

/** The editor, as tools see it. */
export interface EditorFiles {
  /** Returns the file's unsaved text, if it has any. `written`: hash of the text that a tool last wrote. */
  readonly findUnsaved: (
    context: EditorContext,
    path: WorkspacePath,
    disk: DiskFile,
    written: string | undefined,
  ) => Promise<UnsavedText | undefined>;
  /** Has the editor write an existing file, which it may format; undefined: it did not, and the file is unchanged. */
  readonly write: (
    context: EditorContext,
    path: WorkspacePath,
    after: EncodedTextFile,
    before: TextFile,
  ) => Promise<EncodedTextFile | undefined>;
}

/** Creates the files of an editor. A program without an editor does not load this module. */
export function createEditorFiles(ports: EditorPorts): EditorFiles {
  return {
    findUnsaved: (context, path, disk, written) => findUnsaved(ports, context, path, disk, written),
    write: (context, path, after, before) => writeByEditor(ports, context, path, after, before),
  };
}

/** The parts of a call's context that this module uses. */
type EditorContext = Pick<ToolContext, "workspace" | "background" | "signal">;

/** Milliseconds after a change on disk for which an editor may still have the old text. */
const reloadMs = 2000;

/** The file as it is on the disk. */
type DiskFile = Omit<TextFile, "isStale" | "isUnsaved">;

type UnsavedText = Pick<TextFile, "text" | "bytes" | "content" | "hash">;

async function findUnsaved(
  editor: EditorPorts,
  context: EditorContext,
  path: WorkspacePath,
  disk: DiskFile,
  written: string | undefined,
): Promise<UnsavedText | undefined> {
  const { signal } = context;
  if (!isForEditor(context, path, disk)) return undefined;
  const ask = async () => toOther(await editor.read?.(path.absolute, signal), disk);
  let other = await ask();
  const ageMs = editor.now() - Number(disk.identity.changedAt / 1_000_000n);
  if (other && ageMs >= 0 && ageMs < reloadMs) {
    await wait(reloadMs - ageMs, undefined, { signal }).catch(() => undefined);
    other = await ask();
  }
  // The text that a tool wrote, and that has changed on disk since, isn't the user's work.
  return other?.hash === written ? undefined : other;
}

/** Returns undefined if the text equals the disk's, apart from line ends, or if Sheaf could not preserve it. */
function toOther(text: string | undefined, { lineEnd, text: onDisk, format }: DiskFile): UnsavedText | undefined {
  if (text === undefined || lineEnd === "mixed" || text.includes("\0") || !text.isWellFormed()) return undefined;
  const other = lineEnd === undefined ? text : toLineEnd(text.replaceAll("\r\n", "\n"), lineEnd);
  if (other === onDisk) return undefined;
  const content = encodeText(other, format);
  return { text: other, bytes: content.length, content, hash: toHash(content) };
}

/**
 * Returns true if the editor may read and write the file. An editor follows links as it finds them, and only a command
 * of the run could place one, so Sheaf uses the disk alone while a command runs in the background. It also does so for
 * protected files, and for texts with a byte order mark or in another encoding.
 */
function isForEditor({ background, workspace }: EditorContext, path: WorkspacePath, { format }: DiskFile): boolean {
  const isIdle = background.all.every(({ outcome }) => outcome !== undefined);
  return isIdle && format.encoding === "utf-8" && !format.hasMark && !findProtection(workspace, path);
}

async function writeByEditor(
  editor: EditorPorts,
  context: EditorContext,
  path: WorkspacePath,
  after: EncodedTextFile,
  before: TextFile,
): Promise<EncodedTextFile | undefined> {
  const { signal, workspace } = context;
  if (!editor.write || !isForEditor(context, path, before)) return undefined;
  const current = await readWholeFile(workspace.root, path, before.content.length + maxGrowth);
  // The write to the disk then reports the problem. A file with further names would change under all of them.
  if (!current.ok || !isSameFile(current.value.identity, before.identity) || current.value.links > 1) return undefined;
  await editor.write(path.absolute, after.text, signal);
  const saved = await readWholeFile(workspace.root, path, after.bytes + maxGrowth);
  if (!saved.ok || isSameFile(saved.value.identity, before.identity)) return undefined;
  const { bytes: content, hash } = saved.value;
  if (hash === after.hash) return after;
  const text = detectTextFormat(content)?.encoding === "utf-8" ? content.toString() : undefined;
  return text === undefined ? undefined : { text, bytes: content.length, content, hash };
}

/** Bytes that an editor's formatter may add. */
const maxGrowth = 16 * 1024 * 1024;
