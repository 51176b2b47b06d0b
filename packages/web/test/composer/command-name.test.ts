import { expect, test } from "vitest";
import { findCommandName } from "../../src/composer/command-name.ts";

test.each([
  ["/", { start: 0, query: "" }],
  ["\n /tech-de", { start: 2, query: "tech-de" }],
  ["/risks ", undefined],
  ["/etc/hosts", undefined],
  ["see /risks", undefined],
  ["", undefined],
])("%j ends with the name %j", (text, word) => {
  expect(findCommandName(text, text.length)).toEqual(word);
});
