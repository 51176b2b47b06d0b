import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { isDefinitions, mayBeDefinitions } from "../src/link-definition.ts";
import { parseText } from "../src/text-parser.ts";
import { toCommonmarkFences } from "./markdown-oracle.ts";

const runs = chooseRuns(2000, 10_000);

describe("link reference definitions", () => {
  test.each([
    [["[a]: /u"]],
    [["[a]:", "/u"]],
    [["[a]: /u", "[b]: /u"]],
    [["[a", "b]: /u"]],
    [["[a\\]b]: /u"]],
    [["[a]: <>"]],
    [["[a]: <u \\> v>  "]],
    [["[a]: u(v(w))"]],
    [["[a]: /u'x'"]],
    [["[a]: /u 'x'"]],
    [["[a]: /u", '"x"']],
    [["[a]: /u (x", "y \\) z)"]],
    [["[a]: /u 'x", "y'", "[b]: /u"]],
    [[`[${"a".repeat(999)}]: /u`]],
  ])(verifies(["N16"], "%j is nothing else"), (lines) => {
    expect(mayBeDefinitions(lines[0]!)).toBe(true);
    expect(isDefinitions(lines.join("\n"))).toBe(true);
  });

  test.each([
    [["a"]],
    [["[a]"]],
    [["[a] : /u"]],
    [["[ ]: /u"]],
    [["[]: /u"]],
    [["[a"]],
    [["[a]:"]],
    [["[[a]]: /u"]],
    [["[a\\]: /u"]],
    [["[a]: <u"]],
    [["[a]: <u<v>"]],
    [["[a]: u(v"]],
    [["[a]: u)v"]],
    [["[a]: \u0001"]],
    [["[a]: <u>'x'"]],
    [["[a]: /u x"]],
    [["[a]: /u 'x' y"]],
    [["[a]: /u 'x"]],
    [["[a]: /u (x(y)"]],
    [["[a]: /u", "x"]],
    [["[a]: /u", "'x' y"]],
    [["[a]: /u", "'x"]],
    [["[a]: /u", "===", "[b]: /u"]],
    [[`[${"a".repeat(1000)}]: /u`]],
    [[`[a]: ${"(".repeat(33)}${")".repeat(33)}`]],
  ])(verifies(["N16"], "%j is other text too"), (lines) => {
    expect(isDefinitions(lines.join("\n"))).toBe(false);
  });

  test(verifies(["N16", "N17"], `${runs} paragraphs have an underline where commonmark.js has one`), () => {
    const pieces =
      "[a]: /u|[a]:|/u|'t'|\"t|t\"|(t)|(t|t)|(a(b)|[a|b]: /u|[a]: <u>|[a]: <u|[a]: u(v)|[a]: u(v|[a]: u)|[a]: /u 't' x|" +
      "[a]: /u't'|[a\\]]: /u|[a\\|[ ]: /u|[a] : /u|[a]: /u\\ b|[a]: <u\\>v>|[a]: <>|'a\\'b'|[a]: \\|[[a]]: /u|[a]:  |  [b]: /u 't'|foo|==|    x";
    const lines = fc.array(fc.constantFrom(...pieces.split("|")), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(lines, fc.constantFrom("===", "-", "---", "  =  "), (paragraph, underline) => {
        // Only behind an underline, not within a paragraph, can a list start with 2; the fence is in its item then.
        const text = `${paragraph.join("\n")}\n${underline}\n2. b\n   \`\`\`\n   x`;
        expect(parseText(text).map(({ type }) => type)).toEqual(
          toCommonmarkFences(text).length > 0 ? ["text", "code_block"] : ["text"],
        );
      }),
      { numRuns: runs, seed: 7 },
    );
  });
});
