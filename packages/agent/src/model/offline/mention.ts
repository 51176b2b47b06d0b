/** Names of files, folders and patterns inside an instruction. */

import { wideCharacters, wordCharacters } from "./character-classes.ts";
import { programs } from "./programs.ts";

const wordCharacter = new RegExp(`[${wordCharacters}${wideCharacters}]`);
const fileEnding = new RegExp(`^(?!\\d)[${wordCharacters}]{1,10}$`);

/** Something that the instruction names or quotes. */
export interface Mention {
  readonly kind: "path" | "folder" | "glob" | "extension" | "quote" | "block" | "url";
  /** What is meant: the path, or the quoted text. */
  readonly text: string;
  /** As it was written, with quotation marks. */
  readonly raw: string;
  readonly quoted?: true;
  /** Quoted with backticks. */
  readonly code?: true;
  /** `README` without an ending: the real name may differ. */
  readonly guessed?: true;
  /** Looks like a path, but could be code: `app.use`. */
  readonly doubtful?: true;
  /** From `a.ts:10-20`. */
  readonly startLine?: number;
  readonly endLine?: number;
}

const extensions = new Set(
  (
    "md mdx markdown rst adoc txt text log csv tsv json jsonc json5 jsonl ndjson yaml yml toml ini cfg conf env lock xml html htm " +
    "css scss sass less svg ts tsx mts cts js jsx mjs cjs vue svelte astro py pyi ipynb rb php java kt kts scala groovy gradle " +
    "go rs c h cc cpp cxx hpp hh m mm swift cs fs fsx vb lua pl pm r jl dart ex exs erl hs clj elm ml nim zig sh bash zsh fish ps1 " +
    "bat cmd sql graphql gql proto tf hcl dockerfile makefile mk cmake diff patch tex bib pdf png jpg jpeg gif webp ico zip gz tar " +
    "tgz wasm exe dll so bin dat db sqlite doc docx xls xlsx ppt pptx key pem crt out err tmp bak example sample srt vtt plist"
  ).split(" "),
);

const abbreviations = new Set([
  "e.g",
  "i.e",
  "z.b",
  "u.a",
  "d.h",
  "o.ä",
  "v.a",
  "a.m",
  "p.m",
  "vb",
  "u.s",
  "s.o",
  "s.u",
]);

/** Pairs that are written with a slash and are no path. */
const slashWords = new Set(
  "and or und oder ve veya read write input output client server true false yes no on off he she his her ja nein tcp ip i o n a".split(
    " ",
  ),
);

const bareNames = new Map([
  ["readme", "README.md"],
  ["makefile", "Makefile"],
  ["dockerfile", "Dockerfile"],
  ["procfile", "Procfile"],
  ["gemfile", "Gemfile"],
  ["justfile", "justfile"],
]);

/** Names that are words too: only when written in capitals. */
const capitalNames = new Map([
  ["LICENSE", "LICENSE"],
  ["LICENCE", "LICENCE"],
  ["CHANGELOG", "CHANGELOG.md"],
  ["CONTRIBUTING", "CONTRIBUTING.md"],
  ["CODEOWNERS", "CODEOWNERS"],
  ["NOTICE", "NOTICE"],
]);

