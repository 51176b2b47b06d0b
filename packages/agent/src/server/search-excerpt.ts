/** The text around a match of a search, for a list of results (X36). */

/** Longest excerpt, and how much of it comes before the match. UTF-16 units. */
const LENGTH = 160;
const BEFORE = 50;

/** One line of text, with the places of the matches in it. */
export interface Excerpt {
  /** White space is one blank; `…` where something is left out. */
  readonly text: string;
  /** UTF-16 units of `text`; `end` is the first one after the match. */
  readonly ranges: readonly Range[];
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Around the first match, ignoring case; undefined: there is none. */
export function findExcerpt(text: string, words: string): Excerpt | undefined {
  const find = createFinder(text, words);
  const first = find(0);
  if (!first) return undefined;
  const { from, to } = chooseWindow(text, first);
  let shown = from > 0 ? "…" : "";
  let at = from;
  const ranges: Range[] = [];
  for (let match: Range | undefined = first; match && match.start < to; match = find(match.end)) {
    const before = toOneLine(text.slice(at, match.start));
    shown += at === 0 ? before.trimStart() : before;
    at = Math.min(match.end, to);
    const start = shown.length;
    shown += toOneLine(text.slice(match.start, at));
    ranges.push({ start, end: shown.length });
  }
  const rest = toOneLine(text.slice(at, to));
  return { text: `${shown}${to < text.length ? `${rest}…` : rest.trimEnd()}`, ranges };
}

function toOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

/** Whole words and characters, as far as the match leaves room. */
function chooseWindow(text: string, match: Range): { readonly from: number; readonly to: number } {
  let from = Math.max(0, match.start - BEFORE);
  if (from > 0) {
    const space = text.slice(from, match.start).search(/\s/);
    from = space === -1 ? from : from + space + 1;
    if (isInsidePair(text, from)) from += 1;
  }
  let to = Math.min(text.length, from + LENGTH);
  if (to < text.length) {
    const rest = /^(.*)\s/s.exec(text.slice(match.end, to));
    to = rest && match.end < to ? match.end + rest[1]!.length : to;
    if (isInsidePair(text, to)) to -= 1;
  }
  return { from, to };
}

function isInsidePair(text: string, index: number): boolean {
  return /^[\uDC00-\uDFFF]/.test(text.slice(index, index + 1));
}

/** Finds the next match from the end of a character on. In lower case a text may be longer: `İ` has two units then. */
function createFinder(text: string, words: string): (from: number) => Range | undefined {
  const wanted = words.toLowerCase();
  const whole = text.toLowerCase();
  const isSame = whole.length === text.length;
  const characters = isSame ? [] : listCharacters(text);
  const lower = isSame ? whole : [...text].map((character) => character.toLowerCase()).join("");
  return (from) => {
    const begin = isSame ? from : characters.findIndex(({ start }) => start >= from);
    const index = begin === -1 || wanted === "" ? -1 : lower.indexOf(wanted, begin);
    if (index === -1) return undefined;
    const end = index + wanted.length;
    return isSame ? { start: index, end } : { start: characters[index]!.start, end: characters[end - 1]!.end };
  };
}

/** For each unit of the text in lower case, the character of the text that it is from. */
function listCharacters(text: string): readonly Range[] {
  const characters: Range[] = [];
  let start = 0;
  for (const character of text) {
    const end = start + character.length;
    for (let unit = 0; unit < character.toLowerCase().length; unit += 1) characters.push({ start, end });
    start = end;
  }
  return characters;
}
