import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "vitest";

/** Folder of the recorded streams and answers that live outside the repository. */
const fixturesFolder = resolve(process.env["SHEAF_FIXTURES"] ?? join(import.meta.dirname, "../../../shared/fixtures"));

/**
 * Runs `body` with the path of `fixturesFolder/part`.
 * Where the folder is missing the block is one skipped test that says so; with CI=true that is a failure.
 */
export function describeWithFixtures(part: string, body: (folder: string) => void): void {
  const folder = join(fixturesFolder, part);
  describe(`fixtures ${part}`, () => {
    if (existsSync(folder)) return body(folder);
    const message = `no recorded fixtures at ${folder}: set SHEAF_FIXTURES to their folder`;
    if (process.env["CI"] === "true") {
      test(message, () => {
        throw new Error(message);
      });
    } else {
      test.skip(`SKIPPED: ${message}`, () => undefined);
    }
  });
}
