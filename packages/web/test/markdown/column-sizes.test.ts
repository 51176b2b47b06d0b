import type { Table } from "mdast";
import { expect, test } from "vitest";
import { toColumnSizes } from "../../src/markdown/column-sizes.ts";

const toRow = (...texts: readonly string[]): Table["children"][number] => ({
  type: "tableRow",
  children: texts.map((value) => ({
    type: "tableCell",
    children: [{ type: "strong", children: [{ type: "inlineCode", value }] }],
  })),
});

test("a column has the room that its longest cell needs", () => {
  const rows = [toRow("No", "Region", "Note"), toRow("1", "x".repeat(30), "x".repeat(81)), toRow("2")];
  expect(toColumnSizes({ children: rows })).toEqual(["short", "medium", "long"]);
  expect(toColumnSizes({ children: [] })).toEqual([]);
});
