/** Globs without regular expressions: the time is bounded, whatever a model or a repository writes (S-72). */
import { toComparable, toFolded } from "../../workspace/comparable-name.ts";

/** A compiled glob. Paths are relative with `/`; "" and "." are the root. */
export interface Glob {
  isMatch(path: string): boolean;
  /** Whether the path or one of the folders above it matches. */
  isCovering(path: string): boolean;
  /** Whether something below this folder could match. */
  mayMatchBelow(folder: string): boolean;
}

/**
 * `*` and `?` within a name, `**` for any folders, `[a-z]`, `[!a-z]`, `{a,b}`, `\` to escape a character.
 * Names that begin with a dot are matched only by a part that begins with one, unless `dot` is set.
 */
export interface GlobOptions {
  readonly dot?: boolean;
}

/** Alternatives that braces may make. */
const maxAlternatives = 256;
/** UTF-16 units. */
const maxLength = 1024;

type Token =
  | { readonly kind: "star" | "any" }
  | { readonly kind: "set"; readonly isIn: (character: string) => boolean };
/** A part is `**`, a plain name, or tokens. */
type Part = { readonly kind: "folders" } | { readonly kind: "name"; readonly name: string } | WildPart;
interface WildPart {
  readonly kind: "wild";
  readonly tokens: readonly (Token | string)[];
  readonly isDotted: boolean;
}

/** The glob, or undefined if it is too long or its braces make too many alternatives. */
export function parseGlob(pattern: string, options: GlobOptions = {}): Glob | undefined {
  const alternatives = pattern.length > maxLength ? undefined : expandBraces(pattern);
  if (alternatives === undefined) return undefined;
  const globs = alternatives.map((text) => createGlob(text, options.dot ?? false));
  return {
    isMatch: (path) => globs.some((glob) => glob.isMatch(path)),
    isCovering: (path) => globs.some((glob) => glob.isCovering(path)),
    mayMatchBelow: (folder) => globs.some((glob) => glob.mayMatchBelow(folder)),
  };
}

/** Without braces. A state is the number of parts that are matched. */
function createGlob(text: string, dot: boolean): Glob {
  const parts = toSegments(text).map(toPart);
  const start = close(new Set([0]), parts);
  const end = parts.length;

  const walk = (path: string, onStates: (states: ReadonlySet<number>) => boolean): ReadonlySet<number> => {
    let states: ReadonlySet<number> = start;
    for (const name of toSegments(path)) {
      states = step(states, name, parts, dot);
      if (states.size === 0 || onStates(states)) break;
    }
    return states;
  };
  return {
    isMatch: (path) => walk(path, () => false).has(end),
    isCovering: (path) => start.has(end) || walk(path, (states) => states.has(end)).has(end),
    mayMatchBelow: (folder) => walk(folder, (states) => states.has(end)).size > 0,
  };
}