/** What a run of letters, digits and `_-./*…` names; undefined when it is just a word. */
export function toMention(run: string): Mention | undefined {
  const raw = trimRun(run);
  if (raw === "") return undefined;
  if (/^[a-z][a-z+.-]{1,20}:\/\//i.test(raw)) return { kind: "url", text: raw, raw };
  if (raw.includes("*")) return /[^*]/.test(raw) ? { kind: "glob", text: raw, raw } : undefined;
  if (/\{[^{}]{1,100}\}/.test(raw) && /[./]/.test(raw)) return { kind: "glob", text: raw, raw };
  const range = /^(.{1,500}?):(\d{1,7})(?:[-–:](\d{1,7}))?$/u.exec(raw);
  if (range) {
    const file = toPathMention(range[1] ?? "", raw);
    if (file) {
      const startLine = Number(range[2]);
      return { ...file, startLine, endLine: range[3] === undefined ? startLine : Number(range[3]) };
    }
  }
  return toPathMention(raw, raw);
}

/** What a quoted text names, if it is a path; else it is a quotation. */
export function toQuotedMention(text: string, raw: string, code: boolean): Mention {
  const marks = { quoted: true as const, ...(code && { code: true as const }) };
  const trimmed = text.trim();
  if (trimmed !== "" && trimmed.length <= 500 && !/[\n"<>|]/.test(trimmed)) {
    const mention = /\s/.test(trimmed) ? toSpacedPath(trimmed, raw) : toMention(trimmed);
    if (mention && !mention.doubtful && mention.kind !== "url") return { ...mention, raw, ...marks };
  }
  return { kind: "quote", text, raw, ...marks };
}

/** The extension of a path in lower case, without its dot; "" when there is none. */
export function toExtension(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
}

/** The part of a path behind its last slash. */
export function toBaseName(path: string): string {
  const trimmed = path.endsWith("/") ? path.slice(0, -1) : path;
  return trimmed.slice(trimmed.lastIndexOf("/") + 1);
}

function toPathMention(word: string, raw: string): Mention | undefined {
  if (word === "" || abbreviations.has(word.toLowerCase())) return undefined;
  const bare = bareNames.get(word.toLowerCase()) ?? capitalNames.get(word);
  if (bare !== undefined)
    return { kind: "path", text: bare, raw, ...(bare.includes(".") && { guessed: true as const }) };
  if (/^[\d.,:%$#+-]+$/.test(word) || /^(?:\.{1,2}|[/\\])$/.test(word)) {
    return word === "." || word === ".." ? { kind: "folder", text: word, raw } : undefined;
  }
  if (/^\d+([/.-]\d+)+$/.test(word)) return undefined;
  if (/^\.[a-z0-9]{1,10}$/i.test(word)) {
    return extensions.has(word.slice(1).toLowerCase()) && word !== ".env"
      ? { kind: "extension", text: word.slice(1).toLowerCase(), raw }
      : { kind: "path", text: word, raw };
  }
  if (word.includes("/")) return toSlashMention(word, raw);
  return toDottedMention(word, raw);
}

function toSlashMention(word: string, raw: string): Mention | undefined {
  const segments = word.split("/").filter((segment) => segment !== "");
  if (segments.every((segment) => slashWords.has(segment.toLowerCase()))) return undefined;
  const path = word.length > 2 && word.startsWith("./") ? word.slice(2) : word;
  if (path.endsWith("/")) return { kind: "folder", text: path.length > 1 ? path.slice(0, -1) : path, raw };
  const isFile = toExtension(path) !== "" || bareNames.has((segments.at(-1) ?? "").toLowerCase());
  return { kind: isFile ? "path" : "folder", text: path, raw };
}

function toDottedMention(word: string, raw: string): Mention | undefined {
  if (/^\.[a-z][\w.-]{1,60}$/i.test(word)) return { kind: "path", text: word, raw };
  const extension = toExtension(word);
  if (!fileEnding.test(extension)) return undefined;
  const stem = word.slice(0, word.length - extension.length - 1);
  if (!wordCharacter.test(stem)) return undefined;
  return extensions.has(extension)
    ? { kind: "path", text: word, raw }
    : { kind: "path", text: word, raw, doubtful: true };
}

/** A quoted name with blanks inside: `my notes.txt`. */
function toSpacedPath(text: string, raw: string): Mention | undefined {
  if (!extensions.has(toExtension(text)) || text.length > 120 || !/^[\p{L}\p{N} _.()/-]+$/u.test(text))
    return undefined;
  // A command such as `cat a.txt` is no name.
  return programs.has(text.split(" ", 1)[0] ?? "") ? undefined : { kind: "path", text, raw };
}

/** Without the punctuation around it, and without a German compound's `-Datei`. */
function trimRun(run: string): string {
  let start = 0;
  let end = run.length;
  while (start < end && ",:;?!%$&=+#)]}".includes(run.charAt(start))) start += 1;
  while (end > start && ",.:;?!&=([{-–".includes(run.charAt(end - 1)) && !isDots(run.slice(start, end))) end -= 1;
  let text = run.slice(start, end);
  if (text.endsWith("]") && !text.includes("[")) text = text.slice(0, -1);
  return text.replace(/-(?:dateien|datei|dosyasi|dosyası|files?|ordner|verzeichnis)$/i, "");
}

function isDots(text: string): boolean {
  return text === "." || text === "..";
}
