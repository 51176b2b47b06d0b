/** Files as an editor has them: with what its user has not saved (C57). */
import { setTimeout as wait } from "node:timers/promises";
import { isSameFile } from "@sheaf/base/files/open-file";
import { findProtection } from "@sheaf/base/files/protected-names";
import { readWholeFile, toHash } from "@sheaf/base/files/read-file";
import { detectTextFormat, encodeText, toLineEnd } from "@sheaf/base/files/text-format";
import type { WorkspacePath } from "@sheaf/base/files/workspace";
import type { EncodedTextFile, TextFile } from "./text-file.ts";
import type { ToolContext } from "./tool.ts";

/** What an editor offers. Paths are absolute, without links. */
export interface EditorPorts {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The whole text; undefined: the editor gives none. Absent: it cannot. Never rejects. */
  readonly read?: ((path: string, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Replaces the text and saves it; what happened is on the disk. Absent: it cannot. Never rejects. */
  readonly write?: ((path: string, text: string, signal: AbortSignal) => Promise<void>) | undefined;
}

/** The editor, as tools see it. */
export interface EditorFiles {
  /**
   * The file with the text that its user has not saved; undefined: what is on the disk counts. `written`: the hash of what
   * was last written here.
   */
  readonly findUnsaved: (
    context: EditorContext,
    path: WorkspacePath,
    disk: DiskFile,
    written: string | undefined,
  ) => Promise<UnsavedText | undefined>;
  /**
   * Has the editor write a file that exists; undefined: it did not, and the file is as it was. What it saved may differ
   * from `after`, since editors format.
   */
  readonly write: (
    context: EditorContext,
    path: WorkspacePath,
    after: EncodedTextFile,
    before: TextFile,
  ) => Promise<EncodedTextFile | undefined>;
}

/** Only who has an editor loads this. */
export function createEditorFiles(ports: EditorPorts): EditorFiles {
  return {
    findUnsaved: (context, path, disk, written) => findUnsaved(ports, context, path, disk, written),
    write: (context, path, after, before) => writeByEditor(ports, context, path, after, before),
  };
}

/** What is needed of a call. */
type EditorContext = Pick<ToolContext, "workspace" | "background" | "signal">;

/** Time that after a change on disk an editor may still show the text before it. Milliseconds. */
const reloadMs = 2000;

/** What the file is on the disk. */
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
  // What was written here, and has changed on disk since, is nobody's work.
  return other?.hash === written ? undefined : other;
}

/** Undefined: the text is that of the disk, whatever its line ends, or cannot be kept. */
function toOther(text: string | undefined, { lineEnd, text: onDisk, format }: DiskFile): UnsavedText | undefined {
  if (text === undefined || lineEnd === "mixed" || text.includes("\0") || !text.isWellFormed()) return undefined;
  const other = lineEnd === undefined ? text : toLineEnd(text.replaceAll("\r\n", "\n"), lineEnd);
  if (other === onDisk) return undefined;
  const content = encodeText(other, format);
  return { text: other, bytes: content.length, content, hash: toHash(content) };
}

/**
 * An editor follows links as it finds them. Only a command of the run could put one in the way, so while one runs in the
 * background the disk alone counts. Texts with a mark, or in another encoding, stay with Sheaf as well.
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
  // The one who writes to the disk says what is wrong. A file with further names would change under all of them.
  if (!current.ok || !isSameFile(current.value.identity, before.identity) || current.value.links > 1) return undefined;
  await editor.write(path.absolute, after.text, signal);
  const saved = await readWholeFile(workspace.root, path, after.bytes + maxGrowth);
  if (!saved.ok || isSameFile(saved.value.identity, before.identity)) return undefined;
  const { bytes: content, hash } = saved.value;
  if (hash === after.hash) return after;
  const text = detectTextFormat(content)?.encoding === "utf-8" ? content.toString() : undefined;
  return text === undefined ? undefined : { text, bytes: content.length, content, hash };
}

/** What an editor's formatter may add. Bytes. */
const maxGrowth = 16 * 1024 * 1024;
