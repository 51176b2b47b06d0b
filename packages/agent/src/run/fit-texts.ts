/** Shortens texts to a size. The longest ones lose their middle; short ones stay whole. */
import { findLongest } from "@sheaf/base/find-longest";
import { cutMiddle } from "@sheaf/base/files/text-format";

/** UTF-16 units of a token, roughly: code and prose in Latin letters have three to four. */
const UNITS_PER_TOKEN = 3.5;

/** Estimates the tokens of a text. */
export function toTokens(text: string): number {
  return text.length / UNITS_PER_TOKEN;
}

/** The texts in at most about `maxTokens` together. A shortened text has a note between its head and its tail. */
export function fitTexts(texts: readonly string[], maxTokens: number): string[] {
  const longest = findLongest(texts, maxTokens * UNITS_PER_TOKEN);
  return texts.map((text) => cutMiddle(text, longest));
}
