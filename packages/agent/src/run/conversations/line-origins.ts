/** Finds the origins of lines: each known text of a file passes them to the next one (C195). */
import { applyPatch, parsePatch, reversePatch, structuredPatch, type StructuredPatchHunk } from "diff";
import type { FileChange } from "@sheaf/protocol";
import { decodeText, detectTextFormat } from "@sheaf/base/files/text-format";
import { type BlamedCall, chooseCall } from "./blamed-calls.ts";
import type { FileMoment, StateContent } from "./file-moments.ts";

/** A call that wrote a line. */
export interface CallOrigin {
  readonly call: BlamedCall;
  /** False if another call of the response may have written it. */
  readonly isCertain: boolean;
}

/** The origin of each line; undefined for a person or another program. */
export type LineOrigins = readonly (CallOrigin | undefined)[];

/** The time limit of a comparison; above it, all lines are new. Milliseconds. */
const COMPARE_MS = 2000;

/** Reads a content of a state; undefined if it is binary, or lost. */
export type ReadState = (content: StateContent) => Promise<string | undefined>;

/** The texts that calls made, with the origins of their lines: after a checkout of such a text, its lines keep them. */
export type KnownTexts = Map<string, LineOrigins>;

/** Decodes a text, and gives each line the same end, so that a changed line end makes no new line. */
export function toPlainText(bytes: Uint8Array): string | undefined {
  const format = detectTextFormat(bytes);
  const text = format && decodeText(bytes, format);
  return text === undefined ? undefined : settleEnds(text);
}

function settleEnds(text: string): string {
  const unix = text.replaceAll("\r\n", "\n");
  return unix === "" || unix.endsWith("\n") ? unix : `${unix}\n`;
}

/** Returns the origins of `text`, the file now. `known` gets each text that a call made. */
export async function traceLines(
  moments: readonly FileMoment[],
  text: string,
  known: KnownTexts,
  read: ReadState,
): Promise<LineOrigins> {
  let [now, origins] = ["", [] as LineOrigins];
  const go = (next: string, origin: CallOrigin | undefined, hunks?: readonly StructuredPatchHunk[]): void => {
    if (next === now) return;
    const back = origin ? undefined : known.get(next);
    origins = back ?? carryOrigins(origins, hunks ?? toHunks(now, next), origin);
    now = next;
  };
  /** The last call that changed the file by a logged text. */
  let last: BlamedCall | undefined;
  for (const moment of moments) {
    const { calls } = moment;
    const after = moment.kind === "call" ? findAfter(moment.change) : await read(moment.content);
    if (moment.kind === "before") {
      if (after !== undefined) go(after, undefined);
      continue;
    }
    const explain = (call: BlamedCall): boolean => findChange(call, moment) !== undefined;
    const since = calls.slice(last ? calls.indexOf(last) + 1 : 0);
    if (after !== undefined && moment.kind === "call") {
      const { call, change } = moment;
      const { before, hunks } = readPatch(change, after);
      const others = since.slice(0, since.indexOf(call)).filter((each) => !explain(each));
      if (before !== undefined) go(before, toOrigin(others, moment));
      go(after, { call, isCertain: true }, hunks);
      last = call;
    } else if (after !== undefined) {
      const others = since.filter((each) => !explain(each));
      // A hook, or the editor of the user, formats the text of a call.
      go(after, toOrigin(others.length > 0 ? others : calls.filter(explain).slice(-1), moment));
    }
    if (now !== "") known.set(now, origins);
  }
  go(text, undefined);
  return origins;
}

function toOrigin(calls: readonly BlamedCall[], { path, from }: FileMoment): CallOrigin | undefined {
  const names = [path, from].map((place) => place.slice(place.lastIndexOf("/") + 1));
  const call = chooseCall(calls, names);
  return call && { call, isCertain: calls.length === 1 && call.state !== undefined };
}

/** Finds the change by which a call of a file tool explains itself: a rename, a logged text, or another file. */
function findChange({ changes }: BlamedCall, { path, from }: FileMoment): FileChange | undefined {
  return changes?.find(
    (change) =>
      (change.path !== path && change.path !== from) ||
      change.operation === "rename" ||
      findAfter(change) !== undefined,
  );
}

export function findAfter({ operation, after, content, truncated }: FileChange): string | undefined {
  if (operation === "delete") return "";
  const text = operation === "create" && !truncated ? content : after;
  return text === undefined || text === null ? undefined : settleEnds(text);
}

/** Returns the text before the change, and the parts that differ if the log has them. */
function readPatch({ operation, patch = "", after = "" }: FileChange, text: string) {
  if (operation !== "edit") return { before: operation === "create" ? "" : undefined };
  const [parsed] = patch === "" ? [] : parsePatch(patch);
  const before = parsed && applyPatch(after, reversePatch(parsed), { autoConvertLineEndings: false });
  if (before === undefined || before === false) return { before: undefined };
  // In a patch, a missing line end at the end of the file makes the last line differ.
  const isExact = !patch.includes("\n\\");
  return { before: settleEnds(before), hunks: isExact ? parsed?.hunks : toHunks(settleEnds(before), text) };
}

export function carryOrigins<Origin>(
  origins: readonly Origin[],
  hunks: readonly StructuredPatchHunk[],
  origin: Origin,
): readonly Origin[] {
  const next: Origin[] = [];
  let at = 0;
  for (const { oldStart, lines } of hunks) {
    next.push(...origins.slice(at, oldStart - 1));
    at = oldStart - 1;
    for (const line of lines) {
      if (line.startsWith("+")) next.push(origin);
      else if (line.startsWith("-")) at += 1;
      else next.push(origins[at++]!);
    }
  }
  return [...next, ...origins.slice(at)];
}

export function toHunks(before: string, after: string): readonly StructuredPatchHunk[] {
  const options = { context: 0, timeout: COMPARE_MS };
  const patch = structuredPatch("", "", before, after, undefined, undefined, options);
  if (patch) return patch.hunks;
  const toLines = (text: string, sign: string): string[] =>
    text
      .split("\n")
      .map((line) => sign + line)
      .slice(0, -1);
  const lines = [...toLines(before, "-"), ...toLines(after, "+")];
  return [{ oldStart: 1, oldLines: 0, newStart: 1, newLines: 0, lines }];
}
