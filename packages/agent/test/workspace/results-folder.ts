/** Results that are kept in a folder of the test. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";
import { createKeptResults, type KeptResults } from "../../src/workspace/kept-results.ts";

interface ResultsFolder {
  readonly results: KeptResults;
  /** The text of a kept result. */
  readonly read: (name: string) => string;
}

export function createResults(): ResultsFolder {
  const dataFolder = createTemporaryFolder();
  const results = createKeptResults({ dataFolder, conversationId: "conv_1" });
  return { results, read: (name) => readFileSync(join(dataFolder, "results/conv_1", name), "utf8") };
}
