import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMarkdownStyler } from "../../../src/output/terminal/markdown-styler.ts";
import { verifies } from "../../../../../test/support/verifies.ts";

function style(pieces: readonly string[], hasColors = true): string {
  const styler = createMarkdownStyler({ hasColors });
  return pieces.map((piece) => styler.push(piece)).join("") + styler.end();
}

// oxlint-disable-next-line no-control-regex -- the looks that are taken off again
const withoutLooks = (text: string): string => text.replaceAll(/\u001B\[\d+m/g, "");

const token = fc.constantFrom("#", " ", "`", "```", "~~~", "*", "**", "a", "word", "\n", "\r\n", "é", "\u{1F600}");
const texts = fc.array(token, { maxLength: 40 }).map((tokens) => tokens.join(""));

describe("looks", () => {
  test.each([
    ["# Title\nx", "\u001B[1m# Title\u001B[22m\nx"],
    ["a **b** c", "a \u001B[1m**b**\u001B[22m c"],
    ["say `x*y`\n", "say \u001B[36m`x*y`\u001B[39m\n"],
    ["```js\n# no **title**\n```\n", "\u001B[2m```js\u001B[22m\n# no **title**\n\u001B[2m```\u001B[22m\n"],
    ["2 * 3", "2 * 3"],
    ["open `code\nnext", "open \u001B[36m`code\u001B[39m\nnext"],
    ["#tag", "#tag"],
  ])("%j", (text, expected) => {
    expect(style([text])).toBe(expected);
  });

  test("however the text is cut, the same comes out, and nothing of the text is lost", () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(200), { maxLength: 12 }), (text, cuts) => {
        const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].toSorted((one, other) => one - other);
        const pieces = [...places, text.length].map((end, index) => text.slice(places[index - 1] ?? 0, end));
        expect(style(pieces)).toBe(style([text]));
        expect(withoutLooks(style(pieces))).toBe(text.replaceAll("\r\n", "\n"));
        expect(style(pieces, false)).toBe(text.replaceAll("\r\n", "\n"));
      }),
    );
  });

  test(verifies(["C11", "S-70"], "no control character of the text reaches the terminal"), () => {
    const hostile = "\u001B[2J\u0007\u009B31m\u202Eabc\u001B]0;title\u0007";
    // oxlint-disable-next-line no-control-regex -- these are the characters that must not pass
    expect(withoutLooks(style(hostile.split("")))).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/);
  });
});
