import type { Nodes } from "mdast";
import { expect, test } from "vitest";
import type { FormulaNode } from "../../src/math/parse-math.ts";
import { parseMarkdown } from "../../src/markdown/parse-markdown.ts";

/** Formulas of a text, those on lines of their own with a mark. */
function findFormulas(node: Nodes | FormulaNode): string[] {
  if (node.type === "formula") return [node.isDisplay ? `display ${node.value}` : node.value];
  return "children" in node ? node.children.flatMap(findFormulas) : [];
}

test.each([
  ["a $x^2$ b", ["x^2"]],
  ["$x$, ($y$) and **$z$**", ["x", "y", "z"]],
  ["設$x$為整數", ["x"]],
  ["$a_1 * b_2 * c_3$", ["a_1 * b_2 * c_3"]],
  [String.raw`$\$5$`, [String.raw`\$5`]],
  [String.raw`\(x_i\) and \[ y \]`, ["x_i", "display y"]],
  ["$$\na\n= b\n$$", ["display a\n= b"]],
  ["$$ a $$", ["display a"]],
  [
    String.raw`\[
a \\
b
\]`,
    ["display a \\\\\nb"],
  ],
  ["> $x$\n> y", ["x"]],
])("%j has formulas", (source, formulas) => {
  expect(findFormulas(parseMarkdown(source))).toEqual(formulas);
});

test.each([
  "$5 and $10",
  "from $100-$200",
  "US$5 to US$10",
  "$5, but the $HOME",
  "$HOME/$PATH",
  "$HOME and $PATH",
  "$ x $",
  String.raw`\$x\$`,
  "`$x$`",
  "```\n$x$\n```",
  "$x",
  "$$x",
  "$$$x$$$",
  "$$",
  "$x\n\ny$",
  String.raw`f\(x\)`,
  String.raw`\(x`,
  String.raw`\[x`,
  `$${"x".repeat(5000)}$`,
])("%j has none", (source) => {
  expect(findFormulas(parseMarkdown(source))).toEqual([]);
});
