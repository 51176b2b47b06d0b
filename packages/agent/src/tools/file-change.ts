/** Descriptions of changed files, as results have them (N31 to N34). */
import type { FileChange, FileDiff } from "@sheaf/protocol";
// The entry of the package would load code that applies and parses patches at each start.
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from "diff/lib/patch/create.js";
import type { StructuredPatchHunk } from "diff";
import { countLineEnds, countLines, toPrefix } from "@sheaf/base/files/text-format";
import type { WorkspacePath } from "@sheaf/base/files/workspace";
import { toReplacementHunk, type TextRegion } from "./text-region.ts";

/** Sheaf cuts or omits larger content, diffs and patches (N34). Bytes of UTF-8. */
export const MAX_CONTENT_BYTES = 1024 * 1024;

/** Lines in a patch before and after a change. */
const CONTEXT_LINES = 3;

/** Time after which Sheaf omits a diff. */
const PATCH_TIMEOUT_MS = 500;

/** State of a file, as a change describes it. */
interface FileState {
  readonly text: string;
  /** Size of the whole file. */
  readonly bytes: number;
  readonly hash: string;
}

export function toCreateChange(path: WorkspacePath, after: FileState): FileChange {
  const isBinary = after.text.includes("\0");
  const content = toPrefix(after.text, MAX_CONTENT_BYTES);
  const isCut = content.length < after.text.length;
  return {
    operation: "create",
    filePath: path.named,
    path: path.absolute,
    content: isBinary ? null : content,
    ...(!isBinary && !isCut && { patch: toCreatePatch(path, after.text) }),
    ...(isBinary && { binary: true }),
    ...(!isBinary && isCut && { truncated: true }),
    linesAdded: countLines(after.text),
    linesRemoved: 0,
    bytes: after.bytes,
    hashAfter: after.hash,
  };
}

/** Describes a changed file: one exact replacement from the first to the last changed place (N31). */
export function toEditChange(path: WorkspacePath, before: FileState, after: FileState, region: TextRegion): FileChange {
  const diff = toFileDiff(before.text, after.text, region);
  const patch = toEditPatch(path, before.text, after.text, region);
  const newString = toPrefix(diff.newString, MAX_CONTENT_BYTES);
  const isDiffSmall = Buffer.byteLength(diff.oldString) + Buffer.byteLength(diff.newString) <= MAX_CONTENT_BYTES;
  const isAfterSmall = after.bytes <= MAX_CONTENT_BYTES;
  return {
    operation: "edit",
    filePath: path.named,
    path: path.absolute,
    content: newString,
    ...(isDiffSmall && { diff }),
    ...(isDiffSmall && patch && { patch: patch.text }),
    ...(isAfterSmall && { after: after.text }),
    ...(newString.length < diff.newString.length && { truncated: true }),
    linesAdded: patch?.added ?? countLines(diff.newString),
    linesRemoved: patch?.removed ?? countLines(diff.oldString),
    bytes: after.bytes,
    hashBefore: before.hash,
    hashAfter: after.hash,
  };
}

function toFileDiff(before: string, after: string, { start, endBefore, endAfter }: TextRegion): FileDiff {
  const isUnchanged = start === endBefore && start === endAfter;
  const from = isUnchanged ? start : toUniqueStart(before, start, endBefore);
  const oldString = before.slice(from, endBefore);
  const startLine = countLineEnds(before.slice(0, from)) + 1;
  return {
    oldString,
    newString: after.slice(from, endAfter),
    startLine,
    endLine: startLine + countLines(oldString) - 1,
  };
}

/** Returns the start of a diff, or of its line if the text occurs earlier there, where a client would change it. */
function toUniqueStart(text: string, start: number, end: number): number {
  const lineStart = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1;
  return text.indexOf(text.slice(start, end), lineStart) < start ? lineStart : start;
}

function toCreatePatch(path: WorkspacePath, text: string): string {
  const patch = structuredPatch("/dev/null", `b/${path.named}`, "", text, undefined, undefined, { context: 0 });
  return formatPatch(patch, FILE_HEADERS_ONLY);
}

/** Compares only the lines around the change, so that the cost does not depend on the size of the file. */
function toEditPatch(
  path: WorkspacePath,
  before: string,
  after: string,
  region: TextRegion,
): { readonly text: string; readonly added: number; readonly removed: number } | undefined {
  const start = toContextStart(before, region.start);
  const endBefore = toContextEnd(before, region.endBefore);
  const endAfter = after.length - (before.length - endBefore);
  const skipped = countLineEnds(before.slice(0, start));
  const found = findHunks(before.slice(start, endBefore), after.slice(start, endAfter));
  if (!found) return undefined;
  const names = { oldFileName: `a/${path.named}`, newFileName: `b/${path.named}` };
  const hunks = found.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + skipped,
    newStart: hunk.newStart + skipped,
  }));
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    text: formatPatch({ ...names, oldHeader: undefined, newHeader: undefined, hunks }, FILE_HEADERS_ONLY),
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}

/** Returns the hunks; undefined if comparing takes too long. Most edits need no comparison. */
function findHunks(before: string, after: string): readonly StructuredPatchHunk[] | undefined {
  const hunk = toReplacementHunk(before, after, CONTEXT_LINES);
  if (hunk) return [hunk];
  const options = { context: CONTEXT_LINES, timeout: PATCH_TIMEOUT_MS };
  return structuredPatch("", "", before, after, undefined, undefined, options)?.hunks;
}

/** Returns the start of the line `CONTEXT_LINES` above `offset`. */
function toContextStart(text: string, offset: number): number {
  if (offset === 0) return 0;
  let start = text.lastIndexOf("\n", offset - 1) + 1;
  for (let line = 0; line < CONTEXT_LINES && start > 0; line += 1) {
    start = start === 1 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
  }
  return start;
}

/** Returns the end of the line `CONTEXT_LINES` below `offset`, including its line end. */
function toContextEnd(text: string, offset: number): number {
  let end = offset;
  for (let line = 0; line <= CONTEXT_LINES && end < text.length; line += 1) {
    const next = text.indexOf("\n", end);
    end = next === -1 ? text.length : next + 1;
  }
  return end;
}
