/** Finds places in code by words, through an index of each folder. */
import { createHash } from "node:crypto";
import { join, posix } from "node:path";
import { readLines } from "../read-file.ts";
import type { Workspace } from "../workspace.ts";
import { type FoundPiece, type IndexDatabase, isDamaged, openIndexDatabase, removeIndex } from "./index-database.ts";
import { toQueryWords } from "./index-text.ts";
import { updateIndex } from "./update-index.ts";

/** A part of a file that matches a query. */
export interface CodePlace {
  /** Relative to the folder that was searched, with `/`. */
  readonly path: string;
  /** 1-based, included. */
  readonly startLine: number;
  readonly endLine: number;
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

/** Where to search. */
interface CodeScope {
  /** The workspace, or a folder that the user added. */
  readonly workspace: Workspace;
  /** Relative, "." for all of it. */
  readonly folders: readonly string[];
}

/** Finds places by words. */
export interface CodeSearch {
  /** @throws an error of the file system or the database. */
  search(query: string, scope: CodeScope, signal: AbortSignal): Promise<CodeSearchResult>;
}

/** How long one search may index files. Milliseconds. */
const UPDATE_MS = 45_000;

const MAX_PLACES = 12;
/** Places of one file. */
const MAX_PER_FILE = 3;
/** Bytes of a place that are shown. */
const MAX_PLACE_BYTES = 8 * 1024;
/** Pieces considered: most are discarded where folders are named. */
const MAX_CANDIDATES = 2000;

/**
 * Each folder has its own index: a file in `index` of Sheaf's data folder, named by the hash of the folder's root and
 * readable by this user only. Without a data folder the index is in memory, for the lifetime of this object.
 */
export function createCodeSearch(dataFolder: string | undefined): CodeSearch {
  const inMemory = new Map<string, IndexDatabase>();

  const open = (root: string): IndexDatabase => {
    if (dataFolder !== undefined) return openIndexDatabase(toIndexFile(dataFolder, root));
    const known = inMemory.get(root) ?? openIndexDatabase(undefined);
    inMemory.set(root, known);
    return known;
  };

  const run: CodeSearch["search"] = async (query, { workspace, folders }, signal) => {
    const words = toQueryWords(query);
    const database = open(workspace.root);
    try {
      const { files, waiting } = await updateIndex(database, workspace, UPDATE_MS, signal);
      const found = words.length === 0 ? [] : database.findPieces(words, MAX_CANDIDATES);
      const places: CodePlace[] = [];
      for (const piece of choosePieces(found, folders)) {
        const place = await readPlace(workspace, piece, signal);
        if (place) places.push(place);
      }
      return { places, words, files, waiting };
    } finally {
      if (dataFolder !== undefined) database.close();
    }
  };

  const runSafely = async (query: string, scope: CodeScope, signal: AbortSignal): Promise<CodeSearchResult> => {
    try {
      return await run(query, scope, signal);
    } catch (error) {
      if (dataFolder === undefined || !isDamaged(error)) throw error;
      removeIndex(toIndexFile(dataFolder, scope.workspace.root));
      return run(query, scope, signal);
    }
  };

  let last: Promise<unknown> = Promise.resolve();
  return {
    search(query, scope, signal) {
      // One after the other: two writers would wait for each other.
      const result = last.then(() => runSafely(query, scope, signal));
      last = result.catch(() => undefined);
      return result;
    },
  };
}

function toIndexFile(dataFolder: string, root: string): string {
  const name = createHash("sha256").update(root).digest("hex").slice(0, 32);
  return join(dataFolder, "index", `${name}.db`);
}

/** The best ones in these folders, a few of each file. */
function choosePieces(found: readonly FoundPiece[], folders: readonly string[]): FoundPiece[] {
  const counts = new Map<string, number>();
  const chosen: FoundPiece[] = [];
  for (const piece of found) {
    if (!folders.some((folder) => folder === "." || piece.path === folder || piece.path.startsWith(`${folder}/`)))
      continue;
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
