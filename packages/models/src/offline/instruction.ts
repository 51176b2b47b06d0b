/** Reads the meaning of an instruction: its language, its files and quotations, and the concepts of its words. */
import table from "./languages.json" with { type: "json" };

/** Regular expressions for words, from `read` to `goal`, and phrases, some in parts separated by `|`. */
export type Language = Readonly<Record<keyof typeof table, string>>;

/** The columns of the table: English, German, Turkish, Japanese, Traditional Chinese. */
const languages = [0, 1, 2, 3, 4].map(
  (at) => Object.fromEntries(Object.entries(table).map(([key, row]) => [key, row.split(" ¦ ")[at]])) as Language,
);
const concepts = ["known", "read", "summary", "write", "replace", "run", "plan", "not"] as const;
type Concept = (typeof concepts)[number];

export interface Instruction {
  readonly text: string;
  readonly language: Language;
  readonly paths: readonly string[];
  readonly quotes: readonly string[];
  /** The first quotation in backticks. */
  readonly code: string | undefined;
  readonly has: (concept: Concept) => boolean;
}

const quotation = /`+([^`]+)`+|"((?:[^"\\]|\\.)*)"|[„“]([^„“”"]*)[“”"]|「([^」]*)」/gu;
const fileName =
  /(?<![\p{Script=Latin}\d_./~:-])[\p{Script=Latin}\d_./~-]*[\p{Script=Latin}\d_-]\.(?:[a-z][a-z\d]{1,9}|[chr])(?![\p{Script=Latin}\d_])/giu;

/** Reads an instruction. Callers pass at most 2,000 characters, so that its time is bounded (S-72). */
export function readInstruction(text: string): Instruction {
  const quotes = [...text.matchAll(quotation)].map(
    ([, ...groups]) => groups.find((group) => group !== undefined) ?? "",
  );
  const unquoted = text.replaceAll(quotation, " ");
  const names = unquoted.match(fileName) ?? [];
  const words = unquoted.replaceAll(fileName, " ");
  const count = (one: Language, concept: Concept): number => words.match(toWordPattern(one[concept]))?.length ?? 0;
  const scores = languages.map((one) => concepts.reduce((sum, concept) => sum + count(one, concept), 0));
  const language = languages[scores.indexOf(Math.max(...scores))]!;
  return {
    text,
    language,
    paths: names.length > 0 ? names : quotes.filter((quote) => /^[^\s"<>|`]{0,200}[./][^\s"<>|`]{1,200}$/.test(quote)),
    quotes,
    code: /`+([^`]+)`+/.exec(text)?.[1]?.trim(),
    has: (concept) => count(language, concept) > 0,
  };
}

/** Returns a pattern that matches words as a whole. Characters of other scripts have no spaces around them. */
export function toWordPattern(words: string): RegExp {
  return new RegExp(`(?<!\\p{Script=Latin})(?:${words})(?!\\p{Script=Latin})`, "giu");
}
