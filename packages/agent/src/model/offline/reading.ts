/** What an instruction says: its language, and the concepts that its words stand for. */
import { chinese } from "./languages/chinese.ts";
import { english, type Language } from "./languages/english.ts";
import { german } from "./languages/german.ts";
import { japanese } from "./languages/japanese.ts";
import { turkish } from "./languages/turkish.ts";
import { parsePrompt, toFolded, wordCharacters, type Prompt } from "./prompt.ts";

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

/** Reads an instruction; `fallback` is the language of one that shows none. */
export type PromptReader = (text: string, fallback: Language) => Reading;

type Patterns = readonly (readonly [Concept | "glue", RegExp])[];

interface Found {
  readonly language: Language;
  readonly places: Map<Concept, Place>;
  /** Characters of all words that the language knows. */
  score: number;
}

const wide = /[\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff]/;
const nowhere = { start: Infinity, end: Infinity };

/** Compiles the words of a language when the first prompt in its script comes. */
export function createPromptReader(): PromptReader {
  const compiled = new Map<Language, Patterns>();
  const compile = (language: Language): Patterns => {
    const patterns = compiled.get(language) ?? compileWords(language);
    compiled.set(language, patterns);
    return patterns;
  };
  return (text, fallback) => {
    const prompt = parsePrompt(text);
    const languages = wide.test(prompt.text) ? [chinese, japanese, english] : [english, german, turkish];
    const found = languages.map((language) => findConcepts(prompt.folded, language, compile(language)));
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
  };
}

function compileWords({ words }: Language): Patterns {
  return words
    .trim()
    .split("\n")
    .map((line) => {
      const [concept = "", entries = ""] = line.split(": ");
      const spellings = entries.split(" | ").flatMap(toSpellings);
      const source = spellings.toSorted((a, b) => b.length - a.length).map(toSource);
      return [concept as Concept | "glue", new RegExp(source.join("|"), "gs")];
    });
}

/** An entry folded; and with `ae`, `oe`, `ue`, `ss` for German letters. */
function toSpellings(entry: string): string[] {
  const text = entry.toLowerCase();
  const spelled = text.replaceAll("ä", "ae").replaceAll("ö", "oe").replaceAll("ü", "ue").replaceAll("ß", "ss");
  return [toFolded(text), toFolded(spelled)];
}

/** Words match as a whole, wide characters anywhere. `*` is any ending, `…` are any words between. */
function toSource(entry: string): string {
  if (wide.test(entry)) return entry;
  const source = entry
    .replaceAll(" … ", String.raw`\b.{1,200}?\b`)
    .replaceAll(/[\s']+/g, String.raw`[\s'’-]{1,3}`)
    .replaceAll("*", `[${wordCharacters}]*`);
  return `(?<![${wordCharacters}])${source}(?![${wordCharacters}])`;
}

function findConcepts(folded: string, language: Language, patterns: Patterns): Found {
  const found: Found = { language, places: new Map(), score: 0 };
  for (const [concept, pattern] of patterns) {
    for (const match of folded.matchAll(pattern)) {
      const place = { start: match.index, end: match.index + match[0].length };
      found.score += Math.min(match[0].length, 20);
      if (concept !== "glue" && !found.places.has(concept)) found.places.set(concept, place);
    }
  }
  return found;
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
