/**
 * What ordinary commands take in the sandbox, with all that Sheaf does before and after a command. The floor has no
 * sandbox. The repository has 4,000 files in 1,000 folders.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { listTurns, runAgent, type Side } from "./support/agent.ts";
import { type Bench, compare, withFolder } from "./support/measure.ts";
import { startProvider, type Script } from "./support/provider.ts";

/** Nothing is reached over the network. `cargo` is rustup's, which needs a home, so the compiler is named. */
const commands = {
  "git commit": "echo x >> a.txt && git commit -qam x",
  "git switch -c": "git switch -qc topic && git switch -q main",
  "git stash": "echo y >> a.txt && git stash -q && git stash pop -q && git checkout -q a.txt",
  "git rebase, 5 commits": "git rebase -q main other && git switch -q main",
  "npm install": "cd app && npm install --offline --no-audit --no-fund ../package.tgz",
  "pip install": ".venv/bin/python -m pip install -q --no-index --disable-pip-version-check a-1-py3-none-any.whl",
  "cargo build": 'export PATH="$(cat sysroot)/bin:$PATH" && cd crate && cargo build -q --offline',
};

type Name = keyof typeof commands;
const names = Object.keys(commands) as Name[];

/** The first call fills what is kept for later ones. A command that fails leaves no line. */
const script: Script = (turn) => {
  const command = ["true", ...Object.values(commands)][turn];
  const call = { name: "run_terminal_cmd", args: { command: `(${command}) && echo ${turn} >> ran.txt` } };
  return { text: ["Running."], ...(command !== undefined && { call }) };
};

export const bench: Bench = async (isQuick) => {
  const provider = await startProvider();
  try {
    return await withFolder((folder) => {
      const [seed, workspace] = [join(folder, "seed"), join(folder, "workspace")];
      createRepository(seed);
      const measure = async (side: Side) => {
        rmSync(workspace, { recursive: true, force: true });
        cpSync(seed, workspace, { recursive: true, verbatimSymlinks: true });
        await runAgent(side, { provider, script, workspace });
        const ran = readFileSync(join(workspace, "ran.txt"), "utf8").split("\n");
        const failed = names.filter((_, index) => !ran.includes(String(index + 1)));
        if (failed.length > 0) throw new Error(`${side}: failed were ${failed.join(", ")}`);
        const times = listTurns(provider);
        return toRecord((_, index) => times[index + 1]!);
      };
      const rounds = isQuick ? 1 : 5;
      return compare({
        units: toRecord(() => "ms"),
        rounds,
        floor: () => measure("floor"),
        sheaf: () => measure("sheaf"),
      });
    });
  } finally {
    provider.close();
  }
};

function toRecord<Value>(toValue: (name: Name, index: number) => Value): Record<Name, Value> {
  return Object.fromEntries(names.map((name, index) => [name, toValue(name, index)])) as Record<Name, Value>;
}

/** With a branch `other`, and what the other commands install and build. */
function createRepository(root: string): void {
  const run = (program: string, ...words: string[]): string =>
    execFileSync(program, words, { cwd: root, encoding: "utf8" });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (let file = 0; file < 4000; file += 1)
    write(`src/${file % 25}/${file % 1000}/${file}.ts`, `export const value = ${file};\n`);
  write("a.txt", "a\n");
  write(".gitignore", "/ran.txt\n/app\n/crate\n/package*\n/*.whl\n/.venv\n/sysroot\n");
  write("app/package.json", '{ "name": "app", "version": "1.0.0" }');
  write("package/package.json", '{ "name": "a", "version": "1.0.0" }');
  write("crate/Cargo.toml", '[package]\nname = "a"\nversion = "1.0.0"\nedition = "2021"\n');
  write("crate/src/main.rs", 'fn main() {\n    println!("a");\n}\n');
  for (let file = 0; file < 200; file += 1) {
    write(`package/lib/${file}.js`, `export const value = ${file};\n`);
    write(`package/a/m${file}.py`, `value = ${file}\n`);
  }
  write("package/a-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: a\nVersion: 1\n");
  write("package/a-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
  write("package/a-1.dist-info/RECORD", "");
  run("tar", "czf", "package.tgz", "package/package.json", "package/lib");
  run("python3", "-c", "import shutil; shutil.make_archive('w', 'zip', 'package')");
  run("mv", "w.zip", "a-1-py3-none-any.whl");
  run("python3", "-m", "venv", ".venv");
  write("sysroot", run("rustc", "--print", "sysroot"));
  const git = (...words: string[]) => run("git", ...words);
  git("init", "-q", "-b", "main");
  git("config", "user.name", "a");
  git("config", "user.email", "a@example.org");
  git("add", "-A");
  git("commit", "-qm", "files");
  git("switch", "-qc", "other");
  for (let commit = 0; commit < 5; commit += 1) {
    write("b.txt", `${commit}\n`);
    git("add", "b.txt");
    git("commit", "-qm", "b");
  }
  git("switch", "-q", "main");
}
