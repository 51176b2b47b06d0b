/** What an instruction says: its language, and the concepts that its words express. */
import { chinese } from "./languages/chinese.ts";
import { english, type Language } from "./languages/english.ts";
import { german } from "./languages/german.ts";
import { japanese } from "./languages/japanese.ts";
import { turkish } from "./languages/turkish.ts";
import { parsePrompt, toSearchText, type Prompt } from "./prompt.ts";

/** What a word can mean. Each language lists its words for every concept; the rules combine concepts. */
type Concept =
  | "about"
  | "ask_me"
  | "asking"
  | "delete"
  | "file"
  | "find"
  | "help"
  | "lines"
  | "list"
  | "plan"
  | "project"
  | "rename"
  | "replace"
  | "run"
  | "show"
  | "summarise"
  | "tests"
  | "this"
  | "todo_list"
  | "write";

/** Where a word begins and ends; Infinity if it is not there. */
interface Place {
  readonly start: number;
  readonly end: number;
}

export interface Reading {
  readonly prompt: Prompt;
  readonly language: Language;
  /** Whether the words show the language; it is assumed otherwise. */
  readonly isLanguageKnown: boolean;
  readonly has: (...concepts: readonly Concept[]) => boolean;
  /** The first word for a concept. */
  readonly placeOf: (concept: Concept) => Place;
}

interface Found {
  readonly language: Language;
  readonly places: Map<Concept, Place>;
  /** Characters of all words that the language knows. */
  score: number;
}

const wide = /[\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff]/;
const nowhere = { start: Infinity, end: Infinity };

/** Reads an instruction; `fallback` is the language of one that shows none. */
export function readIntent(text: string, fallback: Language): Reading {
  const prompt = parsePrompt(text);
  const languages = wide.test(prompt.text) ? [chinese, japanese, english] : [english, german, turkish];
  const found = languages.map((language) => findConcepts(prompt.folded, language));
  const language = detectLanguage(prompt.text, found);
  // English words are understood in every language.
  const used = found.filter((entry) => entry.language === (language ?? fallback) || entry.language === english);
  const placeOf = (concept: Concept): Place =>
    used.flatMap(({ places }) => places.get(concept) ?? []).toSorted((a, b) => a.start - b.start)[0] ?? nowhere;
  return {
    prompt,
    language: language ?? fallback,
    isLanguageKnown: language !== undefined,
    has: (...concepts) => concepts.some((concept) => placeOf(concept) !== nowhere),
    placeOf,
  };
}

/** Also with `ae`, `oe`, `ue`, `ss` for German letters. */
function parseWords({ words }: Language): (readonly [Concept | "glue", string])[] {
  return words.split("\n").flatMap((line) => {
    const [concept = "", entries = ""] = line.toLowerCase().replaceAll("'", " ").split(": ");
    const spelled = entries.replaceAll("ä", "ae").replaceAll("ö", "oe").replaceAll("ü", "ue").replaceAll("ß", "ss");
    const folded = new Set([entries, spelled].flatMap((text) => toSearchText(text).split(" | ")));
    return [...folded].filter((entry) => entry !== "").map((entry) => [concept as Concept | "glue", entry] as const);
  });
}

/** Without regular expressions: V8 would take 40 ms to compile them. */
function findConcepts(folded: string, language: Language): Found {
  const found: Found = { language, places: new Map(), score: 0 };
  const text = folded.replaceAll(/['’-]/g, " ");
  for (const [concept, entry] of parseWords(language)) {
    const [first = "", last] = entry.split(" … ");
    const place = findWords(text, first, 0);
    // Any words can be between the two.
    const end = place && last !== undefined ? findWords(text, last, place.end)?.end : place?.end;
    if (!place || end === undefined) continue;
    found.score += entry.length;
    const known = found.places.get(concept as Concept);
    if (concept === "glue" || (known && known.start < place.start)) continue;
    const isSame = known?.start === place.start;
    found.places.set(concept, { start: place.start, end: isSame ? Math.max(known.end, end) : end });
  }
  return found;
}

/** Words match as a whole, wide characters anywhere. A `*` is any ending. */
function findWords(text: string, words: string, from: number): Place | undefined {
  const isPrefix = words.endsWith("*");
  const stem = isPrefix ? words.slice(0, -1) : words;
  for (let start = text.indexOf(stem, from); start !== -1; start = text.indexOf(stem, start + 1)) {
    const end = start + stem.length;
    const isCut = /\w/.test(text.charAt(start - 1)) || (!isPrefix && /\w/.test(text.charAt(end)));
    if (!isCut || wide.test(stem)) return { start, end };
  }
  return undefined;
}

/** By script, then by how much of the text each language knows; undefined if none knows a word. */
function detectLanguage(text: string, found: readonly Found[]): Language | undefined {
  if (/[\u3041-\u309f\u30a1-\u30fa]/.test(text)) return japanese;
  const isWide = wide.test(text);
  const letters = new Map([
    [german, /[äöüß]/i],
    [turkish, /[ğşıİçöü]/],
  ]);
  for (const entry of found) if (letters.get(entry.language)?.test(text)) entry.score += 3;
  const others = found.filter(({ language }) => !isWide || language !== english);
  const best = others.reduce((top, entry) => (entry.score > top.score ? entry : top));
  return best.score > 0 || isWide ? best.language : undefined;
}
