/**
 * A user whose repository a hostile command has visited: runs one command in the sandbox after another, each in a new
 * repository, then works there with git as people and editors do. Prints, as JSON, what ran outside the sandbox.
 * Arguments: an empty folder of this user; which of the commands, as every n-th of them from which one on (`2 0`).
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import { findSandbox } from "../src/find/find-sandbox.ts";
import { createSandbox } from "../src/create-sandbox.ts";
import { hostileCommands } from "./hostile-commands.ts";

const [top = "", step = "1", first = "0"] = process.argv.slice(2);
const commands = hostileCommands.filter((_, index) => index % Number(step) === Number(first));
const home = join(top, "home");
const environment = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: home,
  LANG: "C.UTF-8",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_EDITOR: "true",
};
const canary = join(top, "canary");

function runGit(folder: string, words: readonly string[]): void {
  spawnSync("git", words, { cwd: folder, env: environment, stdio: "ignore", timeout: 5_000 });
}

function createHome(): void {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
  writeFileSync(join(home, ".bashrc"), "# mine\n");
  writeFileSync(
    join(home, ".gitconfig"),
    "[user]\n name = U\n email = u@example.org\n[alias]\n st = status\n[core]\n fsync = none\n[init]\n templateDir =\n",
  );
}

function isHomeChanged(): boolean {
  return readFileSync(join(home, ".bashrc"), "utf8") !== "# mine\n" || readdirSync(home).length > 2;
}

/** Files that git starts or reads in the template are the user's own and harmless. */
function createTemplate(): string {
  const template = join(top, "template");
  const script = `
    set -e
    git init -q -b main library && cd library && echo 1 > lib.txt && git add . && git commit -qm one && cd ..
    git clone -q --bare library origin.git
    git init -q -b main template && cd template
    git config core.hooksPath .githooks
    git config diff.upper.textconv tools/upper.sh
    mkdir -p .githooks tools src node_modules/x docs
    printf '#!/bin/sh\\nexit 0\\n' > .githooks/pre-commit
    printf '#!/bin/sh\\ncat "$1"\\n' > tools/upper.sh
    chmod +x .githooks/pre-commit tools/upper.sh
    echo node_modules > .gitignore
    echo '*.up diff=upper' > .gitattributes
    echo a > a.txt; echo b > src/b.up; echo c > node_modules/x/index.js
    git -c protocol.file.allow=always submodule add -q ../library sub
    git add -A && git commit -qm one
    git checkout -q -b other && echo o > o.txt && git add -A && git commit -qm other && git checkout -q main
    echo m > m.txt && git add -A && git commit -qm two
    git remote add origin ../origin.git
    git init -q vendored && (cd vendored && echo v > v.txt && git add . && git commit -qm v)
    mkdir .git/info && echo vendored > .git/info/exclude
  `;
  createHome();
  execFileSync("sh", ["-c", script], { cwd: top, env: environment, stdio: ["ignore", "ignore", "inherit"] });
  return template;
}

/** Folders in which people open files, and so editors start git. */
function findFolders(folder: string): string[] {
  const found: string[] = [];
  const visit = (path: string, depth: number): void => {
    found.push(path);
    if (depth === 0) return;
    let names: string[] = [];
    try {
      names = readdirSync(path);
    } catch {
      // A folder that cannot be listed can be entered.
    }
    for (const name of names) {
      const below = join(path, name);
      if (name !== ".git" && existsSync(join(below, "."))) visit(below, depth - 1);
    }
  };
  visit(folder, 4);
  return found;
}

/** As the status bars of three editors ask, and somebody who looks around. */
const editorCalls = [
  ["-c", "core.quotepath=false", "status", "-z", "-uall"],
  ["status", "--porcelain", "-z", "--ignored=matching", "--untracked-files=all"],
  ["--no-optional-locks", "status", "-bz", "--porcelain=v2"],
];

const everydayCalls = [
  ["status"], ["st"], ["diff"], ["diff", "--cached"], ["diff", "--submodule=diff"], ["log", "-p", "-2"],
  ["blame", "src/b.up"], ["grep", "b"], ["stash"], ["stash", "pop"], ["add", "-A"],
  ["commit", "-qm", "mine"], ["rebase", "--continue"], ["rebase", "--abort"], ["checkout", "-q", "other"],
  ["checkout", "-q", "main"], ["worktree", "add", "-q", "../after"], ["submodule", "status"],
  ["submodule", "update"], ["fetch", "-q"],
]; // prettier-ignore

