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

const bashProgram = `source "$1"; read -ra COMP_WORDS <<< "$2"; [[ $2 == *" " ]] && COMP_WORDS+=("")
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMP_LINE=$2; _sheaf; printf '%s\\n' "\${COMPREPLY[@]}"`;

/** The arguments with which each shell reads a script and completes a line. */
const shells = {
  bash: ["--norc", "-c", bashProgram, "bash"],
  fish: ["--no-config", "-c", "source $argv[1]; complete -C $argv[2]"],
  zsh: ["--no-rcs", zshDriver],
} as const;

for (const [shell, args] of Object.entries(shells)) {
  describeWithProgram(shell, () => {
    const script = join(folders.path, `completion.${shell}`);
    beforeAll(async () => {
      writeFileSync(script, (await runSheaf(["completion", shell], { cwd })).stdout);
    });

    test.each(shell === "bash" ? cases : casesOfKinds)("%j", (line, wanted, unwanted) => {
      const env = { ...environment, HOME: home, TERM: "xterm" };
      const output = execFileSync(shell, [...args, script, line], { cwd, encoding: "utf8", env, timeout: 20_000 });
      // fish adds the help of a word after a tab.
      const found = output.split("\n").map((row) => toPlain(row.split("\t", 1)[0]!));
      expect(found).toEqual(expect.arrayContaining([...wanted]));
      expect(found.filter((word) => unwanted.includes(word))).toEqual([]);
    });
  });
}
