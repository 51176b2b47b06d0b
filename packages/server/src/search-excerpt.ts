/** The text around a match of a search, for a list of results (X36). */

/** Longest excerpt, and its part before the match. UTF-16 units. */
const LENGTH = 160;
const BEFORE = 50;

/** One line of text, with the places of the matches in it. */
export interface Excerpt {
  /** White space becomes one blank, and `…` marks gaps. */
  readonly text: string;
  /** UTF-16 units of `text`; `end` is the first one after the match. */
  readonly ranges: readonly Range[];
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Makes an excerpt around the first match, ignoring case. Returns undefined without a match. */
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

/** Keeps whole words and characters, as far as the match leaves room. */
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

/** Yields matches in order, without overlaps. Takes linear time in any text, since other requests wait meanwhile. */
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
    // The next search doesn't start inside a character.
    index = lower.indexOf(wanted, toPlace(next) < end ? next + 1 : next);
  }
  return undefined;
}

/**
 * Returns a function from places in the lower case of a text to places in the text, for ascending places. Only `İ` has
 * more units in lower case, namely two.
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
