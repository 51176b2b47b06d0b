import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { describeWhere } from "./describe-where.ts";

/** Folder of the recorded streams and answers that live outside the repository. */
const fixturesFolder = resolve(process.env["SHEAF_FIXTURES"] ?? join(import.meta.dirname, "../../../shared/fixtures"));

/**
 * Runs `body` with the path of `fixturesFolder/part`.
 * If the folder is missing, one skipped test shows that; with CI=true it fails.
 */
export function describeWithFixtures(part: string, body: (folder: string) => void): void {
  const folder = join(fixturesFolder, part);
  const reason = `there are no recorded streams in ${fixturesFolder}: set SHEAF_FIXTURES to their folder`;
  describeWhere(`fixtures ${part}`, existsSync(folder) ? undefined : { reason }, () => body(folder));
}
