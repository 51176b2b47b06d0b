/** Globs of rules against paths that a model wrote. Pure: links are followed by the workspace, not here. */
import { parseGlob } from "./glob.ts";

/** A glob that looks at a path as the most forgiving file system would. */
export interface PathGlob {
  /** It is about names, wherever they stand: the path of a name alone tells whether it matches. */
  readonly isAnyDepth: boolean;
  /** Whether the path, or a folder that it lies in, matches. A path of several meanings matches by any of them. */
  isCovering(path: string): boolean;
  /** Whether something in this folder could match. */
  mayMatchBelow(folder: string): boolean;
}

/** Characters that some file systems leave out when they compare names. */
const ignorable = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;

/**
 * A glob without `/` (but for the end) matches at any depth, as in .gitignore; any other is relative to the workspace.
 * Undefined if it is too long.
 */
export function parsePathGlob(text: string): PathGlob | undefined {
  const isAnyDepth = !/\/+[^/]/.test(text);
  const folded = toFolded(text).replace(/(?:\/\*\*)?\/*$/, "");
  const glob = parseGlob(isAnyDepth ? `**/${folded}` : folded, { dot: true });
  if (!glob) return undefined;
  return {
    isAnyDepth,
    isCovering: (path) => toMeanings(path).some((meaning) => glob.isCovering(meaning)),
    mayMatchBelow: (folder) => toMeanings(folder).some((meaning) => glob.mayMatchBelow(meaning)),
  };
}

/**
 * The relative paths that a path may mean. An absolute path, and one that leads out and may lead in again, is taken
 * from each of its folders on: where the workspace lies is not known here.
 */
function toMeanings(path: string): string[] {
  const names: string[] = [];
  let isAnchored = !/^([\\/]|[A-Za-z]:)/.test(path);
  for (const raw of path.split(/[\\/]/)) {
    if (raw === "..") {
      if (names.pop() === undefined) isAnchored = false;
    } else if (raw !== "" && raw !== ".") {
      names.push(toComparable(raw));
    }
  }
  if (isAnchored) return [names.join("/")];
  return Array.from({ length: names.length + 1 }, (_, start) => names.slice(start).join("/"));
}

/** Without regard to case, ignorable characters, streams (`.env::$DATA`), trailing dots and blanks. */
function toComparable(name: string): string {
  const [stem = ""] = toFolded(name).split(":", 1);
  return stem.trimStart().replace(/[.\s]{1,255}$/, "") || name;
}

function toFolded(text: string): string {
  return text.normalize("NFKC").replaceAll(ignorable, "").toLowerCase();
}
