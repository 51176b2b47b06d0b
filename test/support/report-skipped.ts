/** Ends a test run with what was skipped, why, and the command that installs what is missing. */
import { dirname } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { deepFiles, isDeep } from "./depth.ts";
import type { Missing } from "./describe-where.ts";

interface SkippedTest {
  /** Path below the root of the repository. */
  readonly file: string;
  readonly missing: Missing;
}

/** Prints nothing if no test was skipped, and no file of a larger run was left to the night. */
export function createSkippedReporter(print: (text: string) => void): Reporter {
  return {
    onTestRunEnd(modules) {
      const skipped = modules.flatMap(listSkipped);
      if (skipped.length > 0) print(formatSkipped(skipped));
      if (!isDeep && modules.length > 1) print(`Left to npm run test:deep: ${deepFiles.join(", ")}\n`);
    },
  };
}

function listSkipped(module: TestModule): SkippedTest[] {
  return [...module.children.allTests("skipped")].flatMap((test) => {
    const { missing } = test.meta();
    return missing === undefined ? [] : [{ file: module.relativeModuleId, missing }];
  });
}

/** Formats a line for each reason, with the files, and a command for all packages. */
export function formatSkipped(skipped: readonly SkippedTest[]): string {
  const byReason = Map.groupBy(skipped, ({ missing }) => missing.reason);
  const lines = [...byReason].map(([reason, tests]) => `  ${reason}: ${formatFiles(tests)}\n`);
  const packages = new Set(skipped.flatMap(({ missing }) => missing.packages ?? []));
  const command = `To run them: apt-get install ${[...packages].toSorted().join(" ")}\n`;
  return `Skipped on this machine:\n${lines.toSorted().join("")}${packages.size > 0 ? command : ""}`;
}

/** Formats several files of a folder as their number: `test/page (20 files), test/published/deploy.test.ts`. */
function formatFiles(tests: readonly SkippedTest[]): string {
  const byFolder = Map.groupBy(new Set(tests.map(({ file }) => file)), (file) => dirname(file));
  return [...byFolder]
    .map(([folder, files]) => (files.length > 1 ? `${folder} (${files.length} files)` : files[0]))
    .join(", ");
}
