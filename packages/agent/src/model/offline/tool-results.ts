/** Reads the texts of tool results. */
import type { Outcome } from "./job.ts";
import { formatCode } from "./phrasing.ts";

/** Lines of a text; a line break at its end begins no further line. */
export function toLines(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

export interface ReadText {
  readonly path: string;
  readonly text: string;
  /** 1-based line of its first line. */
  readonly startLine: number;
  /** What the tool says about the lines that it left out; "" if none. */
  readonly note: string;
}

/** The text of a `read_file` result, whose lines have numbers, without the note that follows a part of a file. */
export function parseReadOutput({ output, args }: Outcome): ReadText {
  const path = String(args["target_file"]);
  const startLine = Number(args["offset"] ?? 1);
  if (output === "The file is empty.") return { path, text: "", startLine, note: "" };
  const lines = output.split("\n");
  const isNumbered = (line: string): boolean => /^\d+\t/.test(line);
  // A long result begins with the note, and ends with it again.
  const start = Math.max(0, lines.findIndex(isNumbered));
  const count = lines.slice(start).findIndex((line) => !isNumbered(line));
  const end = count === -1 ? lines.length : start + count;
  const text = lines.slice(start, end).map((line) => line.slice(line.indexOf("\t") + 1));
  // An empty line after the last one is its line end.
  const isEnded = lines[end] === "";
  const note = (start > 0 ? lines.slice(0, start) : lines.slice(end)).join("\n").trim();
  return { path, text: text.join("\n") + (isEnded ? "\n" : ""), startLine, note };
}

/** Paths in a `glob_search` result, as code; its remarks are sentences. */
export function parseFileList({ output }: Outcome): string[] {
  return toLines(output)
    .filter((line) => line.trim() !== "" && !line.endsWith("."))
    .map(formatCode);
}

/** Places and texts in a `grep_search` result, as code: below each path lines such as `12: text`. */
export function parseHits({ output }: Outcome): string[] {
  const hits: string[] = [];
  let path = "";
  for (const line of toLines(output)) {
    const [hit, number, text = ""] = /^(\d+): ?(.*)$/.exec(line) ?? [];
    if (hit !== undefined) hits.push(`${formatCode(`${path}:${number}`)} ${formatCode(text.slice(0, 200))}`);
    else if (line !== "") path = line;
  }
  return hits;
}

/** Files directly in the folder of a `list_dir` result: a tree indented by spaces, whose folders end in `/`. */
export function parseTopFiles({ output, isError }: Outcome): string[] {
  const remark = /^(?:\.{3} \d+ more|\(not readable|The folder is empty\.|Only the first|Folders below|Excluded by)/;
  const names = isError ? [] : toLines(output).filter((line) => /^\S/.test(line) && !remark.test(line));
  // Links are shown as `name -> target`.
  return names.map((line) => line.replace(/ -> .*$/, "")).filter((name) => !name.endsWith("/"));
}
