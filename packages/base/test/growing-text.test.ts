import { expect, test } from "vitest";
import { createGrowingText } from "../src/growing-text.ts";

test("the text is its pieces, joined, whenever it is asked for", () => {
  const growing = createGrowingText();
  expect(growing.text).toBe("");
  let whole = "";
  for (let index = 0; index < 5000; index += 1) {
    growing.push(`${index} `);
    whole += `${index} `;
    if (index % 700 === 0) expect(growing.text).toBe(whole);
  }
  expect(growing.text).toBe(whole);
});

test("a million pieces take little more than their characters", () => {
  const texts = [createGrowingText(), createGrowingText(), createGrowingText()];
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 1_000_000; index += 1) {
    const piece = "abc";
    for (const growing of texts) growing.push(piece);
  }
  // What is not used any more may still be there; three ropes of a million pieces would take 96 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(80_000_000);
  expect(texts.every(({ text }) => text.length === 3_000_000)).toBe(true);
});
