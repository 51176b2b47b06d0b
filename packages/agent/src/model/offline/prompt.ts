/** An instruction, taken apart: its words, and the names and quotations in it. */
import { wideCharacters, wordCharacters } from "./character-classes.ts";
import { toFolded } from "./fold.ts";
import { toMention, toQuotedMention, type Mention } from "./mention.ts";

/** One word, or one run of Chinese or Japanese characters. */
export interface Token {
  /** As written. */
  readonly text: string;
  readonly folded: string;
  /** Offset in `Prompt.folded`. */
  readonly at: number;
  /** Offset in `Prompt.masked`. */
  readonly maskedAt: number;
  readonly isCjk: boolean;
}

export interface Prompt {
  /** As written. */
  readonly original: string;
  /** Each mention is one placeholder character. Case kept, forms narrowed (NFKC). */
  readonly masked: string;
  /** `masked` folded for comparing. Placeholders are the same. */
  readonly folded: string;
  readonly tokens: readonly Token[];
  readonly mentions: readonly PlacedMention[];
}

export type PlacedMention = Mention & {
  /** Offset of the placeholder in `folded`. */
  readonly at: number;
  /** Offset of the placeholder in `masked`. */
  readonly maskedAt: number;
};

const firstPlaceholder = 0xe000;
const mentionLimit = 500;
const tokenPattern = new RegExp(`[\\uE000-\\uE1FF]|[${wordCharacters}]+|[${wideCharacters}]+`, "g");
/** A comma belongs to a run only inside the braces of a pattern: `*.{ts,tsx}`. */
const runPattern = new RegExp(`(?:[${wordCharacters}\\-./\\\\~@+*{}\\[\\]#%:=&–]|,(?=[^\\s{}]{1,40}\\}))+`, "g");
const wideTail = new RegExp(`[${wideCharacters}]+$`);
const wideStart = new RegExp(`^[${wideCharacters}]`);
const wordCharacter = new RegExp(`[${wordCharacters}]`);

/** Verbs that can stand right before a Chinese or Japanese file name. */
const cjkVerbs = /^(?:請|请)?(?:讀取|读取|閱讀|阅读|顯示|显示|總結|总结|摘要|打開|打开|開啟|看看|讀|读|看|把|將|将)/u;

const closingMarks: Readonly<Record<string, string>> = {
  '"': '"',
  "“": "”",
  "„": "“",
  "«": "»",
  "»": "«",
  "「": "」",
  "『": "』",
  "《": "》",
  "‘": "’",
  "'": "'",
};

/** Takes an instruction apart. Linear; the instruction is short (see `instruction.ts`). */
export function parsePrompt(original: string): Prompt {
  const mentions: Mention[] = [];
  const masked = maskPaths(maskQuotations(withoutPlaceholders(original), mentions), mentions);
  const { tokens, folded } = toTokens(masked);
  const placed = mentions.map((mention, index) => {
    const placeholder = String.fromCharCode(firstPlaceholder + index);
    return { ...mention, at: folded.indexOf(placeholder), maskedAt: masked.indexOf(placeholder) };
  });
  placed.sort((a, b) => a.at - b.at);
  return { original, masked, folded, tokens, mentions: placed };
}

/** A piece of `masked` as it was written. */
export function restoreMentions(prompt: Prompt, piece: string): string {
  if (!/[\uE000-\uE1FF]/.test(piece)) return piece;
  return piece.replaceAll(/[\uE000-\uE1FF]/g, (placeholder) => {
    const mention = prompt.mentions.find(({ maskedAt }) => prompt.masked.charAt(maskedAt) === placeholder);
    return mention?.raw ?? "";
  });
}

function withoutPlaceholders(text: string): string {
  return /[\uE000-\uE1FF]/.test(text) ? text.replaceAll(/[\uE000-\uE1FF]/g, " ") : text;
}

function toPlaceholder(mentions: Mention[], mention: Mention): string {
  mentions.push(mention);
  return String.fromCharCode(firstPlaceholder + mentions.length - 1);
}

function maskQuotations(text: string, mentions: Mention[]): string {
  let masked = "";
  let plain = 0;
  let index = 0;
  while (index < text.length && mentions.length < mentionLimit) {
    const quotation = readQuotation(text, index);
    if (!quotation) {
      index += 1;
      continue;
    }
    masked += text.slice(plain, index).normalize("NFKC") + toPlaceholder(mentions, quotation.mention);
    index = quotation.end;
    plain = index;
  }
  return masked + text.slice(plain).normalize("NFKC");
}

