import { expect, test } from "vitest";
import { formatDay } from "../../src/elements/format.ts";

const now = new Date(2026, 10, 28, 9, 30).getTime();

test.each([
  [new Date(2026, 10, 28, 0, 1), "today"],
  [new Date(2026, 10, 27, 23, 59), "yesterday"],
  [new Date(2026, 10, 22, 12), "Sunday"],
  [new Date(2026, 10, 21, 12), "November 2026"],
  [new Date(2025, 1, 3), "February 2025"],
  // A clock that is behind.
  [new Date(2026, 10, 29), "Sunday"],
])("%s is of the group %s", (moment, day) => {
  expect(formatDay(moment.toISOString(), "en", now)).toBe(day);
});

test("a moment that is no date is of no group", () => {
  expect(formatDay("soon", "en", now)).toBe("");
});
