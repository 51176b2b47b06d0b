import { expect, test } from "vitest";
import { isOnlyLinks, toInlineText } from "../../../../src/model/offline/summary/inline-text.ts";

test.each([
  ["plain words", "plain words"],
  ["a [link](https://x.example 'title') b", "a link b"],
  ["a [**bold** link](x) b", "a bold link b"],
  ["[a [nested] label](x)", "a [nested] label"],
  ["[ref][1] and [ref]", "ref and [ref]"],
  ["![image](x.png) text", "text"],
  ["[![badge](x)](y) text", "text"],
  ["`code with [brackets](x)` stays", "`code with [brackets](x)` stays"],
  ["``a ` b`` stays", "``a ` b`` stays"],
  ["**bold**, *italic*, __both__, ~~gone~~", "bold, italic, both, gone"],
  ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"],
  ["<b>bold</b> a<br>b <https://x.example> 1 < 2", "bold a b https://x.example 1 < 2"],
  ["a &amp; b &lt;c&gt; &#65; &nope;", "a & b <c> A &nope;"],
  [String.raw`\*not bold\* \[x\]`, "*not bold* [x]"],
  ["text[^1] more", "text more"],
  ["[x] done", "done"],
  ["a   b\tc", "a b c"],
  ["unclosed [link and `code", "unclosed [link and `code"],
  ["", ""],
])("%s", (markdown, text) => {
  expect(toInlineText(markdown)).toBe(text);
});

test.each([
  ["[a](x) | [b](y) · [c](z)", true],
  ["[![a](b)](c) ![d](e)", true],
  ["See [a](x) for what there is to know.", false],
  ["no links", false],
])("only links: %s", (markdown, isMenu) => {
  expect(isOnlyLinks(markdown)).toBe(isMenu);
});
