/** Matches as the model reads them. */
import type { SearchEffect } from "@sheaf/protocol";
import { toLine } from "../workspace/read-folder.ts";
import type { FileMatches } from "./search-results.ts";
import type { ToolOutcome } from "./tool.ts";

/** How matches are shown. */
export interface SearchView {
  readonly mode: "content" | "files_with_matches" | "count";
  /** Lines that are shown, or files if no lines are. */
  readonly limit: number;
  /** Why the search ended before its end, or "". */
  readonly endedEarly: string;
  /** What ripgrep could not read, in one line, or "". */
  readonly problem: string;
}

/** Bytes of UTF-8. */
const maxOutputBytes = 200 * 1024;

/** No match is a success. */
export function formatSearch(files: readonly FileMatches[], view: SearchView): ToolOutcome {
  const totalMatches = files.reduce((sum, { count }) => sum + count, 0);
  const shown = view.mode === "content" ? takeLines(files, view.limit) : takeFiles(files, view.limit);
  const shownCount = view.mode === "content" ? countLines(shown) : shown.length;
  const isCut = shownCount < (view.mode === "content" ? totalMatches : files.length) || view.endedEarly !== "";
  const effect: SearchEffect = {
    kind: "search",
    matches: shown.map(({ path, lines }) => ({ path, lines })),
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
  return files.reduce((sum, { lines }) => sum + lines.length, 0);
}

/** The first lines, as many as allowed and as fit. */
function takeLines(files: readonly FileMatches[], limit: number): FileMatches[] {
  let lines = limit;
  let bytes = maxOutputBytes;
  const shown: FileMatches[] = [];
  for (const file of files) {
    bytes -= Buffer.byteLength(toLine(file.path)) + 2;
    const taken = file.lines.slice(0, lines).filter(({ text }) => {
      bytes -= Buffer.byteLength(text) + 12;
      return bytes >= 0;
    });
    lines -= taken.length;
    if (taken.length > 0) shown.push({ ...file, lines: taken });
    if (lines === 0 || bytes < 0) break;
  }
  return shown;
}

function takeFiles(files: readonly FileMatches[], limit: number): FileMatches[] {
  let bytes = maxOutputBytes;
  return files.slice(0, limit).filter(({ path }) => {
    bytes -= Buffer.byteLength(toLine(path)) + 12;
    return bytes >= 0;
  });
}

function formatFiles(files: readonly FileMatches[], mode: SearchView["mode"]): string {
  if (mode === "files_with_matches") return files.map(({ path }) => toLine(path)).join("\n");
  if (mode === "count") return files.map(({ path, count }) => `${toLine(path)}: ${count}`).join("\n");
  return files
    .map(({ path, lines }) => [toLine(path), ...lines.map(({ line, text }) => `${line}: ${text}`)].join("\n"))
    .join("\n\n");
}

function toNote(view: SearchView, shown: number, total: { readonly files: number; readonly matches: number }): string {
  const notes: string[] = [];
  const isContent = view.mode === "content";
  if (shown < (isContent ? total.matches : total.files)) {
    const what = isContent ? `${total.matches} matching lines in ${total.files} files` : `${total.files} files`;
    notes.push(`The first ${shown} of ${what} are shown: narrow the pattern, path or glob.`);
  }
  if (view.endedEarly !== "") notes.push(`The search ended early, ${view.endedEarly}: narrow the path or glob.`);
  if (view.problem !== "") notes.push(`Not everything was searched: ${view.problem}`);
  return notes.join(" ");
}
