/** docs/guide/worktrees.md: its commands run one after the other, in one repository, with a model that needs no network. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseText } from "@sheaf/documents";
import { expect, test } from "vitest";
import { compiledCode, createTestFolder, sheafProgram } from "../support/sheaf.ts";

const folders = createTestFolder();
const blocks = parseText(readFileSync(join(import.meta.dirname, "../../docs/guide/worktrees.md"), "utf8")).flatMap(
  (segment) => (segment.type === "code_block" && segment.language === "sh" ? [segment.content] : []),
);

test("every command of the guide does what it says", () => {
  const cwd = folders.newFolder({ "README.md": "# Wordy\n\nCounts words.\n" });
  const home = folders.newFolder();
  const bin = join(home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "sheaf"), `#!/bin/sh\nexec '${process.execPath}' '${sheafProgram}' "$@"\n`);
  chmodSync(join(bin, "sheaf"), 0o755);
  const run = (script: string) =>
    spawnSync("bash", ["-euo", "pipefail", "-c", script], {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: `${bin}:${process.env.PATH}`,
        HOME: home,
        SHEAF_HOME: home,
        SHEAF_MODEL: "offline",
        ...compiledCode,
      },
    });
  const setUp = "git config user.name a && git config user.email a@example.org && git add . && git commit -qm one";
  expect(run(`git init -q -b main && ${setUp}`).status).toBe(0);
  expect(blocks.length).toBe(4);
  for (const block of blocks) {
    const { status, stderr } = run(block);
    expect([block, status, stderr.replaceAll(/^sheaf: notice: .*\n/gm, "")]).toEqual([block, 0, ""]);
  }
  expect(run("git status --porcelain; git branch").stdout).toBe("* main\n");
  expect(run("git ls-files").stdout).toBe("README.md\none-summary.txt\nsummary.txt\ntwo-summary.txt\n");
});
