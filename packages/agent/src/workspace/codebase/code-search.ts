/** The port to the indexes of folders. */
import type { Workspace } from "../workspace.ts";

/** A part of a file that fits a query. */
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
  /** Words of the query that were looked for. */
  readonly words: readonly string[];
  /** Files in the index. */
  readonly files: number;
  /** Files that could not be taken in yet, because it took too long; the next search goes on. */
  readonly waiting: number;
}

/** Where places are looked for. */
export interface CodeScope {
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
