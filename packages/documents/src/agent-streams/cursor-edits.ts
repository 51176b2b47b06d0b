/** Reads the effect of an edit by `cursor-agent` on a file (N31). The form depends on the agent's version. */
import type { FileChange, FileDiff } from "@sheaf/protocol";
import { readCount, readObject, readString, type JsonObject } from "../model-streams/read-json.ts";
import { maxFinalContent, toUtf8Length } from "../payload-limits.ts";
import { toAbsolutePath, toWorkspacePath } from "../workspace-path.ts";

/** Returns the change. Undefined if the result lacks both the file's content and a diff: the arguments remain. */
export function toEditChange(args: JsonObject, success: JsonObject, workspace: string): FileChange | undefined {
  const named = readString(success.path) || readString(args.path);
  const patch = readString(success.diffString);
  const hunks = readHunks(patch);
  const after = findText(success.afterFullFileContent);
  const before = findText(success.beforeFullFileContent);
  if (after === undefined && hunks.length === 0) return undefined;
  const base = {
    filePath: toWorkspacePath(named, workspace),
    path: toAbsolutePath(named, workspace),
    ...(patch.includes("@@") && { patch }),
    linesAdded: readCount(success.linesAdded) ?? count(hunks, "+"),
    linesRemoved: readCount(success.linesRemoved) ?? count(hunks, "-"),
    bytes: toUtf8Length(after ?? ""),
  };
  if (before === undefined && isCreated(patch, hunks, after)) {
    const content = after ?? findText(args.streamContent) ?? `${toSide(hunks, "+")}\n`;
    return { ...base, operation: "create", content, linesRemoved: 0, bytes: toUtf8Length(content) };
  }
  const old = before ?? undoHunks(after, hunks);
  const diff = toReplacedDiff(args.strReplace, old) ?? toDiff(old, after, hunks);
  const isSmall = toUtf8Length(diff.oldString) + toUtf8Length(diff.newString) <= maxFinalContent;
  return {
    ...base,
    operation: "edit",
    content: diff.newString,
    ...(isSmall && { diff }),
    ...(after !== undefined && { after }),
  };
}

function findText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

interface PatchLine {
  readonly kind: " " | "+" | "-";
  readonly text: string;
}

interface Hunk {
  /** Line of the new file, from 1; 0 if the patch has no line numbers. */
  readonly newStart: number;
  readonly lines: readonly PatchLine[];
}

/** Reads unified diffs, and the older form without line numbers, which may have a blank after each sign. */
function readHunks(patch: string): readonly Hunk[] {
  if (patch === "") return [];
  const hasNumbers = /^@@ /m.test(patch);
  const rows = patch.replace(/\n$/, "").split("\n");
  const width = !hasNumbers && rows.every((row) => /^[-+ ] /.test(row)) ? 2 : 1;
  const hunks: { newStart: number; lines: PatchLine[] }[] = hasNumbers ? [] : [{ newStart: 0, lines: [] }];
  for (const row of rows) {
    const [, start, length] = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/.exec(row) ?? [];
    const kind = row[0] ?? " ";
    if (start !== undefined) hunks.push({ newStart: Number(start) + (length === "0" ? 1 : 0), lines: [] });
    else if (kind === " " || kind === "+" || kind === "-") hunks.at(-1)?.lines.push({ kind, text: row.slice(width) });
  }
  return hunks;
}

function count(hunks: readonly Hunk[], kind: PatchLine["kind"]): number {
  return hunks.flatMap(({ lines }) => lines).filter((line) => line.kind === kind).length;
}

function toSide(hunks: readonly Hunk[], side: "+" | "-"): string {
  const lines = hunks.flatMap((hunk) => hunk.lines).filter(({ kind }) => kind === " " || kind === side);
  return lines.map(({ text }) => text).join("\n");
}

/** True for a new file. Older versions lack `/dev/null`, and treat a new file as a replaced empty line. */
function isCreated(patch: string, hunks: readonly Hunk[], after: string | undefined): boolean {
  if (patch.startsWith("--- /dev/null")) return true;
  const isAllNew = count(hunks, "+") > 0 && toSide(hunks, "-").trim() === "";
  return isAllNew && (after === undefined || toSide(hunks, "+").trimEnd() === after.trimEnd());
}

/** Returns the file before the edit; undefined if the hunks do not fit. */
function undoHunks(after: string | undefined, hunks: readonly Hunk[]): string | undefined {
  if (after === undefined) return undefined;
  const rows = after.split("\n");
  const before: string[] = [];
  let position = 0;
  for (const { newStart, lines } of hunks) {
    if (newStart - 1 < position) return undefined;
    before.push(...rows.slice(position, newStart - 1));
    position = newStart - 1;
    for (const { kind, text } of lines) {
      if (kind !== "-" && rows[position++] !== text) return undefined;
      if (kind !== "+") before.push(text);
    }
  }
  return [...before, ...rows.slice(position)].join("\n");
}

/** Returns the one replacement of the call, at its place in the file before the edit. */
function toReplacedDiff(strReplace: unknown, before: string | undefined): FileDiff | undefined {
  const { oldText, newText, replaceAll } = readObject(strReplace);
  const place = typeof oldText === "string" && oldText !== "" ? (before?.indexOf(oldText) ?? -1) : -1;
  if (replaceAll === true || place === -1) return undefined;
  return toFileDiff(readString(oldText), readString(newText), before!.slice(0, place).split("\n").length);
}

/** Returns one exact replacement of whole lines. If the file before the edit is unknown, it uses the hunks' lines. */
function toDiff(before: string | undefined, after: string | undefined, hunks: readonly Hunk[]): FileDiff {
  if (before === undefined || after === undefined) {
    const [oldString, newString] = [toSide(hunks, "-"), toSide(hunks, "+")];
    const place = after === undefined || newString === "" ? -1 : after.indexOf(newString);
    const found = place === -1 ? 0 : after!.slice(0, place).split("\n").length;
    return toFileDiff(oldString, newString, hunks[0]?.newStart || found);
  }
  const [old, now] = [splitLines(before), splitLines(after)];
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const cut = (lines: readonly string[]): string => lines.slice(start, lines.length - end).join("");
  return toFileDiff(cut(old), cut(now), start + 1);
}

/** Splits a text into lines, each with its line end. */
function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Makes a diff. `startLine` is 0 if unknown. */
function toFileDiff(oldString: string, newString: string, startLine: number): FileDiff {
  const lines = oldString === "" ? 0 : oldString.replace(/\n$/, "").split("\n").length;
  return { oldString, newString, startLine, endLine: startLine === 0 ? 0 : startLine + lines - 1 };
}
