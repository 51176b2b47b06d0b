/** Failed tool calls in the user's words. */
import { toCode } from "./phrases/format-number.ts";
import type { Action, FailureKind, Phrases } from "./phrases/phrases.ts";
import type { Outcome } from "./task.ts";

const messageLimit = 300;

/** What failed, why as the tool says it, and what to do. */
export function formatFailure(phrases: Phrases, action: Action, object: string, outcome: Outcome): string {
  const { code, message } = parseFailure(outcome.output);
  const reason = [code, message].filter((part) => part !== "").join(": ");
  const advice = phrases.advice[toFailureKind(code, message)];
  const line = reason === "" ? "" : `\n\n> ${toCode(reason)}`;
  return `${phrases.failed(action, object)}${line}\n\n${advice}`;
}

/** `FILE_NOT_FOUND: there is no …` */
export function parseFailure(output: string): { code: string; message: string } {
  const line =
    output
      .slice(0, 2000)
      .split("\n")
      .find((candidate) => candidate.trim() !== "")
      ?.trim() ?? "";
  const match = /^([A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){0,5}):?\s{0,3}(.*)$/.exec(line);
  const code = match?.[1] ?? "";
  const message = match ? (match[2] ?? "") : line;
  return { code, message: message.length > messageLimit ? `${message.slice(0, messageLimit).trimEnd()}…` : message };
}

const kinds: readonly (readonly [FailureKind, RegExp])[] = [
  ["exists", /EXISTS/],
  ["is_folder", /IS_(?:A_)?(?:DIRECTORY|FOLDER)|EISDIR/],
  ["not_found", /NOT_FOUND|ENOENT|NO_SUCH/],
  ["binary", /BINARY/],
  ["too_large", /TOO_(?:LARGE|BIG|LONG)|LIMIT/],
  ["outside", /OUTSIDE|ESCAPE/],
  ["sandbox", /SANDBOX/],
  ["read_only", /READ_?ONLY|EROFS|MODE/],
  ["refused", /DENIED|PERMISSION|REJECT|REFUS|FORBID|APPROV|NOT_ALLOWED|EACCES|EPERM/],
  ["timeout", /TIME_?D?_?OUT/],
  ["cancelled", /CANCEL/],
  ["stale", /STALE|CHANGED|CONFLICT|MODIFIED/],
  ["no_match", /NO_MATCH|NOT_UNIQUE|AMBIGUOUS|MULTIPLE|SEVERAL/],
];

function toFailureKind(code: string, message: string): FailureKind {
  if (code === "PERMISSION_DENIED") {
    // The file system's refusal is not the one that a flag lifts.
    if (message.includes("by this user")) return "other";
    if (message.includes("--mode agent")) return "read_only";
  }
  const byCode = kinds.find(([, pattern]) => pattern.test(code));
  if (byCode) return byCode[0];
  const text = message.toLowerCase();
  if (/no such file|not found|does not exist/.test(text)) return "not_found";
  if (/read-only|read only/.test(text)) return "read_only";
  if (/permission|denied|refused|not allowed/.test(text)) return "refused";
  if (/is a directory/.test(text)) return "is_folder";
  return "other";
}
