/** Where a text and its cursor are in a terminal of so many columns. */
import { toVisibleText } from "../../output/visible-text.ts";
import type { Line } from "./line-buffer.ts";

export interface Layout {
  /** None fills the terminal's width, so that no terminal wraps one. */
  readonly rows: readonly string[];
  /** Cells of each row. */
  readonly widths: readonly number[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** East Asian wide and full-width characters, and emoji. */
const wide =
  /^(?:[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation})/u;

/** Marks and joiners that stand alone. */
const empty = /^[\p{M}\p{Cf}]+$/u;

const plain = /^[\u0020-\u007E]*$/;

/** Cells of one character. */
function toCellWidth(character: string): number {
  if (empty.test(character)) return 0;
  return wide.test(character) || /\uFE0F/.test(character) ? 2 : 1;
}

/** A character as it is drawn. */
function toDrawn(character: string): string {
  return character === "\t" ? "    " : toVisibleText(character);
}

interface Cell {
  readonly drawn: string;
  readonly width: number;
  /** UTF-16 units of the text. */
  readonly units: number;
}

function toCells(text: string): Cell[] {
  if (plain.test(text)) return Array.from(text, (drawn) => ({ drawn, width: 1, units: 1 }));
  return Array.from(characters.segment(text), ({ segment }) => {
    const drawn = toDrawn(segment);
    return { drawn, width: segment === "\t" ? 4 : toCellWidth(drawn), units: segment.length };
  });
}

/** Cells of a text. */
export function toWidth(text: string): number {
  return toCells(text).reduce((sum, { width }) => sum + width, 0);
}

/** Lines after the first one are indented like the prompt, where it is short. */
export function layOut(prompt: string, { text, cursor }: Pick<Line, "text" | "cursor">, columns: number): Layout {
  const limit = Math.max(2, columns - 1);
  const rows: string[] = [];
  const widths: number[] = [];
  let cursorAt = { row: 0, column: 0 };
  let index = 0;
  const lines = text.split("\n");
  for (const [number, line] of lines.entries()) {
    const lead = number === 0 ? prompt : "  ";
    let row = "";
    let width = 0;
    const take = ({ drawn, width: cells }: Pick<Cell, "drawn" | "width">): void => {
      if (width + cells > limit) {
        rows.push(row);
        widths.push(width);
        [row, width] = ["", 0];
      }
      row += drawn;
      width += cells;
    };
    for (const cell of toCells(lead)) take(cell);
    for (const cell of toCells(line)) {
      // The cursor is on the row of the character after it.
      const isNext = index === cursor;
      take(cell);
      if (isNext) cursorAt = { row: rows.length, column: width - cell.width };
      index += cell.units;
    }
    if (index === cursor) cursorAt = { row: rows.length, column: width };
    index += 1;
    rows.push(row);
    widths.push(width);
  }
  return { rows, widths, cursorRow: cursorAt.row, cursorColumn: cursorAt.column };
}

/** The rows around the cursor that fit; what is above and below is counted. */
export function toWindow(layout: Layout, height: number): Layout {
  const { rows, cursorRow } = layout;
  if (rows.length <= height || height < 3) return height < 3 ? toSlice(layout, cursorRow, cursorRow + 1) : layout;
  const start = Math.min(Math.max(0, cursorRow - height + 3), rows.length - height + 2);
  const end = start + height - 2;
  const above = start > 0 ? [`… ${start} above`] : [];
  const below = end < rows.length ? [`… ${rows.length - end} below`] : [];
  const shown = toSlice(layout, start, end);
  return {
    rows: [...above, ...shown.rows, ...below],
    widths: [...above.map(toWidth), ...shown.widths, ...below.map(toWidth)],
    cursorRow: shown.cursorRow + above.length,
    cursorColumn: shown.cursorColumn,
  };
}

function toSlice({ rows, widths, cursorRow, cursorColumn }: Layout, start: number, end: number): Layout {
  return { rows: rows.slice(start, end), widths: widths.slice(start, end), cursorRow: cursorRow - start, cursorColumn };
}

/** The row of the cursor after the terminal has wrapped what was drawn at another width. */
export function toReflowedRow({ widths, cursorRow, cursorColumn }: Layout, columns: number): number {
  const above = widths.slice(0, cursorRow).reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
  // After the last character of a full row the cursor stays in it.
  const isAtEnd = cursorColumn > 0 && cursorColumn === widths[cursorRow];
  return above + Math.floor((isAtEnd ? cursorColumn - 1 : cursorColumn) / columns);
}

/** The end of a text in one row, for the line below an answer. */
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
