/** The port to the index of a workspace. */

/** A part of a file that fits a query. */
export interface CodePlace {
  /** Relative to the workspace with `/`. */
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

/** Finds places by words. */
export interface CodeSearch {
  /** `folders`: relative, "." for all. @throws an error of the file system or the database. */
  search(query: string, folders: readonly string[], signal: AbortSignal): Promise<CodeSearchResult>;
}
