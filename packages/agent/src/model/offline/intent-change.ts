/** Rules for changing: write, replace, rename, delete, and running commands. */
import type { Intent } from "./intent.ts";
import { findPaths, isTarget } from "./intent-files.ts";
import { toBaseName } from "./mention.ts";
import { restoreMentions, type PlacedMention } from "./prompt.ts";
import { programs } from "./programs.ts";
import type { Reading } from "./reading.ts";

/** "rename a.txt to b.txt". */
export function toRename(reading: Reading): Intent | undefined {
  if (!reading.has("rename")) return undefined;
  const names = reading.mentions.filter(
    ({ kind, quoted }) => kind === "path" || kind === "folder" || (kind === "quote" && quoted),
  );
  const [first, second] = names;
  if (!first) return undefined;
  if (!second) {
    if (first.kind !== "path") return undefined;
    return { kind: "missing", what: "names", fill: (answer) => ({ kind: "rename", from: first.text, to: answer }) };
  }
  const isSwapped = isTarget(reading, first) && !isTarget(reading, second);
  const [from, to] = isSwapped ? [second, first] : [first, second];
  const destination = to.kind === "folder" && from.kind === "path" ? `${to.text}/${toBaseName(from.text)}` : to.text;
  return { kind: "rename", from: from.text, to: destination };
}

/** "delete a.txt". */
export function toDelete(reading: Reading): Intent | undefined {
  if (!reading.has("delete")) return undefined;
  const paths = findPaths(reading);
  const quote = reading.mentions.find(({ kind }) => kind === "quote");
  const [path] = paths;
  if (quote && path) return { kind: "edit", path: path.text, from: quote.text, to: "" };
  if (path) return { kind: "delete", paths: paths.map(({ text }) => text) };
  if (reading.restWords.length > 0 || !reading.has("file")) return undefined;
  return { kind: "missing", what: "file", fill: (answer) => ({ kind: "delete", paths: [answer] }) };
}

/** `replace "a" with "b" in file`. */
export function toReplace(reading: Reading): Intent | undefined {
  if (!reading.has("replace")) return undefined;
  const bare = findPaths(reading).find(({ quoted }) => quoted !== true);
  const quoted = reading.mentions.filter(({ quoted: isQuoted, kind }) => isQuoted === true && kind !== "block");
  const path = bare ?? (quoted.length === 3 ? findQuotedPath(quoted) : undefined);
  const strings = quoted.filter((mention) => mention !== path).map((mention) => toQuotedText(mention));
  const words = strings.length >= 2 ? strings : reading.restWords.filter(({ isCjk }) => !isCjk).map(({ text }) => text);
  if (words.length < 2 || (strings.length < 2 && words.length !== 2)) {
    if (!path || reading.restWords.length > 0) return undefined;
    return { kind: "missing", what: "replacement", fill: () => ({ kind: "unknown" }) };
  }
  const [first = "", second = ""] = words;
  // 用「b」替換「a」 names the new text first.
  const isReversed =
    reading.language === "zh-TW" &&
    /用\s?[\uE000-\uE1FF\w]{1,40}\s?(?:來)?(?:取代|替[換换])/u.test(reading.prompt.folded);
  const [from, to] = isReversed ? [second, first] : [first, second];
  if (from === "") return undefined;
  if (path) return { kind: "edit", path: path.text, from, to };
  return { kind: "missing", what: "file", fill: (answer) => ({ kind: "edit", path: answer, from, to }) };
}

function findQuotedPath(quoted: readonly PlacedMention[]): PlacedMention | undefined {
  return quoted.findLast(({ kind }) => kind === "path");
}