function toSegments(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function step(states: ReadonlySet<number>, name: string, parts: readonly Part[], dot: boolean): ReadonlySet<number> {
  const next = new Set<number>();
  for (const state of states) {
    const part = parts[state];
    if (part === undefined) continue;
    if (part.kind === "folders") {
      if (dot || !name.startsWith(".")) next.add(state);
    } else if (isPartMatch(part, name, dot)) {
      next.add(state + 1);
    }
  }
  return close(next, parts);
}

/** `**` may match nothing. */
function close(states: Set<number>, parts: readonly Part[]): Set<number> {
  for (const state of states) if (parts[state]?.kind === "folders") states.add(state + 1);
  return states;
}

function isPartMatch(part: Exclude<Part, { kind: "folders" }>, name: string, dot: boolean): boolean {
  if (part.kind === "name") return part.name === name;
  if (!dot && name.startsWith(".") && !part.isDotted) return false;
  return isTokenMatch(part.tokens, [...name]);
}

/** Goes back to the last star only, so the time is at most the product of both lengths. */
function isTokenMatch(tokens: readonly (Token | string)[], characters: readonly string[]): boolean {
  let token = 0;
  let index = 0;
  let star = -1;
  let starIndex = 0;
  while (index < characters.length) {
    const current = tokens[token];
    if (isStar(current)) {
      star = token;
      starIndex = index;
      token += 1;
    } else if (current !== undefined && isOneMatch(current, characters[index]!)) {
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
  while (isStar(tokens[token])) token += 1;
  return token === tokens.length;
}

function isStar(token: Token | string | undefined): boolean {
  return typeof token === "object" && token.kind === "star";
}

function isOneMatch(token: Token | string, character: string): boolean {
  if (typeof token === "string") return token === character;
  return token.kind === "set" ? token.isIn(character) : token.kind === "any";
}

function toPart(text: string): Part {
  if (text === "**") return { kind: "folders" };
  const tokens: (Token | string)[] = [];
  const characters = [...text];
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index]!;
    const set = character === "[" ? parseSet(characters, index) : undefined;
    if (set) {
      tokens.push(set.token);
      index = set.end;
    } else if (character === "\\" && index + 1 < characters.length) {
      index += 1;
      tokens.push(characters[index]!);
    } else {
      tokens.push(character === "*" ? { kind: "star" } : character === "?" ? { kind: "any" } : character);
    }
  }
  if (tokens.every((token) => typeof token === "string")) return { kind: "name", name: tokens.join("") };
  return { kind: "wild", tokens, isDotted: tokens[0] === "." };
}

/** A `[` that is never closed is literal. */
function parseSet(characters: readonly string[], start: number): { token: Token; end: number } | undefined {
  const isNegated = characters[start + 1] === "!" || characters[start + 1] === "^";
  const first = start + (isNegated ? 2 : 1);
  // A closing bracket in first place is literal.
  const end = characters.indexOf("]", first + 1);
  if (end < 0) return undefined;
  const members = characters.slice(first, end);
  const ranges: [string, string][] = [];
  for (let index = 0; index < members.length; index += 1) {
    const isRange = members[index + 1] === "-" && index + 2 < members.length;
    ranges.push([members[index]!, members[isRange ? index + 2 : index]!]);
    if (isRange) index += 2;
  }
  const isIn = (character: string): boolean =>
    ranges.some(([low, high]) => low <= character && character <= high) !== isNegated;
  return { token: { kind: "set", isIn }, end };
}

/** All alternatives; undefined if there are too many. Braces without a comma are literal. */
function expandBraces(pattern: string): string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const choice = findChoice(text);
    if (!choice) done.push(text);
    else for (const option of choice.options) open.push(choice.before + option + choice.after);
    if (done.length + open.length > maxAlternatives) return undefined;
  }
  return done;
}

/** The first pair of braces with a comma. */
function findChoice(text: string): { before: string; options: string[]; after: string } | undefined {
  for (let start = 0; start < text.length; start += 1) {
    if (text[start] === "\\") start += 1;
    else if (text[start] === "{") {
      const choice = readChoice(text, start);
      if (choice && choice.options.length > 1) return choice;
    }
  }
  return undefined;
}

function readChoice(text: string, start: number): { before: string; options: string[]; after: string } | undefined {
  const options: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (character === "\\") index += 1;
    else if (character === "{") depth += 1;
    else if (character === "," && depth === 1) {
      options.push(text.slice(from, index));
      from = index + 1;
    } else if (character === "}") {
      depth -= 1;
      if (depth === 0) {
        return {
          before: text.slice(0, start),
          options: [...options, text.slice(from, index)],
          after: text.slice(index + 1),
        };
      }
    }
  }
  return undefined;
}

/** A glob of a rule, which compares paths as the most lenient file system would. Pure: it follows no links. */
export interface PathGlob {
  /** It matches names at any depth: the name alone decides. */
  readonly isAnyDepth: boolean;
  /** Whether the path, or a folder above it, matches. An ambiguous path matches by any of its meanings. */
  isCovering(path: string): boolean;
  /** Whether something in this folder could match. */
  mayMatchBelow(folder: string): boolean;
}

/**
 * A glob without `/` (except at its end) matches at any depth, as in .gitignore; any other is relative to the workspace.
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
 * from each of its folders on: the location of the workspace is not known here.
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
