/** Completion in the real shells. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWithProgram } from "../support/programs.ts";
import { createTestFolder, runSheaf, sheafProgram } from "../support/sheaf.ts";

const folders = createTestFolder();
const zshDriver = join(import.meta.dirname, "../support/complete-in-zsh.zsh");

/** Command lines up to the cursor, with completions that must be there and others that must not. */
const cases: readonly (readonly [line: string, wanted: readonly string[], unwanted: readonly string[]])[] = [
  ["sheaf ex", ["export"], ["serve", "import"]],
  ["sheaf --output-format ", ["stream-json", "documents-stream"], ["serve"]],
  ["sheaf import sess", ["session.json"], ["serve"]],
  ["sheaf --mode=p", ["plan"], ["agent"]],
  ["sheaf --add-dir inn", ["inner"], ["session.json"]],
  ["sheaf -p --resume 5e1", ["5e1c2f64-8f0b-4f6e-9d1a-3b7c2a90d411"], ["5e0c2f64-8f0b-4f6e-9d1a-3b7c2a90d411"]],
];

/** All shells ask Sheaf, so one shell needs all cases. The others need each kind of answer: words, rows, files, folders. */
const kinds = new Set(["sheaf ", "sheaf --mode=p", "sheaf import sess", "sheaf --add-dir inn", "sheaf show "]);
const casesOfKinds = cases.filter(([line]) => kinds.has(line));

/** Without the flag before a value, and the slash after a folder. */
const toPlain = (word: string): string => word.replace(/^--mode=|[=/]$/g, "");

const sessions = ["5e0c2f64-8f0b-4f6e-9d1a-3b7c2a90d411", "5e1c2f64-8f0b-4f6e-9d1a-3b7c2a90d411"];
const home = folders.newFolder();
/** The scripts call the program by its name. */
const bin = folders.newFolder({ sheaf: `#!/bin/sh\nexec "${process.execPath}" "${sheafProgram}" "$@"\n` });
chmodSync(join(bin, "sheaf"), 0o755);
const environment = { PATH: `${bin}:${process.env.PATH ?? ""}`, SHEAF_HOME: home };

const cwd = folders.newFolder({ "session.json": "{}", "inner/a.txt": "" });

beforeAll(async () => {
  for (const id of sessions) {
    // A title is the user's text, which no shell may run.
    const args = ["-p", "--model", "offline", "--session-id", id, `Read: $(touch x) "it"`];
    if ((await runSheaf(args, { cwd, home })).code !== 0) throw new Error(`no session ${id}`);
  }
});

afterAll(() => {
  if (existsSync(join(cwd, "x"))) throw new Error("a shell ran the title of a session");
});

const scripts = new Map<string, Promise<string>>();

/** The script of a shell, in a file: all tests of the shell use one. */
function writeScript(shell: string): Promise<string> {
  const script = scripts.get(shell) ?? createScript(shell);
  scripts.set(shell, script);
  return script;
}

async function createScript(shell: string): Promise<string> {
  const { stdout } = await runSheaf(["completion", shell], { cwd });
  const script = join(folders.path, `completion.${shell}`);
  writeFileSync(script, stdout);
  return script;
}

describeWithProgram("bash", () => {
  test.each(cases)("%j", async (line, wanted, unwanted) => {
    const script = await writeScript("bash");
    const program = `source "$1"; read -ra COMP_WORDS <<< "$2"; [[ $2 == *" " ]] && COMP_WORDS+=("")
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMP_LINE=$2; _sheaf; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const output = execFileSync("bash", ["--norc", "-c", program, "bash", script, line], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, ...environment },
    });
    const found = output.split("\n").map(toPlain);
    expect(found).toEqual(expect.arrayContaining([...wanted]));
    expect(found.filter((word) => unwanted.includes(word))).toEqual([]);
  });
});

describeWithProgram("fish", () => {
  test.each(casesOfKinds)("%j", async (line, wanted, unwanted) => {
    const script = await writeScript("fish");
    const program = `source $argv[1]; complete -C $argv[2]`;
    const output = execFileSync("fish", ["--no-config", "-c", program, script, line], {
      cwd,
      encoding: "utf8",
      env: { ...environment, HOME: home },
    });
    const found = output.split("\n").map((row) => toPlain(row.split("\t", 1)[0]!));
    expect(found).toEqual(expect.arrayContaining([...wanted]));
    expect(found.filter((word) => unwanted.includes(word))).toEqual([]);
  });
});

describeWithProgram("zsh", () => {
  test.each(casesOfKinds)("%j", async (line, wanted, unwanted) => {
    const script = await writeScript("zsh");
    const output = execFileSync("zsh", ["--no-rcs", zshDriver, script, line], {
      cwd,
      encoding: "utf8",
      env: { ...environment, HOME: home, TERM: "xterm" },
      timeout: 20_000,
    });
    const found = output.split("\n").map(toPlain);
    expect(found).toEqual(expect.arrayContaining([...wanted]));
    expect(found.filter((word) => unwanted.includes(word))).toEqual([]);
  });
});
