/** Widths of a table's columns. */
import type { Nodes, Table } from "mdast";

/** Numbers of letters from which a column keeps some width, so that sentences don't become towers of words. */
const sentence = 24;
const paragraph = 80;

/** Returns the width that each column needs, by its longest cell. */
export function toColumnSizes({ children: rows }: Pick<Table, "children">): readonly ("short" | "medium" | "long")[] {
  const lengths: number[] = [];
  for (const { children: cells } of rows) {
    for (const [column, cell] of cells.entries()) {
      lengths[column] = Math.max(lengths[column] ?? 0, toCellText(cell).length);
    }
  }
  return lengths.map((length) => (length > paragraph ? "long" : length > sentence ? "medium" : "short"));
}

/** Returns the letters of a tree, without its marks. */
export function toCellText(node: Nodes): string {
  if ("children" in node) return node.children.map(toCellText).join("");
  return "value" in node ? node.value : "";
}
