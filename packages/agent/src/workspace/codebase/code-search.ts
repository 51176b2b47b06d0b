/** Finds places in code by words, through an index of each folder. */
import { hash } from "node:crypto";
import { join, posix } from "node:path";
import { setImmediate as yieldToEvents } from "node:timers/promises";
import { readLines } from "@sheaf/base/files/read-file";
import type { Workspace } from "@sheaf/base/files/workspace";
import { type FoundPiece, type IndexDatabase, isDamaged, openIndexDatabase, removeIndex } from "./index-database.ts";
import { toQueryWords } from "./index-text.ts";
import { type IndexState, updateIndex } from "./update-index.ts";

/** A part of a file that matches a query. */
export interface CodePlace extends FoundPiece {
  readonly text: string;
}

export interface CodeSearchResult {
  /** The best first. */
  readonly places: readonly CodePlace[];
  /** Words of the query that were searched. */
  readonly words: readonly string[];
  /** Files in the index. */
  readonly files: number;
  /** Files not indexed yet, because time ran out; the next search continues. */
  readonly waiting: number;
}

interface CodeScope {
  /** The workspace, or a folder that the user added. */
  readonly workspace: Workspace;
  /** Relative, "." for all of it. */
  readonly folders: readonly string[];
}

interface SearchCall {
  /** Searches are numbered as they are requested. */
  readonly number: number;
  readonly scope: CodeScope;
  readonly signal: AbortSignal;
}

export interface CodeSearch {
  /** @throws an error of the file system or the database. */
  search(query: string, scope: CodeScope, signal: AbortSignal): Promise<CodeSearchResult>;
}

/** How long one search may index files, since a person waits. Milliseconds. */
const UPDATE_MS = 6000;

const MAX_PLACES = 12;
/** Places of one file. */
const MAX_PER_FILE = 3;
/** Bytes of a place that are shown. */
const MAX_PLACE_BYTES = 8 * 1024;
/** Pieces considered: most are discarded where folders are named. */
const MAX_CANDIDATES = 2000;

/**
 * Each folder has its own index: a file in `index` of Sheaf's data folder, named by the hash of the folder's root and
 * readable by this user only. Without a data folder the index is in memory, for the lifetime of this object. `updateMs`: for tests.
 */
export function createCodeSearch(dataFolder: string | undefined, updateMs: number = UPDATE_MS): CodeSearch {
  const inMemory = new Map<string, IndexDatabase>();
  /** By root: the last update that left nothing waiting. */
  const updates = new Map<string, { readonly lastSearch: number; readonly state: IndexState }>();
  let searches = 0;

  const open = (root: string): IndexDatabase => {
    if (dataFolder !== undefined) return openIndexDatabase(toIndexFile(dataFolder, root));
    const known = inMemory.get(root) ?? openIndexDatabase(undefined);
    inMemory.set(root, known);
    return known;
  };

  /** Searches requested at once share an update: it saw every change that was made before they were requested. */
  const update = async (database: IndexDatabase, words: readonly string[], call: SearchCall): Promise<IndexState> => {
    const { workspace, folders } = call.scope;
    const known = updates.get(workspace.root);
    // A call that leaves places out has to meet them.
    if (known && call.number <= known.lastSearch && !workspace.leftOut) return known.state;
    // Other calls of the same turn are still to come.
    await yieldToEvents();
    const lastSearch = searches;
    const toRank = (path: string): number => rankPath(path, folders, words);
    const state = await updateIndex(database, workspace, { timeMs: updateMs, toRank, signal: call.signal });
    if (state.waiting === 0 && !call.signal.aborted) updates.set(workspace.root, { lastSearch, state });
    return state;
  };

  const run = async (query: string, call: SearchCall): Promise<CodeSearchResult> => {
    const { scope, signal } = call;
    const { workspace, folders } = scope;
    const words = toQueryWords(query);
    const database = open(workspace.root);
    try {
      const { files, waiting, outdated } = await update(database, words, call);
      const found = words.length === 0 ? [] : database.findPieces(words, MAX_CANDIDATES);
      const places: CodePlace[] = [];
      const visible = found.filter(({ path }) => !workspace.leftOut?.has(path));
      for (const piece of choosePieces(visible, folders, outdated)) {
        const place = await readPlace(workspace, piece, signal);
        if (place) places.push(place);
      }
      return { places, words, files, waiting };
    } finally {
      if (dataFolder !== undefined) database.close();
    }
  };

  const runSafely = async (query: string, call: SearchCall): Promise<CodeSearchResult> => {
    try {
      return await run(query, call);
    } catch (error) {
      const { root } = call.scope.workspace;
      if (dataFolder === undefined || !isDamaged(error)) throw error;
      removeIndex(toIndexFile(dataFolder, root));
      updates.delete(root);
      return run(query, call);
    }
  };

  let last: Promise<unknown> = Promise.resolve();
  return {
    search(query, scope, signal) {
      // One after the other: two writers would wait for each other.
      searches += 1;
      const call = { number: searches, scope, signal };
      const result = last.then(() => runSafely(query, call));
      last = result.catch(() => undefined);
      return result;
    },
  };
}

function toIndexFile(dataFolder: string, root: string): string {
  const name = hash("sha256", root, "hex").slice(0, 32);
  return join(dataFolder, "index", `${name}.db`);
}

/** Files where the search looks come before others, and in each group those whose path has a word of the query. */
function rankPath(path: string, folders: readonly string[], words: readonly string[]): number {
  const name = path.toLowerCase();
  return (isWithin(path, folders) ? 2 : 0) + (words.some((word) => name.includes(word)) ? 1 : 0);
}

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => folder === "." || path === folder || path.startsWith(`${folder}/`));
}

/** The best ones in these folders, a few of each file. `outdated`: files whose lines may be others now. */
function choosePieces(
  found: readonly FoundPiece[],
  folders: readonly string[],
  outdated: ReadonlySet<string>,
): FoundPiece[] {
  const counts = new Map<string, number>();
  const chosen: FoundPiece[] = [];
  for (const piece of found) {
    if (!isWithin(piece.path, folders) || outdated.has(piece.path)) continue;
    const count = (counts.get(piece.path) ?? 0) + 1;
    counts.set(piece.path, count);
    if (count <= MAX_PER_FILE) chosen.push(piece);
    if (chosen.length === MAX_PLACES) break;
  }
  return chosen;
}

async function readPlace(
  workspace: Workspace,
  { path, startLine, endLine }: FoundPiece,
  signal: AbortSignal,
): Promise<CodePlace | undefined> {
  const place = { absolute: posix.join(workspace.root, path), relative: path, named: path };
  const range = { startLine, maxLines: endLine - startLine + 1, maxBytes: MAX_PLACE_BYTES };
  const lines = await readLines(workspace.root, place, range, signal);
  return lines.ok ? { path, startLine, endLine, text: lines.value.text } : undefined;
}
