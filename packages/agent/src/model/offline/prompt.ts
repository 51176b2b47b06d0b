/** An instruction, with the names and quotations in it. */

/** A name or a quotation. */
export interface Mention {
  readonly kind: "path" | "folder" | "glob" | "quote";
  /** The path, the pattern or the quoted text. */
  readonly text: string;
  /** As written, with quotation marks. */
  readonly raw: string;
  /** The text between quotation marks. */
  readonly quoted?: string;
  /** The line numbers of `a.ts:10-20`. */
  readonly lines?: readonly [number, number];
  /** The character of a private area that takes its place in the text of the prompt, and where. */
  readonly mark: string;
  readonly at: number;
}

export interface Prompt {
  readonly original: string;
  /** The instruction in Unicode's NFKC form, with the marks of its mentions. */
  readonly text: string;
  /** `text` folded for comparing; offsets are the same. */
  readonly folded: string;
  /** In order. */
  readonly mentions: readonly Mention[];
}

type Name = Omit<Mention, "mark" | "at">;

/** Letters and digits of scripts with spaces between words, for character classes. */
const wordCharacters = String.raw`0-9A-Za-z_$\u00c0-\u1fff\uac00-\ud7ff`;

const marks = /[\uE000-\uF8FF]/g;
const quotation =
  /`{1,5}([^`]+)`{1,5}|(?<![\w(=[])"((?:[^"\\]|\\.)*)"|[„“]([^„“”"]*)[“”"]|«([^»]*)»|「([^」]*)」|『([^』]*)』|《([^》]*)》|(?<![^\s([{:,])['‘]([^'’\n]{1,300})['’](?![\p{L}\p{N}])/gu;
const pathWord = new RegExp(`(?:[${wordCharacters}\\-./\\\\~@+*{}:&–]|,(?=[^\\s{}]{1,40}\\}))+`, "g");
const extensions = new Set(
  (
    "md mdx rst adoc txt log csv tsv json jsonl ndjson yaml yml toml ini cfg conf lock xml html css scss svg ts tsx mts cts js jsx mjs " +
    "cjs vue svelte py ipynb rb php java kt scala gradle go rs c h cc cpp hpp m swift cs lua r dart ex hs sh bash zsh ps1 bat sql graphql " +
    "proto tf diff patch tex pdf png jpg jpeg gif webp zip gz tar bin db docx"
  ).split(" "),
);

/** Finds the mentions of an instruction. Callers pass at most 2,000 characters, so that its time is bounded (S-72). */
export function parsePrompt(original: string): Prompt {
  const found: Name[] = [];
  const hide = (name: Name): string => String.fromCharCode(0xe000 + found.push(name) - 1);
  const text = original
    .replaceAll(marks, " ")
    .replaceAll(quotation, (raw: string, ...groups: unknown[]) =>
      hide(toQuotation(raw, String(groups.find((group) => typeof group === "string")))),
    )
    .normalize("NFKC")
    .replaceAll(pathWord, (word) => {
      const core = trimWord(word);
      const name = toName(core);
      return name ? word.replace(core, () => hide(name)) : word;
    });
  const mentions = found.map((name, index) => {
    const mark = String.fromCharCode(0xe000 + index);
    return { ...name, mark, at: text.indexOf(mark) };
  });
  return { original, text, folded: toSearchText(text), mentions: mentions.toSorted((a, b) => a.at - b.at) };
}

/** A piece of `text` as it was written. */
export function restoreMentions({ mentions }: Prompt, piece: string): string {
  return piece.replaceAll(marks, (found) => mentions.find(({ mark }) => found === mark)?.raw ?? "");
}

/** Lower case without diacritics, character by character, so that the length stays. Kana keep their marks. */
export function toSearchText(text: string): string {
  return text.replaceAll(/[^a-z\s]/g, (character) => {
    if (character === "ı") return "i";
    if (character === "ß") return "s";
    const lower = character.toLowerCase();
    return (character < "\u2000" ? lower.normalize("NFD") : lower).charAt(0);
  });
}

/** The extension in lower case, without its dot; "" without one. */
export function toExtension(path: string): string {
  return /[^/]\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

export function toBaseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Without the punctuation around it, and without the end of `README-Datei`. */
function trimWord(word: string): string {
  if (word === "." || word === "..") return word;
  const core = word.replace(/^[:&,–-]+/, "").replace(/[.:&,–-]+$/, "");
  return core.replace(/-(?:dateien|datei|dosyası|files?|ordner)$/i, "");
}

/** A name with spaces needs a known extension. */
function toQuotation(raw: string, inner: string): Name {
  const quoted = inner.replaceAll('\\"', '"');
  const text = quoted.trim();
  const isSpaced = /^[\p{L}\p{N}_][\p{L}\p{N} _.()-]{1,120}$/u.test(text) && extensions.has(toExtension(text));
  const name = /[\s"<>|]/.test(text) ? undefined : toName(text);
  const kind = name?.kind ?? (isSpaced && !raw.startsWith("`") ? "path" : "quote");
  return { kind, text: name?.text ?? (kind === "path" ? text : quoted), raw, quoted };
}

/** What a word names; undefined for one that is just a word. */
function toName(raw: string): Name | undefined {
  // `**bold**` is emphasis.
  if (/\*.*[./]|[./].*\*|\{[^{}]+\}/.test(raw)) return { kind: "glob", text: raw, raw };
  const numbers = /^(.+):(\d{1,7})(?:[-–](\d{1,7}))?$/u.exec(raw);
  const word = numbers?.[1] ?? raw;
  const isReadme = /^readme$/i.test(word);
  const kind = isReadme ? "path" : toNameKind(word);
  if (kind === undefined) return undefined;
  if (kind === "glob") return { kind, text: `*${word}`, raw };
  const text = isReadme ? "README.md" : word.replace(/^\.\/(?=.)/, "").replace(/(?<=.)\/$/, "");
  return { kind, text, raw, ...(numbers && { lines: [Number(numbers[2]), Number(numbers[3] ?? numbers[2])] }) };
}

function toNameKind(word: string): "path" | "folder" | "glob" | undefined {
  if (word === "." || word === "..") return "folder";
  // `1.2.3`, `2/3`, `e.g`, `and/or`, and addresses
  if (!/\p{L}/u.test(word) || /^\p{L}\.\p{L}$|:\/\//u.test(word)) return undefined;
  if (/^(?:and\/or|und\/oder|ve\/veya|true\/false|yes\/no|input\/output|n\/a)$/i.test(word)) return undefined;
  if (word.includes("/")) return toExtension(word) === "" ? "folder" : "path";
  if (/^\.[a-z]/i.test(word)) return extensions.has(word.slice(1).toLowerCase()) ? "glob" : "path";
  return /[\p{L}\p{N}].*\.\p{L}[\p{L}\p{N}]{0,9}$/u.test(word) ? "path" : undefined;
}