interface Quotation {
  readonly mention: Mention;
  readonly end: number;
}

function readQuotation(text: string, start: number): Quotation | undefined {
  const mark = text.charAt(start);
  if (mark === "`") return readBackticks(text, start);
  const closing = closingMarks[mark];
  if (closing === undefined) return undefined;
  const isApostrophe = mark === "'" || mark === "‘";
  if (isApostrophe && start > 0 && !/[\s([{:,]/.test(text.charAt(start - 1))) return undefined;
  // `print("hi")`: quotation marks of code.
  if (mark === '"' && start > 0 && /[\w(=[]/.test(text.charAt(start - 1))) return undefined;
  let end = findClosing(text, start + 1, closing);
  // „so“, but also „so” and "so".
  if (end === -1 && mark === "„") end = findClosing(text, start + 1, "”");
  if (end === -1 && (mark === "„" || mark === "“")) end = findClosing(text, start + 1, '"');
  if (end === -1) return undefined;
  if (isApostrophe && (end - start > 300 || wordCharacter.test(text.charAt(end + 1)))) return undefined;
  const raw = text.slice(start, end + 1);
  const content = raw.slice(1, -1).replaceAll(`\\${closing}`, closing);
  return { mention: toQuotedMention(content, raw, false), end: end + 1 };
}

function findClosing(text: string, from: number, closing: string): number {
  let end = text.indexOf(closing, from);
  while (end > 0 && text.charAt(end - 1) === "\\") end = text.indexOf(closing, end + 1);
  return end;
}

function readBackticks(text: string, start: number): Quotation | undefined {
  let length = 1;
  while (text.charAt(start + length) === "`") length += 1;
  const fence = "`".repeat(length);
  let end = text.indexOf(fence, start + length);
  // The closing run has the same length.
  while (end !== -1 && text.charAt(end + length) === "`") {
    while (text.charAt(end) === "`") end += 1;
    end = text.indexOf(fence, end);
  }
  if (end === -1) return undefined;
  const raw = text.slice(start, end + length);
  const inner = text.slice(start + length, end);
  const lineEnd = inner.indexOf("\n");
  if (length >= 3 && lineEnd !== -1) {
    const content = inner.slice(lineEnd + 1);
    return { mention: { kind: "block", text: content, raw, quoted: true, code: true }, end: end + length };
  }
  return { mention: toQuotedMention(inner, raw, true), end: end + length };
}

function maskPaths(text: string, mentions: Mention[]): string {
  let masked = "";
  let plain = 0;
  for (const match of text.matchAll(runPattern)) {
    if (mentions.length >= mentionLimit) break;
    const run = match[0];
    const mention = toMention(run);
    if (!mention) continue;
    let start = match.index + run.indexOf(mention.raw);
    const end = start + mention.raw.length;
    const name = toCjkName(text.slice(plain, start), mention);
    if (name) start -= name.raw.length - mention.raw.length;
    masked += text.slice(plain, start) + toPlaceholder(mentions, name ?? mention);
    plain = end;
  }
  return masked + text.slice(plain);
}

/** `設計.md`: characters before an ending belong to the name, unless they are a verb. */
function toCjkName(before: string, mention: Mention): Mention | undefined {
  const isEnding = mention.kind === "extension" || (mention.raw.startsWith(".") && mention.kind === "path");
  if (!isEnding && !/^[-_]/.test(mention.raw)) return undefined;
  const tail = wideTail.exec(before.slice(-60))?.[0];
  if (tail === undefined) return undefined;
  const stem = tail.replace(cjkVerbs, "");
  // Kana before an ending are particles more often than names: `すべての.tsファイル`.
  if (stem === "" || /[のをはがでにと有]$/u.test(stem)) return undefined;
  return { kind: "path", text: stem + mention.raw, raw: stem + mention.raw };
}

function toTokens(masked: string): { tokens: Token[]; folded: string } {
  const tokens: Token[] = [];
  let folded = "";
  let plain = 0;
  for (const match of masked.matchAll(tokenPattern)) {
    folded += masked.slice(plain, match.index).toLowerCase();
    const word = toFolded(match[0]);
    const isCjk = wideStart.test(match[0]);
    tokens.push({ text: match[0], folded: word, at: folded.length, maskedAt: match.index, isCjk });
    folded += word;
    plain = match.index + match[0].length;
  }
  return { tokens, folded: folded + masked.slice(plain).toLowerCase() };
}
