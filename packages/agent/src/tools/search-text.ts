/** Matches as the model reads them, and the output of ripgrep, parsed as it arrives in bounded memory. */
import type { SearchEffect } from "@sheaf/protocol";
import { toLine } from "@sheaf/base/files/read-folder";
import type { ToolOutcome } from "./tool.ts";

export interface SearchView {
  readonly mode: "content" | "files_with_matches" | "count";
  /** Most lines in the result, or files in a mode without lines. */
  readonly limit: number;
  /** The reason why the search ended early, or "". */
  readonly endedEarly: string;
  /** ripgrep's errors about files that it could not read, in one line, or "". */
  readonly problem: string;
  /** A note on entries that ignore rules exclude, or "". */
  readonly ignored: string;
}

/** Longest output, in bytes of UTF-8. */
const maxOutputBytes = 200 * 1024;

/** Formats matches for the model. A search without matches is a success. */
export function formatSearch(files: readonly FileMatches[], view: SearchView): ToolOutcome {
  const totalMatches = files.reduce((sum, { count }) => sum + count, 0);
  const shown = view.mode === "content" ? takeLines(files, view.limit) : files.slice(0, view.limit);
  const shownCount = view.mode === "content" ? countLines(shown) : shown.length;
  const isCut = shownCount < (view.mode === "content" ? totalMatches : files.length) || view.endedEarly !== "";
  const effect: SearchEffect = {
    kind: "search",
    matches: shown.map(({ path, lines }) => ({
      path,
      lines: lines.filter(isMatch).map(({ line, text }) => ({ line, text })),
    })),
    totalFiles: files.length,
    totalMatches,
    truncated: isCut,
  };
  const note = toNote(view, shownCount, { files: files.length, matches: totalMatches });
  return {
    status: "success",
    output: files.length === 0 ? "No matches." : formatFiles(shown, view.mode),
    ...(note !== "" && { note }),
    ...(isCut && { truncated: true as const }),
    effect,
  };
}

function countLines(files: readonly FileMatches[]): number {
  return files.reduce((sum, { lines }) => sum + lines.filter(isMatch).length, 0);
}

function isMatch({ isContext }: FoundLine): boolean {
  return !isContext;
}

/** Returns the first lines, as many as `limit` allows and as fit. */
function takeLines(files: readonly FileMatches[], limit: number): FileMatches[] {
  let lines = limit;
  let bytes = maxOutputBytes;
  const shown: FileMatches[] = [];
  for (const file of files) {
    bytes -= Buffer.byteLength(toLine(file.path)) + 2;
    const taken: FoundLine[] = [];
    for (const line of file.lines) {
      bytes -= Buffer.byteLength(line.text) + 12;
      if (bytes < 0 || (lines === 0 && isMatch(line))) break;
      if (isMatch(line)) lines -= 1;
      taken.push(line);
    }
    if (taken.length > 0) shown.push({ ...file, lines: taken });
    if (lines === 0 || bytes < 0) break;
  }
  return shown;
}

function formatFiles(files: readonly FileMatches[], mode: SearchView["mode"]): string {
  if (mode === "files_with_matches") return files.map(({ path }) => toLine(path)).join("\n");
  if (mode === "count") return files.map(({ path, count }) => `${toLine(path)}: ${count}`).join("\n");
  return files.map(({ path, lines }) => [toLine(path), ...formatLines(lines)].join("\n")).join("\n\n");
}

/** Formats lines as grep does: `12: a match`, `13- a line around it`, and `--` for a gap. */
function formatLines(lines: readonly FoundLine[]): string[] {
  const hasContext = lines.some(({ isContext }) => isContext);
  return lines.flatMap(({ line, text, isContext }, index) => {
    const before = lines[index - 1];
    const isGap = hasContext && before !== undefined && before.line + 1 < line;
    return [...(isGap ? ["--"] : []), `${line}${isContext ? "-" : ":"} ${text}`];
  });
}

function toNote(view: SearchView, shown: number, total: { readonly files: number; readonly matches: number }): string {
  const notes: string[] = [];
  const isContent = view.mode === "content";
  if (shown < (isContent ? total.matches : total.files)) {
    const what = isContent ? `${total.matches} matching lines in ${total.files} files` : `${total.files} files`;
    notes.push(`These are the first ${shown} of ${what}: narrow the pattern, path or glob.`);
  }
  if (view.endedEarly !== "") notes.push(`The search ended early, ${view.endedEarly}: narrow the path or glob.`);
  if (view.problem !== "") notes.push(`Not everything was searched: ${view.problem}`);
  if (view.ignored !== "") notes.push(view.ignored);
  return notes.join(" ");
}

/** A line that matches, or one around it. */
interface FoundLine {
  readonly line: number;
  /** Byte at which its first match starts, from 1, if the search asked ripgrep for it. */
  readonly column?: number;
  readonly text: string;
  readonly isContext?: true;
}

