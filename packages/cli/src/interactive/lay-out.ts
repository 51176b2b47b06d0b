/** Arranges a text and its cursor in a terminal of some width. */
import { toVisibleText } from "@sheaf/agent/output/visible-text";
import { characters, type Line } from "./line-buffer.ts";

export interface Layout {
  /** Rows, each narrower than the terminal, so that no terminal wraps one. */
  readonly rows: readonly string[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

/** Matches East Asian wide and full-width characters, and emoji. */
const wide =
  /^(?:[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation})/u;

/** Matches marks and joiners without a base character. */
const empty = /^[\p{M}\p{Cf}]+$/u;

const plain = /^[\u0020-\u007E]*\n?$/;

interface Cell {
  readonly drawn: string;
  readonly width: number;
  /** Length in UTF-16 units. */
  readonly units: number;
}

function toCells(text: string): Cell[] {
  return text.split(/(?<=\n)/).flatMap((line) => {
    if (plain.test(line)) return Array.from(line, (drawn) => ({ drawn, width: 1, units: 1 }));
    return Array.from(characters.segment(line), ({ segment }) => {
      const units = segment.length;
      if (segment === "\t") return { drawn: "    ", width: 4, units };
      const drawn = toVisibleText(segment);
      if (empty.test(drawn)) return { drawn, width: 0, units };
      return { drawn, width: wide.test(drawn) || drawn.includes("\uFE0F") ? 2 : 1, units };
    });
  });
}

/** Returns the width of a text in cells. */
export function toWidth(text: string): number {
  return toCells(text).reduce((sum, { width }) => sum + width, 0);
}

/** Lays out a line. Rows after a line feed are indented like a short prompt. */
export function layOut(prompt: string, { text, cursor }: Pick<Line, "text" | "cursor">, columns: number): Layout {
  const limit = Math.max(2, columns - 1);
  const rows: string[] = [];
  let [row, width, index] = ["", 0, -prompt.length];
  let at = { cursorRow: 0, cursorColumn: 0 };
  for (const cell of [...toCells(prompt), ...toCells(text)]) {
    const isBreak = cell.drawn === "\n";
    if (!isBreak && width + cell.width > limit) {
      rows.push(row);
      [row, width] = ["", 0];
    }
    // The cursor is on the row of the character after it.
    if (index === cursor) at = { cursorRow: rows.length, cursorColumn: width };
    index += cell.units;
    if (isBreak) {
      rows.push(row);
      [row, width] = ["  ", 2];
    } else {
      row += cell.drawn;
      width += cell.width;
    }
  }
  if (index === cursor) at = { cursorRow: rows.length, cursorColumn: width };
  return { rows: [...rows, row], ...at };
}

/** Returns the rows around the cursor that fit, with the numbers of hidden rows if there is room. */
export function toWindow(layout: Layout, height: number): Layout {
  const { rows, cursorRow, cursorColumn } = layout;
  if (rows.length <= height) return layout;
  const hasCounts = height >= 3;
  const size = hasCounts ? height - 2 : 1;
  const start = Math.min(Math.max(0, cursorRow - size + 1), rows.length - size);
  const below = rows.length - start - size;
  const above = hasCounts && start > 0 ? [`… ${start} above`] : [];
  return {
    rows: [...above, ...rows.slice(start, start + size), ...(hasCounts && below > 0 ? [`… ${below} below`] : [])],
    cursorRow: cursorRow - start + above.length,
    cursorColumn,
  };
}

/** Returns the cursor's row after the terminal has wrapped rows that were drawn at another width. */
export function toReflowedRow({ rows, cursorRow, cursorColumn }: Layout, columns: number): number {
  const above = rows.slice(0, cursorRow).reduce((sum, row) => sum + Math.max(1, Math.ceil(toWidth(row) / columns)), 0);
  // After the last character of a full row, the cursor stays in it.
  const isAtEnd = cursorColumn > 0 && cursorColumn === toWidth(rows[cursorRow] ?? "");
  return above + Math.floor((isAtEnd ? cursorColumn - 1 : cursorColumn) / columns);
}

/** Returns the end of a text as one row, for the line below an answer. */
export function toTail(text: string, columns: number): string {
  const cells = toCells(text.replaceAll("\n", "⏎"));
  let width = 0;
  let start = cells.length;
  while (start > 0 && width + cells[start - 1]!.width < columns) width += cells[--start]!.width;
  return cells
    .slice(start)
    .map(({ drawn }) => drawn)
    .join("");
}
