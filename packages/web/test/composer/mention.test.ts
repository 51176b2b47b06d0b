import { expect, test } from "vitest";
import { findMention, toMention } from "../../src/composer/mention.ts";

test.each([
  ["@", { start: 0, query: "" }],
  ["read @src/ma", { start: 5, query: "src/ma" }],
  ["(@a", { start: 1, query: "a" }],
  ['see @"my', { start: 4, query: "my" }],
  ["mail a@b", undefined],
  ["@done ", undefined],
  ["", undefined],
])("%j ends with the mention %j", (text, mention) => {
  expect(findMention(text, text.length)).toEqual(mention);
});

test("a path with a blank is quoted", () => {
  expect([toMention("a.md"), toMention("a b.md")]).toEqual(["@a.md ", '@"a b.md" ']);
});
