/** Every example runs, and prints what its text promises. */
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const home = mkdtempSync(join(tmpdir(), "sheaf-examples-"));
afterAll(() => rmSync(home, { recursive: true }));

function runExample(name: string, ...args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join("examples", name), ...args], {
    cwd: root,
    encoding: "utf8",
    env: { PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`, HOME: home, SHEAF_HOME: home },
  });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

test("every example has a test here", () => {
  expect(globSync("examples/*", { cwd: root }).toSorted()).toEqual([
    "examples/documents-from-a-stream.ts",
    "examples/read-the-stream.ts",
  ]);
});

test("documents-from-a-stream.ts", () => {
  const output = runExample("documents-from-a-stream.ts");
  expect(output).toContain('event: document_start\ndata: {"id":"doc_002","type":"code_block","sequence":2');
  expect(output).toMatch(/1 text: "Try this:"\n2 code_block: "print\(1\)"\n$/);
});

test("read-the-stream.ts", () => {
  const output = runExample("read-the-stream.ts", "Summarise CHANGELOG.md");
  expect(output).toContain("[readToolCall]");
  expect(output).toMatch(/Changelog[^]*exit code 0\n$/);
});
