import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { isEndedByBlankLine, isHtmlBlockEnd, parseHtmlBlockStart } from "../src/html-block.ts";
import { parseText } from "../src/text-parser.ts";
import { toCommonmarkFences } from "./markdown-oracle.ts";

const runs = chooseRuns(2000, 10_000);

describe("HTML blocks", () => {
  test.each([
    [1, "<pre"],
    [1, "<SCRIPT src='x'>"],
    [1, "<style>a</style>"],
    [2, "<!-->"],
    [3, "<?php"],
    [4, "<!x"],
    [5, "<![CDATA["],
    [6, "<div"],
    [6, "</H1>x"],
    [6, "<hr/>"],
    [6, "<search\tx"],
    [7, "<a>"],
    [7, "<a-1 b :c='>' d=\"e\" f = g/h />\t"],
    [7, "</a >"],
    [7, "</pre>"],
    [0, "<"],
    [0, "< a>"],
    [0, "<1>"],
    [0, "<a"],
    [0, "<a>b"],
    [0, "</a b>"],
    [0, "<a b='c'd>"],
    [0, "<a b=c`d>"],
    [0, "<a =b>"],
    [0, "<a_b>"],
    [0, "<!-"],
    [0, "<!1"],
    [0, "<![cdata["],
    [0, "<divx"],
    [0, "<div/x"],
  ])(verifies(["N16"], "kind %s: %j"), (kind, text) => {
    expect(parseHtmlBlockStart(text)).toBe(kind);
  });

  test(verifies(["N16"], "each kind has its end"), () => {
    expect(isHtmlBlockEnd(1, "a</Style>b")).toBe(true);
    expect(isHtmlBlockEnd(1, "</script")).toBe(false);
    expect(isHtmlBlockEnd(2, "a-->b")).toBe(true);
    expect(isHtmlBlockEnd(3, "a?>b")).toBe(true);
    expect(isHtmlBlockEnd(4, "a>b")).toBe(true);
    expect(isHtmlBlockEnd(5, "a]]>b")).toBe(true);
    expect(isHtmlBlockEnd(6, "</div>")).toBe(false);
    expect(isHtmlBlockEnd(7, "</a>")).toBe(false);
    expect(([1, 2, 3, 4, 5, 6, 7] as const).filter((kind) => isEndedByBlankLine(kind))).toEqual([6, 7]);
  });

  test(verifies(["N16", "N17"], `${runs} texts of tags hide the fences that commonmark.js hides`), () => {
    const pieces =
      "<a>|</a>|<a b>|<a b=c>|<a b=c/>|<a b='c' d>|<a b=\"c\"d>|<a/>|<a /b>|<a\t>|<a b = c>|<a =b>|<a b=`>|<a b=/c>|</a b>|</ a>|< a>|" +
      "<1>|<a1-b>|<a_b>|<a:b>|<div|</div|<div/|<divx|<div\tx|<h1>|<h7>|<h7 x|<pre|</pre|<pre/>|<pre x|<PRE>|</PRE>|<script>x</script>|" +
      "<script>|</script>|x</style>|<style>|<textarea|</textarea>|<!--|-->|<!-- -->|<!-->|<!--->|<!-|<?|?>|<?>|<!a|<!A>|<!1|>|<![CDATA[|" +
      "]]>|<![CDATA[]]>|<![cdata[|foo||||```|~~~|   ```|    ```|- ```|===|<search>|<menuitem>|<details>|</details>";
    const line = fc
      .tuple(fc.constantFrom("", "", "", "> ", "- ", "1. ", "  ", "    "), fc.constantFrom(...pieces.split("|")))
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), (lines) => {
        const text = lines.join("\n");
        const ours = parseText(text).filter(({ type }) => type !== "text");
        expect(ours.map(({ content }) => content)).toEqual(toCommonmarkFences(text).map(({ content }) => content));
      }),
      { numRuns: runs, seed: 8 },
    );
  });
});
