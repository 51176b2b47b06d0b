import fc from "fast-check";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { describe, expect, test } from "vitest";
import { formulas, formulasFromMarkdown } from "../../src/math/parse-math.ts";
import { parseMarkdown } from "../../src/markdown/parse-markdown.ts";
import { chooseRuns } from "../../../../test/support/soak.ts";

/** With every construct, whatever the text. */
const parseInFull = (source: string): unknown =>
  fromMarkdown(source, {
    extensions: [gfm({ singleTilde: false }), formulas],
    mdastExtensions: [gfmFromMarkdown(), formulasFromMarkdown],
  });

describe("texts with and without tables and bare addresses", () => {
  test.each([
    "see www.example.com",
    "see WWW.example.com",
    "see https://example.com/a?b",
    "HTTP://example.com",
    "mail a@example.com",
    "mail a&#64;example.com",
    "mail a&commat;example.com",
    "http&colon;//example.com",
    "http\\://example.com",
    "&#104;ttps://example.com",
    "ww&#119;.example.com",
    "| a |\n| - |",
    "a\n:-",
    "a\n-:\nb",
    "a | b\n- | -",
  ])("%s has the same tree", (source) => {
    expect(parseMarkdown(source)).toEqual(parseInFull(source));
  });

  test("any text has the same tree", () => {
    const words = [
      "a",
      "B1",
      " ",
      "\n",
      "\n\n",
      "**",
      "~~",
      "- [ ] ",
      "[^a]",
      "[a]",
      "(b)",
      "`",
      "---",
      "- ",
      "\n-",
      ":",
      "&#64;",
    ];
    const signs = ["|", "|-", ":-", "@", "&", "www.", "http", "s://", ".", "_", "\\"];
    const text = fc.array(fc.constantFrom(...words, ...signs), { maxLength: 24 }).map((parts) => parts.join(""));
    const plain = fc.array(fc.constantFrom(...words.slice(0, -1)), { maxLength: 24 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.oneof(text, plain), (source) => {
        let full: unknown;
        try {
          full = parseInFull(source);
        } catch {
          return;
        }
        expect(parseMarkdown(source)).toEqual(full);
      }),
      { numRuns: chooseRuns(300) },
    );
  });
});
