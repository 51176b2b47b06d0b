/** Lines of a change, from a git patch or from one replacement. */

export interface DiffLine {
  readonly kind: "same" | "added" | "removed" | "gap";
  /** Number in the old file, for same and removed lines. */
  readonly oldNumber?: number;
  /** Number in the new file, for same and added lines. */
  readonly newNumber?: number;
  readonly text: string;
  /** Range that differs from the partner line: its first UTF-16 unit, and the one after its last. */
  readonly changed?: readonly [from: number, to: number];
}

/** Reads the hunks of one file's unified diff, and ignores other lines. */
export function parsePatch(patch: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let oldNumber = 0;
  let newNumber = 0;
  let oldLeft = 0;
  let newLeft = 0;
  for (const line of patch.split("\n")) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/.exec(line);
    if (hunk && oldLeft <= 0 && newLeft <= 0) {
      [oldNumber, newNumber] = [Number(hunk[1]), Number(hunk[3])];
      [oldLeft, newLeft] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      // Nothing is hidden above the start of the file.
      const isStart = lines.length === 0 && Math.max(oldNumber, newNumber) <= 1;
      if (!isStart) lines.push({ kind: "gap", text: hunk[5]!.trim() });
    } else if (oldLeft > 0 || newLeft > 0) {
      const text = line.slice(1);
      if (line.startsWith("+")) {
        lines.push({ kind: "added", newNumber, text });
        newNumber += 1;
        newLeft -= 1;
      } else if (line.startsWith("-")) {
        lines.push({ kind: "removed", oldNumber, text });
        oldNumber += 1;
        oldLeft -= 1;
      } else if (!line.startsWith("\\")) {
        lines.push({ kind: "same", oldNumber, newNumber, text });
        oldNumber += 1;
        newNumber += 1;
        oldLeft -= 1;
        newLeft -= 1;
      }
    }
  }
  return markChanges(lines);
}

/** Returns the lines of a replacement: the old ones, then the new ones. */
export function toReplacementLines(oldText: string, newText: string, startLine: number): DiffLine[] {
  const removed = splitLines(oldText).map((text, index): DiffLine => ({
    kind: "removed",
    oldNumber: startLine + index,
    text,
  }));
  const added = splitLines(newText).map((text, index): DiffLine => ({
    kind: "added",
    newNumber: startLine + index,
    text,
  }));
  return markChanges([...removed, ...added]);
}

function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split(/\r\n|\n|\r/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** Marks the changed part of each pair, if a change removes and adds equally many lines. */
function markChanges(lines: readonly DiffLine[]): DiffLine[] {
  const marked = [...lines];
  for (let start = 0; start < marked.length; start += 1) {
    if (marked[start]!.kind !== "removed") continue;
    let middle = start;
    while (marked[middle]?.kind === "removed") middle += 1;
    let end = middle;
    while (marked[end]?.kind === "added") end += 1;
    if (end - middle === middle - start) {
      for (let index = start; index < middle; index += 1) {
        const partner = index + middle - start;
        [marked[index], marked[partner]] = markPair(marked[index]!, marked[partner]!);
      }
    }
    start = Math.max(start, end - 1);
  }
  return marked;
}

function markPair(removed: DiffLine, added: DiffLine): [DiffLine, DiffLine] {
  const shortest = Math.min(removed.text.length, added.text.length);
  let before = 0;
  while (before < shortest && removed.text[before] === added.text[before]) before += 1;
  let after = 0;
  while (after < shortest - before && removed.text.at(-1 - after) === added.text.at(-1 - after)) after += 1;
  // Lines that share little are different lines, not a changed one.
  if ((before + after) * 3 < Math.max(removed.text.length, added.text.length)) return [removed, added];
  const mark = (line: DiffLine): DiffLine => ({ ...line, changed: [before, line.text.length - after] });
  return [mark(removed), mark(added)];
}

/** One row of a diff with two columns. */
export interface DiffPair {
  readonly left: DiffLine | undefined;
  readonly right: DiffLine | undefined;
}

/** Pairs removed lines with the added lines that replace them. */
export function toPairs(lines: readonly DiffLine[]): DiffPair[] {
  const pairs: DiffPair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      pairs.push({ left: removed[index], right: added[index] });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "removed") {
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.kind === "added") added.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}
