import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** One word for one thing: the first is the word of the language, the second must not stand next to it. */
test.each([
  ["de", /\bChats?\b/, /Gespräch|Konversation|Unterhaltung/],
  ["tr", /[Ss]ohbet/, /[Kk]onuşma/],
  ["tr", /[Mm]esaj/, /\b[İi]leti/],
  ["zh-tw", /Token/, /詞元|令牌|服务器/],
] as const)("%s has one word where English has one (%#)", (code, used, other) => {
  const text = readFileSync(new URL(`../../src/messages/${code}.json`, import.meta.url), "utf8");
  expect(text).toMatch(used);
  expect(text.split("\n").filter((line) => other.test(line.replace(/"\w+": /, "")))).toEqual([]);
});
