/** The code of the client's README and guide, each one program in fragments, is checked and runs at the built server. */
import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toProgram } from "../support/readme-program.ts";
import { startServerProcess } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";

const root = join(import.meta.dirname, "../..");
const folders = createTestFolder();
const compilerOptions = {
  module: "nodenext",
  target: "es2024",
  lib: ["es2024", "dom", "dom.iterable"],
  types: ["node"],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
};

/** A folder from which the packages can be imported, as after an install. */
function newProject(program: string): string {
  const folder = folders.newFolder({
    "program.ts": program,
    "package.json": '{"type":"module"}',
    "tsconfig.json": JSON.stringify({ compilerOptions, files: ["program.ts"] }),
  });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** What the compiler has to say. */
function checkTypes(folder: string): string {
  return spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" }).stdout;
}

test.each([
  ["packages/client/README.md", /^ended 1$/m],
  ["docs/guide/client.md", /^completed/m],
])("%s", async (file, expected) => {
  const cwd = folders.newFolder({ "README.md": "# Wordy\n\nCounts words in a text.\n" });
  const args = ["--sandbox", "disabled", "--model", "offline"];
  const script = { turns: [{ events: [{ text: "Hello." }] }], after: "loop" };
  const server = await startServerProcess({ cwd, script, args });
  const program = toProgram(readFileSync(join(root, file), "utf8")).replaceAll("http://127.0.0.1:7433", server.address);
  const folder = newProject(program);
  expect(checkTypes(folder)).toBe("");
  const environment = { PATH: process.env.PATH, SHEAF_TOKEN: server.token };
  const run = spawnSync(process.execPath, ["program.ts"], { cwd: folder, encoding: "utf8", env: environment });
  expect([run.status, run.stderr]).toEqual([0, ""]);
  expect(run.stdout).toMatch(expected);
});
