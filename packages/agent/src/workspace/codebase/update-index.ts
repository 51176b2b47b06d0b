/** Updates an index to the state of the files: adds what is new or changed, removes what is gone. */
import { lstatSync } from "node:fs";
import { setImmediate as yieldToEvents } from "node:timers/promises";
import { withFolder } from "@sheaf/base/files/open-folder";
import { decodeText, detectTextFormat } from "@sheaf/base/files/text-format";
import { readSmallBytesIn } from "@sheaf/base/files/open-file";
import { createFolderReader, type FolderEntry, walkFolders } from "@sheaf/base/files/read-folder";
import type { Workspace } from "@sheaf/base/files/workspace";
import { cutLines, type CodePiece } from "./index-text.ts";
import type { IndexDatabase, IndexedFile } from "./index-database.ts";

/** A larger file is data. Bytes. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Further files are not indexed. */
const MAX_FILES = 250_000;

/** Files indexed per transaction; other events have their turn in between. */
const BATCH = 200;

export interface UpdateOptions {
  /** After this time no further files are taken, except for the first ones: each update makes progress. */
  readonly timeMs: number;
  /** New files with a higher rank are indexed first. */
  readonly toRank: (path: string) => number;
  readonly signal: AbortSignal;
}

export interface IndexState {
  /** Files that are indexed as they are now. */
  readonly files: number;
  /** Files that are not, because time was over. */
  readonly waiting: number;
  /** Those of them that the index still knows as they were. */
  readonly outdated: ReadonlySet<string>;
}

/** Changed files come first, since the index misleads about them. */
export async function updateIndex(
  database: IndexDatabase,
  workspace: Workspace,
  { timeMs, toRank, signal }: UpdateOptions,
): Promise<IndexState> {
  const end = performance.now() + timeMs;
  const known = database.listFiles();
  const [outdated, added]: [IndexedFile[], IndexedFile[]] = [[], []];
  let files = 0;
  for await (const file of listFiles(workspace, signal)) {
    files += 1;
    const before = known.get(file.path);
    known.delete(file.path);
    if (!before) added.push(file);
    else if (before.size !== file.size || before.changedAt !== file.changedAt) outdated.push(file);
  }
  const ranks = new Map(added.map(({ path }) => [path, toRank(path)]));
  const changed = [...outdated, ...added.toSorted((one, other) => ranks.get(other.path)! - ranks.get(one.path)!)];
  const toState = (taken: number): IndexState => {
    const waiting = changed.length - taken;
    return { files: files - waiting, waiting, outdated: new Set(outdated.slice(taken).map(({ path }) => path)) };
  };
  if (signal.aborted) return toState(0);
  if (known.size > 0) {
    database.transact(() => {
      for (const path of known.keys()) database.removeFile(path);
    });
  }
  let taken = 0;
  while (taken < changed.length && !signal.aborted && (taken === 0 || performance.now() < end)) {
    const batch = changed.slice(taken, taken + BATCH);
    const isTaken = database.transact(() => {
      for (const file of batch) database.addFile(file, readPieces(workspace, file));
    });
    // Another process is updating the same index: search what it has so far.
    if (!isTaken) break;
    taken += batch.length;
    await yieldToEvents();
  }
  return toState(taken);
}

/**
 * The pieces of a file; none if it is not text, too large, or cannot be read. Synchronous: for a small file that is faster
 * than the thread pool.
 */
function readPieces(workspace: Workspace, { path, size }: IndexedFile): readonly CodePiece[] {
  if (size > MAX_FILE_BYTES) return [];
  const bytes = readSmallBytesIn(workspace.root, path, MAX_FILE_BYTES);
  const format = bytes && detectTextFormat(bytes);
  const text = format && decodeText(bytes, format);
  return text === undefined ? [] : cutLines(text);
}

/** Files that ignore rules leave in; links are not followed. */
async function* listFiles(workspace: Workspace, signal: AbortSignal): AsyncGenerator<IndexedFile> {
  const reader = await createFolderReader(workspace, ".");
  let count = 0;
  for await (const { folder, entries } of walkFolders(reader, ".", signal)) {
    if (count >= MAX_FILES) return;
    for (const file of readStates(workspace.root, folder, entries)) {
      count += 1;
      yield file;
    }
  }
}

/** The folder stays open meanwhile. A file that disappears meanwhile is left out. */
function readStates(root: string, folder: string, entries: readonly FolderEntry[]): IndexedFile[] {
  const names = entries.filter(({ kind }) => kind === "file");
  if (names.length === 0) return [];
  try {
    return withFolder(root, folder, (opened) =>
      names.flatMap(({ name, path }) => {
        const stats = lstatSync(opened.entry(name), { throwIfNoEntry: false });
        return stats?.isFile() ? [{ path, size: stats.size, changedAt: stats.mtimeMs }] : [];
      }),
    );
  } catch {
    return [];
  }
}
