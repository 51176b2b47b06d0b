/** How the indentation of some lines differs from that of others, and the same difference made to further lines. */

/** One difference that holds for all lines. */
export type IndentationChange =
  /** The file's lines have these blanks more, or less. */
  | { readonly kind: "shift"; readonly blanks: string; readonly isMore: boolean }
  /** The file has tabs where the others have `width` blanks, or the other way round. */
  | { readonly kind: "tabs"; readonly width: number; readonly toTabs: boolean };

/**
 * The one difference between all lines that are not blank; undefined if they differ in another way, or not at all.
 * Both texts have the same lines but for their blanks at the beginning.
 */
export function findIndentationChange(actual: string, expected: string): IndentationChange | undefined {
  const expectedLines = expected.split("\n");
  const pairs = actual
    .split("\n")
    .map((line, index) => ({ actual: toIndentation(line), expected: expectedLines[index] ?? "" }))
    .filter((pair) => pair.expected.trim() !== "")
    .map((pair) => ({ ...pair, expected: toIndentation(pair.expected) }));
  return findShift(pairs) ?? findTabs(pairs, true) ?? findTabs(pairs, false);
}

/** Undefined if a line has not the indentation that is to change. */
export function changeIndentation(text: string, change: IndentationChange): string | undefined {
  const changed: string[] = [];
  for (const line of text.split("\n")) {
    const own = line.trim() === "" ? line : changeLine(line, change);
    if (own === undefined) return undefined;
    changed.push(own);
  }
  return changed.join("\n");
}

interface Pair {
  readonly actual: string;
  readonly expected: string;
}

function findShift(pairs: readonly Pair[]): IndentationChange | undefined {
  let shift: { readonly blanks: string; readonly isMore: boolean } | undefined;
  for (const pair of pairs) {
    const own = toShift(pair);
    if (own === undefined || (shift && (own.blanks !== shift.blanks || own.isMore !== shift.isMore))) return undefined;
    shift = own;
  }
  return shift && shift.blanks !== "" ? { kind: "shift", ...shift } : undefined;
}

function toShift({ actual, expected }: Pair): { readonly blanks: string; readonly isMore: boolean } | undefined {
  if (actual.endsWith(expected)) return { blanks: actual.slice(0, actual.length - expected.length), isMore: true };
  if (!expected.endsWith(actual)) return undefined;
  return { blanks: expected.slice(0, expected.length - actual.length), isMore: false };
}

/** Each line has one tab for the same number of blanks. */
function findTabs(pairs: readonly Pair[], toTabs: boolean): IndentationChange | undefined {
  let width: number | undefined;
  for (const { actual, expected } of pairs) {
    const [tabs, blanks] = toTabs ? [actual, expected] : [expected, actual];
    if (/[^\t]/.test(tabs) || /[^ ]/.test(blanks) || (tabs === "") !== (blanks === "")) return undefined;
    if (tabs === "") continue;
    width ??= blanks.length / tabs.length;
    if (tabs.length * width !== blanks.length) return undefined;
  }
  return width !== undefined && Number.isInteger(width) ? { kind: "tabs", width, toTabs } : undefined;
}

function changeLine(line: string, change: IndentationChange): string | undefined {
  if (change.kind === "shift") {
    if (change.isMore) return change.blanks + line;
    return line.startsWith(change.blanks) ? line.slice(change.blanks.length) : undefined;
  }
  const indentation = toIndentation(line);
  const rest = line.slice(indentation.length);
  if (!change.toTabs) return indentation.replaceAll("\t", " ".repeat(change.width)) + rest;
  // A tab in it would stand for another width.
  if (indentation.includes("\t")) return undefined;
  const tabs = Math.floor(indentation.length / change.width);
  return "\t".repeat(tabs) + " ".repeat(indentation.length % change.width) + rest;
}

function toIndentation(line: string): string {
  return line.slice(0, line.search(/[^ \t]|$/));
}
