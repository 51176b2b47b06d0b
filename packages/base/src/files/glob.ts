/** Matches globs in bounded time, whatever text a model or a repository wrote: without regular expressions (S-72). */
import { realpathSync } from "node:fs";
import { posix } from "node:path";
import { toComparable, toFolded } from "./comparable-name.ts";
import { isBelow } from "./workspace.ts";

/** A compiled glob. Paths are relative with `/`; "" and "." are the root. */
export interface Glob {
  isMatch(path: string): boolean;
  /** True if the path or one of the folders above it matches. */
  isCovering(path: string): boolean;
  /** True if a path below this folder could match. */
  mayMatchBelow(folder: string): boolean;
}

/** Most alternatives that braces may make. */
const maxAlternatives = 256;
/** Most UTF-16 units of a pattern. */
const maxLength = 1024;

/** A test of one character; `star` allows any characters. */
type Token = "star" | ((character: string) => boolean);
/** A test of one name; `folders` allows any names. */
type Part = "folders" | ((name: string) => boolean);

/**
 * Parses a glob: `*` and `?` within a name, `**` for any folders, `[a-z]`, `[!a-z]`, `{a,b}`, `\` to escape a
 * character. Undefined if the pattern is too long or its braces make too many alternatives.
 */
export function parseGlob(pattern: string): Glob | undefined {
  const alternatives = pattern.length > maxLength ? undefined : expandBraces(pattern);
  if (alternatives === undefined) return undefined;
  const globs = alternatives.map(createGlob);
  return {
    isMatch: (path) => globs.some((glob) => glob.isMatch(path)),
    isCovering: (path) => globs.some((glob) => glob.isCovering(path)),
    mayMatchBelow: (folder) => globs.some((glob) => glob.mayMatchBelow(folder)),
  };
}

/** Creates a glob without braces. A state is the number of matched parts. */
function createGlob(text: string): Glob {
  const parts = toSegments(text).map(toPart);
  const start = close(new Set([0]), parts);
  const end = parts.length;
  // Most searches use the form `**/*.ts`.
  const ofName = end === 2 && parts[0] === "folders" && parts[1] !== "folders" ? parts[1] : undefined;

  const walk = (path: string, onStates: (states: ReadonlySet<number>) => boolean): ReadonlySet<number> => {
    let states: ReadonlySet<number> = start;
    for (const name of toSegments(path)) {
      states = step(states, name, parts);
      if (states.size === 0 || onStates(states)) break;
    }
    return states;
  };
  return {
    isMatch(path) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      return ofName && name !== "" && name !== "." ? ofName(name) : walk(path, () => false).has(end);
    },
    isCovering(path) {
      if (ofName) return toSegments(path).some(ofName);
      return start.has(end) || walk(path, (states) => states.has(end)).has(end);
    },
    mayMatchBelow: (folder) => walk(folder, (states) => states.has(end)).size > 0,
  };
}

function toSegments(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function step(states: ReadonlySet<number>, name: string, parts: readonly Part[]): ReadonlySet<number> {
  const next = new Set<number>();
  for (const state of states) {
    const part = parts[state];
    if (part === "folders") next.add(state);
    else if (part?.(name)) next.add(state + 1);
  }
  return close(next, parts);
}

/** Adds the states for a `**` that matches no name. */
function close(states: Set<number>, parts: readonly Part[]): Set<number> {
  for (const state of states) if (parts[state] === "folders") states.add(state + 1);
  return states;
}

/** Backtracks to the last star only, so the time is at most the product of both lengths. */
function isMatch(tokens: readonly Token[], characters: readonly string[]): boolean {
  let token = 0;
  let index = 0;
  let star = -1;
  let starIndex = 0;
  while (index < characters.length) {
    const current = tokens[token];
    if (current === "star") {
      star = token;
      starIndex = index;
      token += 1;
    } else if (current?.(characters[index]!)) {
      token += 1;
      index += 1;
    } else if (star >= 0) {
      token = star + 1;
      starIndex += 1;
      index = starIndex;
    } else {
      return false;
    }
  }
  while (tokens[token] === "star") token += 1;
  return token === tokens.length;
}

function toPart(text: string): Part {
  if (text === "**") return "folders";
  if (!/[*?[\\]/.test(text)) return (name) => name === text;
  if (/^\*[^*?[\\]+$/.test(text)) return (name) => name.endsWith(text.slice(1));
  // An unclosed `[` is literal, as is a closing bracket in first place.
  const pieces = text.match(/\[(?:[!^][^]|[^!^])[^\]]*\]|\\[^]|[^]/gu) ?? [];
  const tokens = pieces.map(toToken);
  return (name) => isMatch(tokens, [...name]);
}

function toToken(piece: string): Token {
  if (piece === "*") return "star";
  if (piece === "?") return () => true;
  if (piece.length > 2 && piece.startsWith("[")) return toSet(piece.slice(1, -1));
  const literal = piece.replace(/^\\(?=[^])/, "");
  return (character) => character === literal;
}

function toSet(text: string): Token {
  const isNegated = /^[!^]/.test(text);
  const ranges = text.slice(isNegated ? 1 : 0).match(/[^]-[^]|[^]/gu) ?? [];
  const pairs = ranges.map((range) => [...range]).map((range) => [range[0]!, range.at(-1)!] as const);
  return (character) => pairs.some(([low, high]) => low <= character && character <= high) !== isNegated;
}

/** Returns all alternatives, innermost braces first; undefined if too many. Braces without a comma are literal. */
function expandBraces(pattern: string): string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const [whole, before = "", inner = ""] = innermostBraces.exec(text) ?? [];
    if (whole === undefined) done.push(text);
    else {
      const after = text.slice(whole.length);
      const options = [...`,${inner}`.matchAll(/,((?:[^,\\]|\\[^])*)/g)].map(([, option = ""]) => option);
      if (options.length < 2) options[0] = `\\{${inner}\\}`;
      for (const option of options) open.push(before + option + after);
    }
    if (done.length + open.length > maxAlternatives) return undefined;
  }
  return done;
}