/** What stands between the quotation marks, also when it looks like a path. */
function toQuotedText(mention: PlacedMention): string {
  if (mention.kind === "quote") return mention.text;
  const { raw } = mention;
  const marks = /^`+/.exec(raw)?.[0].length ?? 1;
  return raw.slice(marks, raw.length - marks);
}

/** "run `npm test`", "run the tests". */
export function toRun(reading: Reading): Intent | undefined {
  const typed = toTypedCommand(reading);
  if (typed !== undefined) return { kind: "run", command: typed };
  if (!reading.has("run")) return undefined;
  const code = reading.mentions.find(({ code: isCode }) => isCode === true);
  if (code) return { kind: "run", command: toCommand(code) };
  const bare = findBareCommand(reading);
  if (bare !== undefined) return { kind: "run", command: bare };
  const quote = reading.mentions.find(({ quoted }) => quoted === true);
  if (quote) return { kind: "run", command: toCommand(quote) };
  const path = findPaths(reading).find(({ text }) => /\.(?:sh|bash)$/.test(text));
  if (path) return { kind: "run", command: path.text.includes("/") ? path.text : `./${path.text}` };
  if (reading.has("tests") && reading.restWords.length === 0) return { kind: "run_script", script: "test" };
  const script = reading.restWords.find(({ text }) => /^(?:build|lint|check|dev|format|typecheck)$/i.test(text));
  if (script && reading.restWords.length <= 2) return { kind: "run_script", script: script.text.toLowerCase() };
  if (reading.restWords.length > 0 || findPaths(reading).length > 0) return undefined;
  return { kind: "missing", what: "command", fill: (answer) => ({ kind: "run", command: answer }) };
}

/** "$ npm test", or nothing but a command in backticks. */
function toTypedCommand({ prompt, mentions }: Reading): string | undefined {
  const text = prompt.original.trim();
  if (/^\$\s+[^\n]+$/.test(text)) return text.slice(1).trim();
  const [only] = mentions;
  const isCommand =
    only?.kind === "quote" && only.code && only.raw === text && programs.has(only.text.split(" ", 1)[0] ?? "");
  return isCommand ? only.text.trim() : undefined;
}

function toCommand(mention: PlacedMention): string {
  return (mention.kind === "block" ? mention.text : toQuotedText(mention)).trim();
}

/** A command without backticks: from the first known program to where the sentence goes on. */
function findBareCommand(reading: Reading): string | undefined {
  const { prompt, vocabulary } = reading;
  const first = prompt.tokens.find(
    (token) => !token.isCjk && programs.has(token.text) && isCommandStart(reading, token.maskedAt),
  );
  if (!first) return undefined;
  const rest = prompt.masked.slice(first.maskedAt);
  const lineEnd = rest.search(/[\n。]/);
  const line = (lineEnd === -1 ? rest : rest.slice(0, lineEnd)).slice(0, 500);
  const command = restoreMentions(prompt, line.replace(vocabulary.behindCommand, "")).trim();
  const bare = command.replace(/[.!?]$/, "").trim();
  return bare === "" ? undefined : bare;
}

/** A program's name that is not a part of a longer one, nor the verb itself ("find …"). */
function isCommandStart(reading: Reading, maskedAt: number): boolean {
  const before = reading.prompt.masked.charAt(maskedAt - 1);
  const runs = reading.positionOf("run");
  const isVerbFirst = reading.language === "en" || reading.language === "de" || reading.language === "zh-TW";
  return !/[\w./-]/.test(before) && (!isVerbFirst || maskedAt > runs);
}

/** `create hello.txt with the content "Hello"`. */
export function toWrite(reading: Reading): Intent | undefined {
  if (!reading.has("create", "write") || reading.has("about")) return undefined;
  const paths = findPaths(reading);
  const path = findWrittenPath(reading, paths);
  const block = reading.mentions.find(({ kind }) => kind === "block");
  const quote = reading.mentions.find(
    (mention) => mention.quoted === true && mention.kind !== "block" && mention !== path,
  );
  if (!path) {
    const hasContent = block !== undefined || quote !== undefined;
    if (!reading.has("file") || (!hasContent && reading.restWords.length > 0)) return undefined;
    return {
      kind: "missing",
      what: "names",
      fill: (answer) => toWriteIntent(answer, block?.text ?? (quote && toQuotedText(quote))),
    };
  }
  const content = block?.text ?? (quote ? toQuotedText(quote) : findContent(reading, path));
  if (content !== undefined) return { kind: "write", path: path.text, content };
  if (reading.has("empty")) return { kind: "write", path: path.text, content: "" };
  // "create a REST API in server.ts" is more than these rules can do.
  if (reading.restWords.length > 0 || paths.length > 1) return undefined;
  return { kind: "missing", what: "content", fill: (answer) => toWriteIntent(path.text, answer) };
}

function toWriteIntent(path: string, content: string | undefined): Intent {
  if (content !== undefined) return { kind: "write", path, content };
  return { kind: "missing", what: "content", fill: (answer) => toWriteIntent(path, answer) };
}

function findWrittenPath(reading: Reading, paths: readonly PlacedMention[]): PlacedMention | undefined {
  return (
    paths.find((path) => path.quoted !== true && isTarget(reading, path)) ??
    paths.find(({ quoted }) => quoted !== true) ??
    paths.at(-1)
  );
}

/** Text behind a colon, behind "with the content", or between "write" and "to". */
function findContent(reading: Reading, path: PlacedMention): string | undefined {
  const { prompt } = reading;
  const colon = prompt.masked.indexOf(":", path.maskedAt);
  if (colon !== -1) {
    const behind = prompt.masked.slice(colon + 1);
    const text = behind.startsWith("\n") ? behind.slice(1) : behind.trim();
    if (text.trim() !== "") return restoreMentions(prompt, text);
  }
  const at = reading.positionOf("content");
  if (at !== Infinity && at > path.at && (reading.language === "en" || reading.language === "de")) {
    const token = prompt.tokens.find((candidate) => candidate.at >= at && isContentEnd(candidate.folded));
    const text = token ? prompt.masked.slice(token.maskedAt + token.text.length).trim() : "";
    if (text !== "") return restoreMentions(prompt, text);
  }
  const writes = reading.positionOf("write");
  const isBefore =
    isTarget(reading, path) && writes < path.at && (reading.language === "en" || reading.language === "de");
  if (!isBefore) return undefined;
  const verb = prompt.tokens.find((token) => token.at === writes);
  if (!verb) return undefined;
  const between = prompt.masked.slice(verb.maskedAt + verb.text.length, path.maskedAt).slice(0, 1000);
  const text = between
    .replace(/\s(?:in|into|to|nach|als|ins?)\s+(?:(?:the|die|eine|a)\s+)?(?:(?:new\s+)?file\s+|datei\s+)?$/i, "")
    .trim();
  return text === "" || text === between.trim() ? undefined : restoreMentions(prompt, text);
}

function isContentEnd(word: string): boolean {
  return ["content", "contents", "containing", "saying", "says", "text", "inhalt", "wortlaut"].includes(word);
}