function workAsUser(workspace: string): void {
  for (const words of editorCalls) runGit(workspace, words);
  // The last two cannot be listed, but entered.
  const folders = [...findFolders(workspace), join(workspace, "docs/hidden/r"), join(workspace, "docs/h1/h2/r")];
  for (const folder of folders.filter(existsSync)) runGit(folder, editorCalls[0]!);
  for (const words of everydayCalls) runGit(workspace, words);
  for (const folder of ["sub", "vendored"]) {
    for (const words of [["st"], ["diff"], ["log", "-p"]]) runGit(join(workspace, folder), words);
  }
}

/** What the user's git shows, and a new clone of the same refs does not, with the same index and files; "" for nothing. */
function findLie(workspace: string, clone: string): string {
  const run = (words: readonly string[], variables: NodeJS.ProcessEnv, input = ""): string => {
    const env = { ...environment, GIT_OPTIONAL_LOCKS: "0", ...variables };
    const { status, stdout, stderr } = spawnSync("git", words, {
      cwd: workspace,
      env,
      input,
      encoding: "latin1",
      maxBuffer: 2 ** 26,
    });
    return status === 0 ? stdout : `git ${words.join(" ")} failed: ${stderr}`;
  };
  const truth = {
    GIT_DIR: clone,
    GIT_WORK_TREE: workspace,
    GIT_INDEX_FILE: join(clone, "same-index"),
    GIT_NO_REPLACE_OBJECTS: "1",
    // Git does not survive objects that only the index has.
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(workspace, ".git/objects"),
  };
  const head = spawnSync("git", ["symbolic-ref", "-q", "HEAD"], { cwd: workspace, env: environment, encoding: "utf8" });
  const failures = [
    run(["clone", "-q", "--bare", "--no-local", ".", clone], {}),
    run(["config", "core.bare", "false"], { GIT_DIR: clone }),
    run(["config", "core.excludesFile", join(workspace, ".git/info/exclude")], { GIT_DIR: clone }),
    head.status === 0 ? run(["symbolic-ref", "HEAD", head.stdout.trim()], { GIT_DIR: clone }) : "",
    run(["update-index", "-z", "--index-info"], truth, run(["ls-files", "-s", "-z"], {})),
    run(["fsck", "--strict", "--no-dangling"], {}),
  ];
  const hidden = run(["ls-files", "-v"], {}).match(/^(?:[a-z]|S) .*$/gm) ?? [];
  const calls = [
    ["log", "--branches", "--tags", "--raw", "--no-abbrev", "-m", "--format=%H %T %P %s"],
    ["show", "--raw", "--no-abbrev", "--format=raw", "HEAD"],
    ["status", "--porcelain", "-z", "-uall", "--ignore-submodules=all"],
    ["diff", "--raw", "--no-abbrev", "--ignore-submodules=all"],
  ];
  const different = calls.filter((words) => run(words, {}) !== run(words, truth));
  rmSync(clone, { recursive: true, force: true });
  return [...failures, ...hidden, ...different.map((words) => words.join(" "))].join("").trim();
}

const template = createTemplate();
const sandbox = await findSandbox({
  setting: "enabled",
  workspace: template,
  environment,
  memory: undefined,
  now: Date.now,
});
const results: {
  readonly title: string;
  readonly started: string;
  readonly lie: string;
  readonly startError: string;
  readonly refusals: readonly string[];
}[] = [];
for (const [index, { title, command }] of commands.entries()) {
  const folder = join(top, String(index));
  const workspace = join(folder, "workspace");
  mkdirSync(folder);
  cpSync(template, workspace, { recursive: true, verbatimSymlinks: true });
  writeFileSync(canary, "");
  createHome();
  const network = createCommandNetwork({ allow: [], deny: [] });
  const runner = createSandbox({ sandbox, writable: [workspace], environment, network });
  const signal = new AbortController().signal;
  const words = `C=${workspace}/canary.sh; printf '#!/bin/sh\\necho "$0 $*" >> ${canary}\\n' > $C; chmod +x $C; H=${home}\n${command}`;
  const outcome = await runner.run({
    command: words,
    workingDirectory: workspace,
    timeoutMs: 20_000,
    signal,
    onOutput: () => undefined,
  });
  await runner.end();
  const lie = findLie(workspace, join(folder, "clone.git"));
  workAsUser(workspace);
  const started = readFileSync(canary, "utf8") + (isHomeChanged() ? "the home was changed" : "");
  results.push({
    title,
    started,
    lie,
    startError: outcome.startError,
    refusals: [outcome.refusal, ...outcome.refusals].filter(Boolean),
  });
}
process.stdout.write(JSON.stringify(results));
