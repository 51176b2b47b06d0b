/** Which names a matcher of a hook accepts. */
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { parseMatcher } from "../../src/config/hook-settings.ts";

test(verifies("S-210", "a matcher that backtracks for hours accepts every name, and holds nothing up"), () => {
  const accepts = parseMatcher("^(a+)+$")!;
  expect(accepts("b")).toBe(false);
  expect(accepts(`${"a".repeat(60)}b`)).toBe(true);
  expect(accepts("b")).toBe(true);
});