const innermostBraces = /^((?:[^\\]|\\[^])*?)\{((?:[^{}\\]|\\[^])*)\}/;

/** A glob of a rule, which compares paths as the most lenient file system would. */
export interface PathGlob {
  /** True if the name alone decides, at any depth. */
  readonly isAnyDepth: boolean;
  /** True if the path, or a folder above it, matches. An ambiguous path matches by any of its meanings. */
  isCovering(path: string): boolean;
  /** True if a path in this folder could match. */
  mayMatchBelow(folder: string): boolean;
  /**
   * Returns the glob for the paths of a folder: absolute, links resolved. `/…` and `~/…` may also be absolute paths, so
   * they cover places in the folder by their relative paths.
   */
  in(folder: string): PathGlob;
}

/** A rule `Read(glob)` or `Write(glob)` that denies a file. */
export interface FileRule {
  readonly kind: "Read" | "Write";
  /** The original text of the rule, for messages. */
  readonly text: string;
  readonly glob: PathGlob;
}

/**
 * Parses a rule's glob. Without `/` (except at its end) it matches at any depth, as in .gitignore; otherwise it is
 * relative to the workspace. Undefined if it is too long. `home` is the folder for `~`, absolute.
 */
export function parsePathGlob(text: string, home = ""): PathGlob | undefined {
  const isAnyDepth = !/\/+[^/]/.test(text);
  const glob = parseFoldedGlob(text, isAnyDepth ? "**/" : "");
  if (!glob) return undefined;
  const found: PathGlob = {
    isAnyDepth,
    isCovering: (path) => toMeanings(path).some((meaning) => glob.isCovering(meaning)),
    mayMatchBelow: (folder) => toMeanings(folder).some((meaning) => glob.mayMatchBelow(meaning)),
    in: (folder) =>
      /^~?\//.test(text) && !isAnyDepth
        ? placeGlob(
            found,
            text.replace(/^~/, () => home),
            folder,
          )
        : found,
  };
  return found;
}

function parseFoldedGlob(text: string, start = ""): Glob | undefined {
  return parseGlob(start + toFolded(text).replace(/(?:\/\*\*)?\/*$/, ""));
}

/** Follows links in the fixed folders at the start of a rule, and compares the rest with paths in them. */
function placeGlob(glob: PathGlob, text: string, folder: string): PathGlob {
  const names = posix.normalize(text).split("/");
  const wild = names.findIndex((name) => /[*?[{\\]/.test(name));
  let count = wild < 0 ? names.length : wild;
  let start = toRealPath(names.slice(0, count));
  while (start === undefined || !isBelow(folder, start)) start = toRealPath(names.slice(0, --count));
  const rest = parseFoldedGlob(names.slice(count).join("/"))!;
  const from = start;
  const toMeaning = (path: string): string[] => {
    const place = posix.resolve(folder, path);
    return isBelow(place, from) ? toMeanings(posix.relative(from, place)).slice(0, 1) : [];
  };
  return {
    ...glob,
    isCovering: (path) => glob.isCovering(path) || toMeaning(path).some((meaning) => rest.isCovering(meaning)),
    mayMatchBelow: (path) => glob.mayMatchBelow(path) || toMeaning(path).some((meaning) => rest.mayMatchBelow(meaning)),
  };
}

/** Returns the real path; "/" for no names, undefined for a missing place. */
function toRealPath(names: readonly string[]): string | undefined {
  try {
    return realpathSync(names.join("/") || "/");
  } catch {
    return undefined;
  }
}

/**
 * Returns the relative paths that a path may mean. The location of the workspace is unknown here. So an absolute path,
 * or a path that leaves the workspace and may enter it again, may start after any of its folders.
 */
function toMeanings(path: string): string[] {
  const names: string[] = [];
  let isAnchored = !/^([\\/]|[A-Za-z]:)/.test(path);
  for (const raw of path.split(/[\\/]/)) {
    if (raw === "..") {
      if (names.pop() === undefined) isAnchored = false;
    } else if (raw !== "" && raw !== ".") {
      names.push(toComparable(raw) || raw);
    }
  }
  if (isAnchored) return [names.join("/")];
  return Array.from({ length: names.length + 1 }, (_, start) => names.slice(start).join("/"));
}
