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
  const matches = findMatches(text, words);
  const first = matches.next().value;
  if (!first) return undefined;
  const { from, to } = chooseWindow(text, first);
  let shown = from > 0 ? "…" : "";
  let at = from;
  const ranges: Range[] = [];
  for (let match: Range | undefined = first; match && match.start < to; match = matches.next().value) {
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

/** In order, without overlaps, as far as the caller looks. Linear in the text, whatever is in it: others wait meanwhile. */
function* findMatches(text: string, words: string): Generator<Range, undefined> {
  const wanted = words.toLowerCase();
  if (wanted === "") return undefined;
  const lower = text.toLowerCase();
  const toPlace = createPlaceFinder(text);
  let index = lower.indexOf(wanted);
  while (index !== -1) {
    const next = index + wanted.length;
    const [start, end] = [toPlace(index), toPlace(next - 1) + 1];
    yield { start, end };
    // Not from the middle of a character on.
    index = lower.indexOf(wanted, toPlace(next) < end ? next + 1 : next);
  }
  return undefined;
}

/**
 * Gives for a place in the lower case of a text the place in the text; must be asked in ascending order. `İ` alone has more
 * units in lower case, namely two.
 */
function createPlaceFinder(text: string): (place: number) => number {
  let dotted = text.indexOf("İ");
  let added = 0;
  return (place) => {
    while (dotted !== -1 && dotted + added + 1 < place) {
      added += 1;
      dotted = text.indexOf("İ", dotted + 1);
    }
    return dotted !== -1 && place > dotted + added ? dotted : place - added;
  };
}
