import { configDefaults, defineConfig } from "vitest/config";
import { deepFiles, isDeep } from "./test/support/depth.ts";
import { createSkippedReporter } from "./test/support/report-skipped.ts";

const isCi = process.env.CI === "true";

/** Tests by what they need. A file belongs to the project of its folder; CONTRIBUTING.md has the table. */
const folders = {
  sandbox: ["packages/sandbox/test", "packages/agent/test/sandbox"],
  program: ["test/conformance", "test/published"],
  browser: ["test/page", "test/browser"],
  soak: ["test/reliability"],
};

/** Files beside the fast ones that start servers, threads or git, and wait for them much of the time. */
const waiting = [
  "packages/agent/test/assemble/{create-agent,tool-servers}.test.ts",
  "packages/agent/test/network/*.test.ts",
  "packages/agent/test/run/schema-thread.test.ts",
  "packages/agent/test/tools/background-commands.test.ts",
  "packages/agent/test/workspace/{trees,undo}/*.test.ts",
  "packages/agent/test/run/conversations/undo-commands.test.ts",
  "packages/conformance/test/suite.test.ts",
  "packages/models/test/live/connection.test.ts",
  "packages/server/test/{git-trees,unstored-ends}.test.ts",
  "packages/store/test/{postgres,lost-answers,sqlite}.test.ts",
];

const inFolders = (paths: readonly string[]): string[] => paths.map((path) => `${path}/**/*.test.ts`);

const notNow = [...configDefaults.exclude, ...(isDeep ? [] : deepFiles)];

export default defineConfig({
  resolve: { conditions: ["sheaf-source", "module", "node"] },
  ssr: { resolve: { conditions: ["sheaf-source", "module", "node"] } },
  test: {
    exclude: notNow,
    globalSetup: ["test/support/run-folder.ts"],
    setupFiles: ["test/support/property-seed.ts"],
    reporters: [...configDefaults.reporters, createSkippedReporter((text) => process.stdout.write(`\n${text}`))],
    maxWorkers: 2,
    // There is no module state, so files share the modules of their worker. Loading them anew took a third of the fast tests' time.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is polled for comes soon, but not always within the usual second on a machine that is busy.
    expect: { poll: { timeout: 10_000 } },
    // Tests that start processes wait for a machine of two cores: one more try, which the report shows.
    retry: isCi ? 1 : 0,
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: ["test/*.test.ts", "packages/*/test/**/*.test.ts"],
          exclude: [...notNow, ...inFolders(folders.sandbox), ...waiting],
          sequence: { groupOrder: 0 },
        },
      },
      ...[...Object.entries(folders), ["waiting", waiting] as const].map(([name, paths]) => ({
        extends: true as const,
        // The sandbox tests share a folder, which each file removes at its end.
        test: {
          name,
          include: name === "waiting" ? [...paths] : inFolders(paths),
          isolate: name === "sandbox",
          // These tests wait for processes much of the time: on two cores two more find something to do.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      })),
    ],
  },
});
