import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { layOut, toReflowedRow, toTail, toWidth, toWindow } from "../../src/interactive/lay-out.ts";

describe("a text in a terminal", () => {
  test("wraps before the last column, and wide characters as a whole", () => {
    const layout = layOut("> ", { text: "日本語abcdef", cursor: 3 }, 8);
    expect(layout).toEqual({ rows: ["> 日本", "語abcde", "f"], cursorRow: 1, cursorColumn: 2 });
  });

  test("has the cursor in the line where it is, also at its end", () => {
    const at = (text: string, cursor: number) => {
      const { cursorRow, cursorColumn } = layOut("> ", { text, cursor }, 80);
      return [cursorRow, cursorColumn];
    };
    expect(at("one\ntwo", 3)).toEqual([0, 5]);
    expect(at("one\ntwo", 4)).toEqual([1, 2]);
    expect(at("one\ntwo\n", 8)).toEqual([2, 2]);
    expect(at("", 0)).toEqual([0, 2]);
    expect(at("e\u0301x", 2)).toEqual([0, 3]);
  });

  test("shows no control character raw", () => {
    expect(layOut("", { text: "a\u001B[2J\tb\r", cursor: 0 }, 80).rows).toEqual(["a␛[2J    b␍"]);
  });

  test.each([
    ["abc", 3],
    ["日本", 4],
    ["👩‍👩‍👧", 2],
    ["e\u0301", 1],
    ["한글", 4],
    ["⚠\uFE0F", 2],
    ["ｆ", 2],
  ])("%s takes %i cells", (text, width) => {
    expect(toWidth(text)).toBe(width);
  });

  test("any text fits: each row, and the cursor, is within the terminal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 4, max: 50 }), fc.nat(), (text, columns, at) => {
        const cursor = Math.min(at, text.length);
        const { rows, cursorRow, cursorColumn } = layOut("> ", { text, cursor }, columns);
        const widths = rows.map(toWidth);
        expect(Math.max(...widths)).toBeLessThan(columns + 1);
        expect(cursorRow).toBeLessThan(rows.length);
        expect(cursorColumn).toBeLessThanOrEqual(widths[cursorRow]!);
      }),
    );
  });

  test("more rows than the terminal has are a window around the cursor", () => {
    const text = Array.from({ length: 30 }, (_, index) => `${index}`).join("\n");
    const end = toWindow(layOut("> ", { text, cursor: text.length }, 20), 6);
    expect([end.rows, end.cursorRow]).toEqual([["… 26 above", "  26", "  27", "  28", "  29"], 4]);
    const start = toWindow(layOut("> ", { text, cursor: 0 }, 20), 6);
    expect([start.rows, start.cursorRow]).toEqual([["> 0", "  1", "  2", "  3", "… 26 below"], 0]);
    expect(toWindow(start, 9)).toBe(start);
  });

  test("the row of the cursor in a narrower terminal", () => {
    const layout = layOut("> ", { text: "x".repeat(40), cursor: 40 }, 30);
    expect(layout.rows.map(toWidth)).toEqual([29, 13]);
    expect(toReflowedRow(layout, 10)).toBe(4);
    expect(toReflowedRow(layout, 13)).toBe(3);
  });

  test("the end of a text in one row", () => {
    expect(toTail("one\n日本", 6)).toBe("⏎日本");
    expect(toTail("ab", 6)).toBe("ab");
  });
});
