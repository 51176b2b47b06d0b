import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { describeWhere } from "./describe-where.ts";

/** Folder of the recorded streams and answers that live outside the repository. */
const fixturesFolder = resolve(process.env["SHEAF_FIXTURES"] ?? join(import.meta.dirname, "../../../shared/fixtures"));

/**
 * Runs `body` with the path of `fixturesFolder/part`.
 * Where the folder is missing the block is one skipped test that says so; with CI=true that is a failure.
 */
export function describeWithFixtures(part: string, body: (folder: string) => void): void {
  const folder = join(fixturesFolder, part);
  const missing = `no recorded fixtures at ${folder}: set SHEAF_FIXTURES to their folder`;
  describeWhere(`fixtures ${part}`, existsSync(folder) ? undefined : missing, () => body(folder));
}
