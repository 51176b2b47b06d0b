/** One line of any text, in time. */
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { toOneLine } from "../src/to-one-line.ts";

test(verifies("S-214", "a million blanks of a model cost no time"), () => {
  expect(toOneLine("one \n\t\r\n two  three\n")).toBe("one two  three ");
  const blanks = " ".repeat(1_000_000);
  // Hours, if each blank is a place to begin.
  expect(toOneLine(`a${blanks}b`)).toBe(`a${blanks}b`);
});