/** The places in one file, or their number. */
export interface FileMatches {
  /** Path relative to the workspace. */
  readonly path: string;
  readonly lines: FoundLine[];
  /** Number of matching lines, including those not in `lines`. */
  count: number;
}

/** Reads ripgrep's output: `path NUL number NUL text` (SOH before a line around a match), or `path NUL count`. */
export interface SearchResults {
  /** Adds output. Returns false once it is too much. */
  append(chunk: Uint8Array): boolean;
  /** Files in order of arrival. */
  readonly files: ReadonlyMap<string, FileMatches>;
  /** Returns true if some output was ignored. */
  isFull(): boolean;
}

/** Bytes read from ripgrep; more would not help a model. */
const maxBytes = 32 * 1024 * 1024;
/** Longest record. ripgrep cuts long lines, but by visible characters, each of which may have any length. */
const maxRecordBytes = 64 * 1024;
/** Longest text of a line. UTF-16 units. */
const maxTextLength = 1000;
const nul = 0;
const startOfHeading = 1;
const lineEnd = 10;

/** Reads ripgrep's output. `maxLines` of a file, or 0 with `--count`; `hasColumn` with `--column`. */
export function createSearchResults(maxLines: number, hasColumn = false): SearchResults {
  const read = (data: Buffer, start: number) => readRecord(data, start, { hasText: maxLines > 0, hasColumn });
  const files = new Map<string, FileMatches>();
  let rest: Buffer = Buffer.alloc(0);
  let bytes = 0;
  /** True while it skips the rest of a record that is too long. */
  let isSkipping = false;

  const take = (record: SearchRecord): void => {
    const path = toPath(record.path);
    let file = files.get(path);
    if (!file) {
      file = { path, lines: [], count: 0 };
      files.set(path, file);
    }
    if (!record.isContext) file.count += maxLines === 0 ? record.number : 1;
    if (maxLines === 0 || file.count > maxLines) return;
    file.lines.push({
      line: record.number,
      text: toText(record.text),
      ...(record.column > 0 && { column: record.column }),
      ...(record.isContext && { isContext: true as const }),
    });
  };

  return {
    files,
    isFull: () => bytes > maxBytes,
    append(chunk) {
      bytes += chunk.length;
      let start = 0;
      if (isSkipping) {
        start = chunk.indexOf(lineEnd) + 1;
        if (start === 0) return bytes <= maxBytes;
        isSkipping = false;
      }
      const data = Buffer.concat([rest, chunk.subarray(start)]);
      start = 0;
      for (let record = read(data, start); record; record = read(data, start)) {
        take(record);
        start = record.end;
      }
      isSkipping = data.length - start > maxRecordBytes;
      rest = isSkipping ? Buffer.alloc(0) : Buffer.from(data.subarray(start));
      return bytes <= maxBytes;
    },
  };
}

/** Returns one line of a file, short enough for the result. */
function toText(bytes: Buffer): string {
  const text = bytes.toString().replace(/\r$/, "");
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength).toWellFormed()} [... cut]`;
}

interface SearchRecord {
  readonly path: Buffer;
  readonly number: number;
  /** Byte of the first match; 0: unknown. */
  readonly column: number;
  readonly text: Buffer;
  readonly isContext: boolean;
  /** Index of the next record. */
  readonly end: number;
}

/** Reads a record. Its path ends at NUL, since it may contain line ends. */
function readRecord(
  data: Buffer,
  start: number,
  { hasText, hasColumn }: { readonly hasText: boolean; readonly hasColumn: boolean },
): SearchRecord | undefined {
  const pathEnd = data.indexOf(nul, start);
  if (pathEnd < 0) return undefined;
  let numberEnd = pathEnd + 1;
  while (isDigit(data[numberEnd])) numberEnd += 1;
  if (numberEnd >= data.length) return undefined;
  const isContext = data[numberEnd] === startOfHeading;
  const columnEnd = hasColumn && !isContext ? data.indexOf(nul, numberEnd + 1) : numberEnd;
  const textEnd = hasText ? data.indexOf(lineEnd, columnEnd + 1) : numberEnd;
  if (columnEnd < 0 || textEnd < 0) return undefined;
  return {
    path: data.subarray(start, pathEnd),
    number: Number(data.toString("latin1", pathEnd + 1, numberEnd)),
    column: Number(data.toString("latin1", numberEnd + 1, columnEnd)),
    text: data.subarray(columnEnd + 1, Math.max(textEnd, columnEnd + 1)),
    isContext,
    end: textEnd + 1,
  };
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}

/** Decodes a path, without the remark about a binary file that may be on a line before it. */
function toPath(bytes: Buffer): string {
  const text = bytes.toString().replace(/^[^]*: (?:WARNING: stopped searching|binary file matches)[^\n]*\n/, "");
  return text.replace(/^\.\//, "");
}
