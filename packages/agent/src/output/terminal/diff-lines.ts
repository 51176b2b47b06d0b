/** Changes in a file, as a person in a terminal reads them. */
import { toVisibleLine } from "../visible-text.ts";

/** A line of a unified diff: its number in the file, and its text with `+`, `-` or a blank in front. */
interface DiffLine {
  readonly number: string;
  readonly text: string;
}

/** Returns the lines of the hunks, removed ones red, added ones green: at most `limit`, then the number of the rest. */
export function formatDiff(patch: string, options: { readonly hasColors: boolean; readonly limit: number }): string[] {
  const lines = toDiffLines(patch);
  const width = Math.max(0, ...lines.map(({ number }) => number.length));
  const shown = lines
    .slice(0, options.limit)
    .map(({ number, text }) => `  ${number.padStart(width)} ${colorDiffLine(toVisibleLine(text), options)}`);
  return lines.length > options.limit ? [...shown, `  … ${lines.length - options.limit} more lines`] : shown;
}

/** Returns a line that starts with `+` or `-`, in its colour. */
export function colorDiffLine(text: string, { hasColors }: { readonly hasColors: boolean }): string {
  const color = text.startsWith("+") ? 32 : text.startsWith("-") ? 31 : 0;
  return hasColors && color !== 0 ? `\u001B[${color}m${text}\u001B[39m` : text;
}

function toDiffLines(patch: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  for (const text of patch.split("\n")) {
    const [, oldStart, newStart] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text) ?? [];
    if (newStart !== undefined) {
      if (lines.length > 0) lines.push({ number: "", text: "…" });
      [before, after] = [Number(oldStart), Number(newStart)];
      // Lines before the first hunk are the names of the files.
    } else if (after + before === 0) continue;
    else if (text.startsWith("-")) lines.push({ number: String(before++), text });
    else if (text.startsWith("+")) lines.push({ number: String(after++), text });
    else if (text.startsWith(" ")) {
      lines.push({ number: String(after++), text });
      before += 1;
    }
  }
  return lines;
}
