import { expect, test } from "vitest";
import { toTitle } from "../../../src/run/conversations/respond.ts";

test.each([
  ["Add a test\nand more", "Add a test"],
  [`Explain ${"every word ".repeat(9)}`, `Explain ${"every word ".repeat(6)}every…`],
  ["x".repeat(100), `${"x".repeat(79)}…`],
  [`Read ${"x".repeat(100)}`, `Read ${"x".repeat(74)}…`],
])("the title of %j is its first words", (prompt, title) => {
  expect(toTitle(prompt)).toBe(title);
});
