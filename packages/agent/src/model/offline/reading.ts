/** What an instruction says: its language, the concepts in it, and what is left when they are taken out. */
import { kanaCharacters, wideCharacters } from "./character-classes.ts";
import type { Language } from "./language.ts";
import { parsePrompt, type PlacedMention, type Prompt, type Token } from "./prompt.ts";
import { chinese } from "./vocabulary/chinese.ts";
import { compileVocabulary, type CompiledVocabulary, type WordSequence } from "./vocabulary/compile-vocabulary.ts";
import { english } from "./vocabulary/english.ts";
import { german } from "./vocabulary/german.ts";
import { japanese } from "./vocabulary/japanese.ts";
import { turkish } from "./vocabulary/turkish.ts";
import type { Concept, Vocabulary } from "./vocabulary/vocabulary.ts";

export interface Reading {
  readonly prompt: Prompt;
  readonly language: Language;
  /** Whether the language was seen in the words, and not just assumed. */
  readonly isLanguageKnown: boolean;
  readonly vocabulary: Vocabulary;
  readonly mentions: readonly PlacedMention[];
  has(...concepts: readonly Concept[]): boolean;
  /** Where the concept is said first, in `prompt.folded`; Infinity when it is not. */
  positionOf(concept: Concept): number;
  /** Words that belong to no concept and are no glue; Chinese and Japanese ones as runs without particles. */
  readonly restWords: readonly RestWord[];
}

/** A word that no rule knows. */
export interface RestWord {
  readonly text: string;
  /** Place in the row of words; neighbours differ by one. */
  readonly place: number;
  readonly at: number;
  readonly maskedAt: number;
  readonly isCjk: boolean;
}

/** Reads instructions; knows the vocabularies. */
export interface PromptReader {
  /** `fallback` is the language of a text that shows none. */
  read(text: string, fallback: Language): Reading;
}

interface Found {
  readonly positions: Map<Concept, number>;
  /** Without greetings behind the first word: they are words like any other there. */
  readonly usedTokens: Set<number>;
  /** Ranges of characters in `folded`. */
  readonly ranges: { readonly start: number; readonly end: number }[];
  score: number;
}

const kana = new RegExp(`[${kanaCharacters}]`);
const wide = new RegExp(`[${wideCharacters}]`);
const latinVocabularies = [english, german, turkish];
const wideVocabularies = [english, japanese, chinese];

/** Compiles a vocabulary when a prompt in its script comes. */
export function createPromptReader(): PromptReader {
  const compiled = new Map<Language, CompiledVocabulary>();
  const compile = (vocabulary: Vocabulary): CompiledVocabulary => {
    const entry = compiled.get(vocabulary.language) ?? compileVocabulary(vocabulary);
    compiled.set(vocabulary.language, entry);
    return entry;
  };
  return {
    read(text, fallback) {
      const prompt = parsePrompt(text);
      const isWide = prompt.tokens.some(({ isCjk }) => isCjk);
      const wanted = isWide ? wideVocabularies : latinVocabularies;
      // A prompt without words, such as a file name, is in the language of the conversation.
      const assumed = wideVocabularies.filter((vocabulary) => vocabulary.language === fallback);
      const vocabularies = [...new Set([...wanted, ...assumed])].map(compile);
      const found = new Map(vocabularies.map((entry) => [entry.vocabulary.language, findConcepts(prompt, entry)]));
      const { language, isKnown } = detectLanguage(prompt, found, fallback);
      const own = vocabularies.find((entry) => entry.vocabulary.language === language);
      const base = vocabularies.find((entry) => entry.vocabulary.language === "en");
      if (!own || !base) throw new Error(`no vocabulary for ${language}`);
      return toReading(prompt, [own, base], found, isKnown);
    },
  };
}

/** English words are understood beside those of the language. */
function toReading(
  prompt: Prompt,
  [own, base]: readonly [CompiledVocabulary, CompiledVocabulary],
  found: ReadonlyMap<Language, Found>,
  isLanguageKnown: boolean,
): Reading {
  const language = own.vocabulary.language;
  const sources = [...new Set([own, base])].map((entry) => found.get(entry.vocabulary.language));
  const positions = new Map<Concept, number>();
  for (const source of sources) {
    for (const [concept, at] of source?.positions ?? []) {
      positions.set(concept, Math.min(at, positions.get(concept) ?? Infinity));
    }
  }
  return {
    prompt,
    language,
    isLanguageKnown,
    vocabulary: own.vocabulary,
    mentions: prompt.mentions,
    has: (...concepts) => concepts.some((concept) => positions.has(concept)),
    positionOf: (concept) => positions.get(concept) ?? Infinity,
    restWords: toRestWords(prompt, [own, base], sources),
  };
}

function findConcepts(prompt: Prompt, vocabulary: CompiledVocabulary): Found {
  const found: Found = { positions: new Map(), usedTokens: new Set(), ranges: [], score: 0 };
  const note = (concept: Concept, at: number, weight: number): void => {
    found.positions.set(concept, Math.min(at, found.positions.get(concept) ?? Infinity));
    found.score += weight;
  };
  prompt.tokens.forEach((token, index) => {
    if (vocabulary.glue.has(token.folded)) found.score += 1;
    const concepts = vocabulary.words.get(token.folded);
    if (!concepts) return;
    const isPolite = concepts.every((concept) => concept === "greeting" || concept === "thanks");
    if (!isPolite || index === 0) found.usedTokens.add(index);
    for (const concept of concepts) note(concept, token.at, 0);
    found.score += 2;
  });
  for (const sequence of vocabulary.sequences) {
    const places = findSequence(prompt.tokens, sequence);
    if (!places) continue;
    for (const place of places) found.usedTokens.add(place);
    note(sequence.concept, prompt.tokens[places[0] ?? 0]?.at ?? 0, 2 + places.length);
  }
  if (prompt.tokens.some((token) => token.isCjk)) findCharacters(prompt, vocabulary, found, note);
  return found;
}

