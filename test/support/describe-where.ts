/** Tests that need something of the machine. */
import { describe, test } from "vitest";

/** Runs `body` where nothing is missing; elsewhere one skipped test says what is, and with CI=true a failing one. */
export function describeWhere(title: string, missing: string | undefined, body: () => void): void {
  describe(title, () => {
    if (missing === undefined) return body();
    if (process.env.CI === "true") {
      test(missing, () => {
        throw new Error(missing);
      });
    } else {
      test.skip(`SKIPPED: ${missing}`, () => undefined);
    }
  });
}
