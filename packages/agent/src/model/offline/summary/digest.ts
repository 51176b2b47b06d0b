/** What there is to say about a text, before it is put into the words of a language. */
import type { Label, Unit } from "../phrases/phrases.ts";

export interface Digest {
  readonly title?: string;
  /** Sentences of the text that say what it is for. */
  readonly purpose: readonly string[];
  /** Sentences and list items of the text. */
  readonly points: readonly string[];
  readonly outline: readonly OutlineEntry[];
  /** Lines to run, without their prompt sign. */
  readonly commands: readonly string[];
  /** Labelled lists, such as scripts or exports. */
  readonly sections: readonly DigestSection[];
  readonly counts: readonly DigestCount[];
  /** A text that JSON could not read: why. */
  readonly invalidJson?: string;
  /** Only a sample of a long text was weighed. */
  readonly isSampled?: true;
  /** Only the first lines of a long text were read. */
  readonly readLines?: { readonly read: number; readonly total: number };
}

export interface OutlineEntry {
  /** From 0. */
  readonly depth: number;
  readonly text: string;
}

export interface DigestSection {
  readonly label: Label;
  readonly entries: readonly DigestEntry[];
  /** Entries that were left out. */
  readonly more: number;
}

export interface DigestEntry {
  readonly text: string;
  /** Shown as code. */
  readonly isCode?: true;
  /** Behind the text. */
  readonly note?: string;
  /** 1-based line in the source. */
  readonly line?: number;
}

export interface DigestCount {
  readonly unit: Unit;
  readonly count: number;
  /** Behind the count, such as the languages of code blocks. */
  readonly note?: string;
}

/** The first entries of a list, and how many were left out. */
export function toSection(label: Label, entries: readonly DigestEntry[], limit: number): DigestSection[] {
  if (entries.length === 0) return [];
  return [{ label, entries: entries.slice(0, limit), more: Math.max(0, entries.length - limit) }];
}

/** Counts without those that are zero. */
export function toCounts(...counts: readonly (readonly [Unit, number, string?])[]): DigestCount[] {
  return counts
    .filter(([, count]) => count > 0)
    .map(([unit, count, note]) => ({ unit, count, ...(note !== undefined && note !== "" && { note }) }));
}

/** Lines of a text; an empty line at its end counts for nothing. */
export function toLines(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
