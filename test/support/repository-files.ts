/** Sources and tests of the repository: the tests that look at all of them read each file once. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceFile } from "./import-rules.ts";

const root = join(import.meta.dirname, "../..");

const files = new Map<string, readonly SourceFile[]>();

function readFiles(patterns: readonly string[]): readonly SourceFile[] {
  const key = patterns.join(" ");
  const read = files.get(key) ?? readAll(patterns);
  files.set(key, read);
  return read;
}

function readAll(patterns: readonly string[]): SourceFile[] {
  const paths = globSync([...patterns], { cwd: root }).toSorted();
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** Every source file of every package. */
export const readSources = (): readonly SourceFile[] => readFiles(["packages/*/src/**/*.{ts,tsx}"]);

/** Every file with tests, and what the tests share. */
export const readTests = (): readonly SourceFile[] => readFiles(["test/**/*.ts", "packages/*/test/**/*.ts"]);
