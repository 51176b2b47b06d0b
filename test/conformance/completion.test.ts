/** Completion in the real shells. */
import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { flags } from "../../packages/agent/src/cli/flags.ts";
import { describeWithProgram } from "../support/programs.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";

const folders = createTestFolder();
const zshDriver = join(import.meta.dirname, "../support/complete-in-zsh.zsh");

/** Command lines up to the cursor, with completions that must be there and others that must not. */
const cases: readonly (readonly [line: string, wanted: readonly string[], unwanted: readonly string[]])[] = [
  ["sheaf ", ["serve", "export", "doctor"], ["--plan"]],
  ["sheaf ex", ["export"], ["serve", "import"]],
  ["sheaf --out", ["--output-format"], ["--plan"]],
  ["sheaf --output-format ", ["stream-json", "documents-stream"], ["serve"]],
  ["sheaf --mode p", ["plan"], ["agent"]],
  ["sheaf completion ", ["bash", "zsh", "fish"], ["serve"]],
  ["sheaf doctor --f", ["--format"], ["--from", "--force"]],
  ["sheaf import sess", ["session.json"], ["serve"]],
  ["sheaf --image sess", ["session.json"], ["inner"]],
  ["sheaf --effort m", ["medium", "max"], ["high"]],
  ["sheaf --add-dir inn", ["inner"], ["session.json"]],
  ["sheaf revert --on-conflict ", ["refuse", "leave", "overwrite"], ["session.json"]],
  ["sheaf permissions ", ["explain", "check"], ["session.json"]],
  ["sheaf login an", ["anthropic"], ["serve"]],
  ["sheaf serve --max-s", ["--max-streams"], ["--session-id"]],
  ["sheaf show ", ["5e0c2f64-8f0b-4f6e-9d1a-3b7c2a90d411", "5e1c2f64-8f0b-4f6e-9d1a-3b7c2a90d411"], ["There"]],
  ["sheaf -p --resume 5e1", ["5e1c2f64-8f0b-4f6e-9d1a-3b7c2a90d411"], ["5e0c2f64-8f0b-4f6e-9d1a-3b7c2a90d411"]],
];

/** Without what a shell puts after flags with values, and after folders. */
const toPlain = (word: string): string => word.replace(/[=/]$/, "");

test.each(["bash", "zsh", "fish"])("the script of %s has every flag", async (shell) => {
  const { stdout } = await runSheaf(["completion", shell], { cwd: folders.path });
  const missing = Object.keys(flags).filter((name) => !stdout.includes(shell === "fish" ? `-l ${name} ` : `--${name}`));
  expect(missing).toEqual([]);
});

/** What the scripts call for ids: `sheaf ls` with two sessions, and with its last line. */
const listing = `#!/bin/sh
[ "$1" = ls ] || exit 9
echo '5e0c2f64-8f0b-4f6e-9d1a-3b7c2a90d411  2026-02-23 10:00  Read: $(touch x) "it"'
echo "5e1c2f64-8f0b-4f6e-9d1a-3b7c2a90d411  2026-02-23 09:00  Go on"
echo "There are more."
`;
const bin = folders.newFolder({ sheaf: listing });
chmodSync(join(bin, "sheaf"), 0o755);
const PATH = `${bin}:${process.env.PATH ?? ""}`;

const scripts = new Map<string, Promise<{ readonly cwd: string; readonly script: string }>>();

/** The script of a shell, written once, in a folder with a file and a folder to complete. */
function findScript(shell: string): Promise<{ readonly cwd: string; readonly script: string }> {
  const written = scripts.get(shell) ?? createScript(shell);
  scripts.set(shell, written);
  return written;
}

async function createScript(shell: string): Promise<{ cwd: string; script: string }> {
  const cwd = folders.newFolder({ "session.json": "{}", "inner/a.txt": "" });
  const { stdout } = await runSheaf(["completion", shell], { cwd });
  const script = join(folders.path, `completion.${shell}`);
  writeFileSync(script, stdout);
  return { cwd, script };
}

describeWithProgram("bash", () => {
  test.each(cases)("%j", async (line, wanted, unwanted) => {
    const { cwd, script } = await findScript("bash");
    const program = `source "$1"; read -ra COMP_WORDS <<< "$2"; [[ $2 == *" " ]] && COMP_WORDS+=("")
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMP_LINE=$2; _sheaf; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const output = execFileSync("bash", ["--norc", "-c", program, "bash", script, line], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, PATH },
    });
    const found = output.split("\n").map(toPlain);
    expect(found).toEqual(expect.arrayContaining([...wanted]));
    expect(found.filter((word) => unwanted.includes(word))).toEqual([]);
  });
});

describeWithProgram("fish", () => {
  test.each(cases)("%j", async (line, wanted, unwanted) => {
    const { cwd, script } = await findScript("fish");
    const program = `source $argv[1]; complete -C $argv[2]`;
    const output = execFileSync("fish", ["--no-config", "-c", program, script, line], {
      cwd,
      encoding: "utf8",
      env: { PATH, HOME: cwd },
    });
    const found = output.split("\n").map((row) => toPlain(row.split("\t", 1)[0]!));
    expect(found).toEqual(expect.arrayContaining([...wanted]));
    expect(found.filter((word) => unwanted.includes(word))).toEqual([]);
  });
});

describeWithProgram("zsh", () => {
  test.each(cases)("%j", async (line, wanted, unwanted) => {
    const { cwd, script } = await findScript("zsh");
    const output = execFileSync("zsh", ["--no-rcs", zshDriver, script, line], {
      cwd,
      encoding: "utf8",
      env: { PATH, HOME: cwd, TERM: "xterm" },
      timeout: 20_000,
    });
    const found = output.split("\n").map(toPlain);
    expect(found).toEqual(expect.arrayContaining([...wanted]));
    expect(found.filter((word) => unwanted.includes(word))).toEqual([]);
  });
});
