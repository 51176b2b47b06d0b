/** The text around a match of a search. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { findExcerpt } from "../src/search-excerpt.ts";
import { verifies } from "../../../test/support/verifies.ts";

/** With the matches in brackets. */
function show(text: string, words: string): string | undefined {
  const excerpt = findExcerpt(text, words);
  if (!excerpt) return undefined;
  let shown = "";
  let at = 0;
  for (const { start, end } of excerpt.ranges) {
    shown += `${excerpt.text.slice(at, start)}[${excerpt.text.slice(start, end)}]`;
    at = end;
  }
  return shown + excerpt.text.slice(at);
}

const filler = "one two three four five six seven eight nine ten ";

test.each([
  ["Fix the parser", "PARSER", "Fix the [parser]"],
  ["  a\n\n\tb  ", "b", "a [b]"],
  ["aXbxc", "x", "a[X]b[x]c"],
  ["aaa", "aa", "[aa]a"],
  ["<b>bold</b>", "<B>", "[<b>]bold</b>"],
  ["İİ größer GRÖSSER", "größer", "İİ [größer] GRÖSSER"],
  ["İİ", "i", "[İ][İ]"],
  ["aİb İ", "i\u0307b", "a[İb] İ"],
  ["x".repeat(40), "y", undefined],
  [
    `${filler.repeat(3)}needle ${filler.repeat(9)}`,
    "needle",
    "…one two three four five six seven eight nine ten [needle] one two three four five six seven eight nine ten one two three four five six seven eight nine ten one…",
  ],
] as const)(verifies("X36", "%j with %j"), (text, words, shown) => {
  expect(show(text, words)).toBe(shown);
});

test(verifies("X36", "an excerpt is short, on one line, and cuts no character, whatever text and words are"), () => {
  const character = fc.constantFrom("a", "B", "İ", "ß", "😀", "\n", " ", "é");
  const texts = fc.string({ unit: character, maxLength: 600 });
  fc.assert(
    fc.property(texts, texts, fc.string({ unit: character, minLength: 1, maxLength: 4 }), (before, after, words) => {
      const excerpt = findExcerpt(before + words + after, words);
      expect(excerpt).toBeDefined();
      const { text, ranges } = excerpt!;
      expect(text.length).toBeLessThanOrEqual(162);
      expect(text).not.toMatch(/\n|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/);
      expect(ranges.length).toBeGreaterThan(0);
      let at = 0;
      for (const { start, end } of ranges) {
        expect(start).toBeGreaterThanOrEqual(at);
        expect(end).toBeGreaterThan(start);
        at = end;
      }
      expect(at).toBeLessThanOrEqual(text.length);
    }),
  );
});
