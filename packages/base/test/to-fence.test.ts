import { expect, test } from "vitest";
import { toFence } from "../src/to-fence.ts";

test.each([
  ["", 3, 3],
  ["a `b` c", 3, 3],
  ["```", 3, 4],
  ["`````ts", 3, 6],
  ["no code", 1, 1],
  ["a `b` c", 1, 2],
])("%j gets a fence it cannot close", (text, shortest, length) => {
  expect(toFence(text, shortest)).toBe("`".repeat(length));
});

test("a text may have any number of runs", () => {
  expect(toFence("` ".repeat(300_000))).toBe("```");
});
