import type { Nodes, RootContent } from "mdast";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBlockParser } from "../../src/markdown/block-parser.ts";
import { parseMarkdown } from "../../src/markdown/parse-markdown.ts";
import { chooseRuns } from "../../../../test/support/soak.ts";

/** Blocks of the text after it came in pieces. */
function parseInPieces(pieces: readonly string[]): RootContent[] {
  const parser = createBlockParser();
  let text = "";
  for (const piece of pieces) {
    text += piece;
    parser.step(text, false);
  }
  for (let steps = 0; parser.step(text, true); steps += 1) expect(steps).toBeLessThan(10_000);
  expect(parser.rest).toBe("");
  return joinLists(parser.blocks.map(({ node, isContinued }) => ({ node, isContinued })));
}

/** Parts of one list become one list again. */
function joinLists(blocks: readonly { node: RootContent; isContinued: boolean }[]): RootContent[] {
  const nodes: RootContent[] = [];
  for (const { node, isContinued } of blocks) {
    const before = nodes.at(-1);
    if (isContinued && node.type === "list" && before?.type === "list") {
      nodes[nodes.length - 1] = { ...before, children: [...before.children, ...node.children] };
    } else nodes.push(node);
  }
  return nodes;
}

/** Without positions, and without what distinguishes loose lists from tight ones. */
function toPlain(node: Nodes): unknown {
  const { position: _, ...rest } = node;
  const plain: Record<string, unknown> = { ...rest };
  delete plain["spread"];
  if ("children" in node) plain["children"] = node.children.map((child) => toPlain(child));
  return plain;
}

/** Blocks without positions: of the pieces, and of the whole text. */
function parseBothWays(pieces: readonly string[]): { readonly grown: unknown[]; readonly whole: unknown[] } {
  return {
    grown: parseInPieces(pieces).map((node) => toPlain(node)),
    whole: parseMarkdown(pieces.join("")).children.map((node) => toPlain(node)),
  };
}

function cut(text: string, size: number): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
}

const samples: Readonly<Record<string, string>> = {
  paragraphs: "One *two*\nthree.\n\nFour **five** `six`.\n",
  "a list whose second item comes in pieces": "1. a\n\n2. b\n\n3. c\n\n- d\n- e\n",
  "a rule that began as an item": "- a\n---\nb\n\n---\n\n- c",
  "a heading that began as text": "a\n===\n\nb\n-\n\nc\n- d",
  "a table": "before\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nafter",
  "fences in items": "- a\n\n  ```js\n  x\n\n  y\n  ```\n\n- b\n",
  quotes: "> a\n> b\nc\n\n> d\n",
  html: "<div>\n\n*a*\n\n</div>\n\n<script>\nx\n\ny\n</script>\n\nb",
  "links defined later":
    "See [a] and [the b][b].\n\n- more [a]\n\n[a]: https://example.org/a\n[b]: https://example.org/b\n",
  "links defined before": "[a]: https://example.org/a\n\nSee [a].\n\nAnd [a] again.\n",
  footnotes: "One[^1].\n\n[^1]: Note\n\n    more of it\n\nTwo[^1].\n",
  "indented code": "a\n\n    code\n\n    more\n\nb",
  "line ends of other systems": "a\r\n\r\n- b\r\n\r\n- c\r\rd",
  nesting: "- a\n  - b\n    - c\n\n      d\n\n  e\n\nf",
};

describe("text that grows", () => {
  describe.each(Object.entries(samples))("%s", (_name, text) => {
    test.each([1, 2, 3, 7, 64])("in pieces of %i", (size) => {
      const { grown, whole } = parseBothWays(cut(text, size));
      expect(grown).toEqual(whole);
    });
  });

  test("any text, cut anywhere", () => {
    const line = fc.constantFrom(
      ..."a|- b|1. c|> d|    e|  f|---|===|```|| |\ta|# g|* h|+ i|2. j|<div>|</div>|<!--|-->|[x]: y|see [x]|[^n]|[^n]: z|a b|-|1|.|~~~|~~q~~|**r**".split(
        "|",
      ),
      "| a | b |",
      "|-|-|",
    );
    const end = fc.constantFrom("\n", "\n", "\n\n", "\r\n");
    // Where the parser itself is inconsistent: items under indented code, indented code under an empty item or a definition.
    const isClear = (source: string): boolean =>
      !/^(?:\t| {4}).*\r?\n\s*[-*+\d]/m.test(source) &&
      !/^(?:-|1\.)\s*\n\s*\n(?:\t| {4})/m.test(source) &&
      !/^\[.*\]: .*\r?\n(?:\t| {4})/m.test(source);
    const text = fc
      .array(fc.tuple(line, end), { maxLength: 14 })
      .map((lines) => lines.flat().join(""))
      .filter(isClear);
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (source, size) => {
        const { grown, whole } = parseBothWays(cut(source, size));
        expect(grown).toEqual(whole);
      }),
      { numRuns: chooseRuns(300) },
    );
  });

  test("a long list is kept item by item, and continues its numbering", () => {
    const items = Array.from({ length: 300 }, (_, index) => `1. item ${index} with some words\n   more of ${index}\n`);
    for (const pieces of [cut(items.join(""), 700), [items.join("")]]) {
      const { grown, whole } = parseBothWays(pieces);
      expect(grown).toEqual(whole);
    }
  });

  test("kept blocks keep their identity", () => {
    const parser = createBlockParser();
    parser.step("a\n\nb\n\nc\n", false);
    const before = parser.blocks;
    parser.step("a\n\nb\n\nc\nd", false);
    expect(parser.blocks[0]).toBe(before[0]);
    expect(parser.blocks[1]).toBe(before[1]);
    expect(parser.blocks[2]).not.toBe(before[2]);
  });

  test("a text on which the parser fails is shown as source", () => {
    const text = "-\n[x]\na\n";
    expect(parseMarkdown(text).children).toEqual([{ type: "html", value: text }]);
  });

  test("a different text starts anew", () => {
    const parser = createBlockParser();
    parser.step("a\n\nb\n\nc", false);
    parser.step("other", true);
    expect(parser.blocks).toHaveLength(1);
  });

  test("one step parses a window of a long text, not all of it", () => {
    const text = "word and more words\n\n".repeat(5000);
    const parser = createBlockParser();
    expect(parser.step(text, true)).toBe(true);
    expect(parser.rest.length).toBeGreaterThan(text.length - 4000);
    expect(parser.rest.length + parser.blocks.length).toBeLessThan(text.length);
  });

  test("a single block without an end is shown as source", () => {
    const parser = createBlockParser();
    const text = `${"word ".repeat(20_000).trimEnd()}\n\nAfter *it*.`;
    for (let steps = 0; parser.step(text, true); steps += 1) expect(steps).toBeLessThan(100);
    const nodes = parser.blocks.map(({ node }) => node);
    expect(nodes.at(-1)?.type).toBe("paragraph");
    const source = nodes.slice(0, -1).map((node) => (node.type === "html" ? node.value : ""));
    expect(Math.max(...source.map((part) => part.length))).toBeLessThanOrEqual(4096);
    expect(source.join("")).toBe(text.slice(0, text.indexOf("After")));
  });
});
