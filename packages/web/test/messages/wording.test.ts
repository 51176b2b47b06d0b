import { expect, test } from "vitest";
import { chinese } from "../../src/messages/chinese.ts";
import { german } from "../../src/messages/german.ts";
import { turkish } from "../../src/messages/turkish.ts";

/** Every text, those of functions as their source. */
function collectTexts(value: unknown): readonly string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(collectTexts);
  return [String(value)];
}

/** One word for one thing: the first is what the language uses, the second what must not stand next to it. */
test.each([
  ["German", german, /\bChats?\b/, /Gespräch|Konversation|Unterhaltung/],
  ["Turkish", turkish, /[Ss]ohbet/, /[Kk]onuşma/],
  ["Turkish", turkish, /[Mm]esaj/, /\b[İi]leti/],
  ["Chinese", chinese, /Token/, /詞元|令牌/],
] as const)("%s has one word where English has one (%#)", (_, messages, used, other) => {
  const texts = collectTexts(messages);
  expect(texts.some((text) => used.test(text))).toBe(true);
  expect(texts.filter((text) => other.test(text))).toEqual([]);
});
