import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { ConnectionError, SheafApiError } from "../src/errors.ts";
import { isRetryable, reconnectDefaults, toDelay } from "../src/reconnect.ts";

test(
  verifies("X2", "the wait begins with what the server said, but at 100 ms, doubles, has jitter and a bound"),
  () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 1e9 }), (tries, first) => {
        const delay = toDelay(tries, first, reconnectDefaults);
        const middle = Math.max(first, 100) * 2 ** (tries - 1);
        expect(delay).toBeLessThanOrEqual(Math.min(middle * 1.5, reconnectDefaults.maxDelayMs));
        expect(delay).toBeGreaterThanOrEqual(Math.min(middle * 0.5, reconnectDefaults.maxDelayMs));
      }),
    );
  },
);

test("clients that lost the same server come back one by one", () => {
  const delays = Array.from({ length: 100 }, () => toDelay(1, 1000, reconnectDefaults));
  expect(new Set(delays).size).toBeGreaterThan(90);
});

test.each([
  [408, undefined, true],
  [429, undefined, true],
  [429, 30_000, true],
  [429, 30_001, false],
  [500, undefined, true],
  [503, 1000, true],
  [400, undefined, false],
  [401, undefined, false],
  [409, 1, false],
])("status %d with a wait of %s ms: %s", (status, retryAfter, expected) => {
  const error = new SheafApiError({ status, errorCode: "", message: "", source: "", details: "", retryAfter });
  expect(isRetryable(error, reconnectDefaults)).toBe(expected);
});

test("a broken connection passes, a mistake does not", () => {
  expect(isRetryable(new ConnectionError(), reconnectDefaults)).toBe(true);
  expect(isRetryable(undefined, reconnectDefaults)).toBe(true);
  expect(isRetryable(new TypeError("x is undefined"), reconnectDefaults)).toBe(false);
});
