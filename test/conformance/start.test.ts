/** What a start of the built program loads: each file and each module of Node costs every run of every user. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cliFolder, readPromptModules } from "../support/built-program.ts";

/**
 * Modules of Node that are cheap, that every run needs, or that the build loads by the first call
 * (scripts/builtin-modules.ts). Not among them: `node:http`, `node:https`, `node:util`. Take what you need of them by
 * `process.getBuiltinModule` where you need it.
 */
const allowed: ReadonlySet<string> = new Set([
  "node:child_process",
  "node:crypto",
  "node:dns/promises",
  "node:fs",
  "node:fs/promises",
  "node:module",
  "node:net",
  "node:os",
  "node:path",
  "node:sqlite",
  "node:timers/promises",
  "node:url",
  "node:worker_threads",
  "node:zlib",
]);

test("a prompt loads few files, and no module of Node that is dear to import", () => {
  const { files, builtins } = readPromptModules();
  expect(builtins.filter((name) => !allowed.has(name))).toEqual([]);
  expect(files.length, files.join(" ")).toBeLessThanOrEqual(6);
});

test("a prompt loads less than 1,022 kB of code: what only some runs need is loaded by import() in wire.ts", () => {
  const { files } = readPromptModules();
  const bytes = files.reduce((sum, name) => sum + statSync(join(cliFolder, name)).size, 0);
  expect(bytes).toBeLessThan(1_022_000);
});
