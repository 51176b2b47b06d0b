/** Vocabularies in the form that is fast to look up. */
import { wideCharacters } from "../character-classes.ts";
import { toFolded, toSpelledOutUmlauts } from "../fold.ts";
import type { Concept, Vocabulary } from "./vocabulary.ts";

interface WordPart {
  readonly text: string;
  /** Every word that begins so. */
  readonly isPrefix: boolean;
  /** Any words may stand before it. */
  readonly afterGap: boolean;
}

/** Words in order. */
export interface WordSequence {
  readonly concept: Concept;
  readonly parts: readonly WordPart[];
}

/** Characters that match anywhere. */
interface CharacterEntry {
  readonly concept: Concept | "glue";
  readonly text: string;
}

export interface CompiledVocabulary {
  readonly vocabulary: Vocabulary;
  /** Single words. */
  readonly words: ReadonlyMap<string, readonly Concept[]>;
  readonly sequences: readonly WordSequence[];
  /** Longest first. */
  readonly characters: readonly CharacterEntry[];
  readonly glue: ReadonlySet<string>;
}

const wideCharacter = new RegExp(`[${wideCharacters}]`);

/** Takes the entries of a vocabulary apart, once. */
export function compileVocabulary(vocabulary: Vocabulary): CompiledVocabulary {
  const words = new Map<string, Concept[]>();
  const sequences: WordSequence[] = [];
  const characters: CharacterEntry[] = [];
  const glue = new Set<string>();

  for (const [concept, entries] of Object.entries(vocabulary.concepts) as [Concept, string][]) {
    for (const entry of toSpellings(entries)) {
      if (wideCharacter.test(entry)) {
        characters.push({ concept, text: entry });
        continue;
      }
      const parts = toParts(entry);
      const [first] = parts;
      if (parts.length === 1 && first && !first.isPrefix)
        words.set(first.text, [...(words.get(first.text) ?? []), concept]);
      else sequences.push({ concept, parts });
    }
  }
  for (const entry of toSpellings(vocabulary.glue)) {
    if (wideCharacter.test(entry)) characters.push({ concept: "glue", text: entry });
    else glue.add(entry);
  }
  characters.sort((a, b) => b.text.length - a.text.length);
  return { vocabulary, words, sequences, characters, glue };
}

function toSpellings(entries: string): Set<string> {
  const spellings = new Set<string>();
  for (const entry of entries.split("|")) {
    const text = entry.trim();
    if (text === "") continue;
    spellings.add(toFolded(text));
    const other = toSpelledOutUmlauts(text);
    if (other !== undefined) spellings.add(toFolded(other));
  }
  return spellings;
}

function toParts(entry: string): WordPart[] {
  const parts: WordPart[] = [];
  let afterGap = false;
  for (const word of entry.split(/[\s']+/)) {
    if (word === "…" || word === "...") {
      afterGap = true;
      continue;
    }
    const isPrefix = word.endsWith("*");
    parts.push({ text: isPrefix ? word.slice(0, -1) : word, isPrefix, afterGap });
    afterGap = false;
  }
  return parts;
}