function findCharacters(
  prompt: Prompt,
  vocabulary: CompiledVocabulary,
  found: Found,
  note: (concept: Concept, at: number, weight: number) => void,
): void {
  for (const { concept, text } of vocabulary.characters) {
    let at = prompt.folded.indexOf(text);
    if (at === -1) continue;
    if (concept !== "glue") note(concept, at, text.length);
    // A single character may be part of another word: it is taken off at the edges only.
    if (text.length === 1 || concept === "glue") continue;
    for (let count = 0; at !== -1 && count < 50; count += 1) {
      found.ranges.push({ start: at, end: at + text.length });
      at = prompt.folded.indexOf(text, at + text.length);
    }
  }
}

/** Places of the words of a sequence, in order; undefined when one is missing. */
function findSequence(tokens: readonly Token[], { parts }: WordSequence): number[] | undefined {
  const [first] = parts;
  if (!first) return undefined;
  for (let start = 0; start < tokens.length; start += 1) {
    if (!isPart(tokens[start], first)) continue;
    const places = [start];
    for (const part of parts.slice(1)) {
      let next = (places.at(-1) ?? start) + 1;
      if (part.afterGap) while (next < tokens.length && !isPart(tokens[next], part)) next += 1;
      if (!isPart(tokens[next], part)) break;
      places.push(next);
    }
    if (places.length === parts.length) return places;
  }
  return undefined;
}

function isPart(token: Token | undefined, part: { readonly text: string; readonly isPrefix: boolean }): boolean {
  if (!token) return false;
  return part.isPrefix ? token.folded.startsWith(part.text) : token.folded === part.text;
}

/** By script, then by how many words of each language are there. */
function detectLanguage(
  prompt: Prompt,
  found: ReadonlyMap<Language, Found>,
  fallback: Language,
): { language: Language; isKnown: boolean } {
  const text = prompt.masked;
  const scoreOf = (language: Language): number => found.get(language)?.score ?? 0;
  if (kana.test(text)) return { language: "ja", isKnown: true };
  if (wide.test(text)) {
    const isJapanese = scoreOf("ja") > scoreOf("zh-TW") || (scoreOf("ja") === scoreOf("zh-TW") && fallback === "ja");
    return { language: isJapanese ? "ja" : "zh-TW", isKnown: true };
  }
  const scores: [Language, number][] = [
    ["en", scoreOf("en")],
    ["de", scoreOf("de") + (/[äöüß]/i.test(text) ? 2 : 0)],
    ["tr", scoreOf("tr") + (/[ğşıİ]/.test(text) ? 4 : 0) + (/[çöü]/i.test(text) ? 1 : 0)],
  ];
  const best = Math.max(...scores.map(([, score]) => score));
  if (best === 0) return { language: fallback, isKnown: false };
  const winners = scores.filter(([, score]) => score === best).map(([language]) => language);
  return { language: winners.includes(fallback) ? fallback : (winners[0] ?? "en"), isKnown: true };
}

function toRestWords(
  prompt: Prompt,
  vocabularies: readonly CompiledVocabulary[],
  sources: readonly (Found | undefined)[],
): RestWord[] {
  const words: RestWord[] = [];
  prompt.tokens.forEach((token, place) => {
    if (/^[\uE000-\uE1FF]$/.test(token.text)) return;
    if (token.isCjk) {
      const ranges = sources.flatMap((source) => source?.ranges ?? []);
      for (const { text, at } of toUncovered(prompt.folded, token, ranges)) {
        const piece = toBare(text, vocabularies);
        if (piece.text === "") continue;
        const start = at + piece.offset;
        words.push({ text: piece.text, place, at: start, maskedAt: token.maskedAt + start - token.at, isCjk: true });
      }
      return;
    }
    const isKnown =
      sources.some((source) => source?.usedTokens.has(place)) ||
      vocabularies.some(({ glue }) => glue.has(token.folded));
    if (!isKnown) words.push({ text: token.text, place, at: token.at, maskedAt: token.maskedAt, isCjk: false });
  });
  return words;
}

/** Without the particles and single-character words at both ends. */
function toBare(text: string, vocabularies: readonly CompiledVocabulary[]): { text: string; offset: number } {
  const edges = vocabularies.flatMap(({ characters }) =>
    characters.filter((entry) => entry.concept === "glue" || entry.text.length === 1).map((entry) => entry.text),
  );
  let start = 0;
  let end = text.length;
  for (let isDone = false; !isDone && start < end;) {
    const rest = text.slice(start, end);
    const head = edges.find((edge) => rest.startsWith(edge));
    const tail = edges.find((edge) => rest.endsWith(edge));
    if (head !== undefined) start += head.length;
    else if (tail !== undefined) end -= tail.length;
    else isDone = true;
  }
  return start < end ? { text: text.slice(start, end), offset: start } : { text: "", offset: 0 };
}

/** The parts of a token that no range covers. */
function toUncovered(
  folded: string,
  token: Token,
  ranges: readonly { readonly start: number; readonly end: number }[],
): { text: string; at: number }[] {
  const pieces: { text: string; at: number }[] = [];
  let open = -1;
  const end = token.at + token.folded.length;
  for (let at = token.at; at <= end; at += 1) {
    const isCovered = at === end || ranges.some((range) => at >= range.start && at < range.end);
    if (!isCovered && open === -1) open = at;
    if (isCovered && open !== -1) {
      pieces.push({ text: folded.slice(open, at), at: open });
      open = -1;
    }
  }
  return pieces;
}
