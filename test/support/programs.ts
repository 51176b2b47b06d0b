import { spawnSync } from "node:child_process";
import { describe, test } from "vitest";

/** Runs `body` where a program is installed; elsewhere one skipped test says so, and with CI=true it fails. */
export function describeWithProgram(program: string, body: () => void): void {
  describe(program, () => {
    if (spawnSync(program, ["--version"]).error === undefined) return body();
    const message = `${program} is not installed: install its package`;
    if (process.env["CI"] === "true") {
      test(message, () => {
        throw new Error(message);
      });
    } else {
      test.skip(`SKIPPED: ${message}`, () => undefined);
    }
  });
}
