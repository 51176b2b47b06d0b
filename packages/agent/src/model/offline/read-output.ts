/** The text of a `read_file` result, without the note behind it. */
import type { Outcome } from "./task.ts";

export interface ReadText {
  readonly text: string;
  /** 1-based line of its first line. */
  readonly startLine: number;
  /** Lines of the whole file, when it was not read whole. */
  readonly totalLines?: number;
}

const cutNote = /^Lines (\d{1,9}) to \d{1,9} of (\d{1,9})\b.*$/;
const longLineNote = /^Line (\d{1,9}) of (\d{1,9}) is longer than .*$/;

/** The note is the last line; a file that holds such a line itself is not cut by it, unless lines were left out. */
export function parseReadOutput({ output, args }: Outcome): ReadText {
  const offset = typeof args["offset"] === "number" ? args["offset"] : 1;
  const end = output.lastIndexOf("\n");
  const last = output.slice(end + 1);
  if (end === -1 && last === "The file is empty.") return { text: "", startLine: offset };
  const note = cutNote.exec(last) ?? longLineNote.exec(last);
  if (!note || end === -1) return { text: output, startLine: offset };
  const startLine = cutNote.test(last) ? Number(note[1]) : offset;
  return { text: output.slice(0, end), startLine, totalLines: Number(note[2]) };
}
