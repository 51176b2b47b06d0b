/** `--worktree` and `sheaf worktrees`, through the built command line and real git. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

const edit = (file: string, from: string, to: string) => ({
  call: { tool: "edit_file", arguments: { target_file: file, edits: [{ old_string: from, new_string: to }] } },
});
const create = (file: string, content = "new\n") => ({
  call: { tool: "write_file", arguments: { target_file: file, content } },
});

function git(cwd: string, ...args: string[]): string {
  const words = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args];
  return execFileSync("git", words, { cwd, env: { PATH: process.env.PATH, HOME: cwd }, encoding: "utf8" }).trim();
}

/** A repository with one commit, and runs of scripted models in it. */
function createRepository(files: Readonly<Record<string, string>> = { "a.txt": "one\ntwo\nthree\nfour\nfive\n" }) {
  const cwd = folders.newFolder(files);
  const home = folders.newFolder();
  git(cwd, "init", "-q", "-b", "main");
  git(cwd, "add", "-A");
  git(cwd, "commit", "-qm", "Begin");
  const run = (...args: string[]) => runSheaf(args, { cwd, home });
  return {
    cwd,
    home,
    run,
    read: (file: string) => readFileSync(join(cwd, file), "utf8"),
    write: (file: string, text: string) => writeFileSync(join(cwd, file), text),
    async prompt(events: readonly object[], args: readonly string[], from = cwd) {
      const script = join(home, "script.json");
      writeFileSync(script, JSON.stringify({ turns: [{ events }, { events: [{ text: "Done." }] }], after: "loop" }));
      const result = await runSheaf(["-p", "--model", `scripted:${script}`, ...args, "go on"], { cwd: from, home });
      const lines = result.code === 0 ? parseStream(result.stdout) : [];
      return { ...result, folder: String(lines[0]?.cwd), session: String(lines[0]?.session_id) };
    },
    async list() {
      return JSON.parse((await run("worktrees", "ls", "--json")).stdout) as Record<string, unknown>[];
    },
  };
}

test(verifies(["C70", "C71"], "a run works in a tree of its own, which is kept with its changes"), async () => {
  const repository = createRepository();
  repository.write("a.txt", "not committed\n");
  const run = await repository.prompt([edit("a.txt", "two", "2"), create("b.txt")], ["--worktree", "fix"]);
  expect(run.code).toBe(0);
  expect(run.folder).toMatch(/\/worktrees\/[0-9a-f]{16}\/trees\/fix\/files$/);
  expect(run.folder.startsWith(repository.home)).toBe(true);
  expect(run.stderr).toBe(
    `sheaf: notice: the working tree fix has changes to 2 files, in ${run.folder}: sheaf worktrees merge fix brings it into ${repository.cwd}\n`,
  );
  expect(repository.read("a.txt")).toBe("not committed\n");
  expect(existsSync(join(repository.cwd, "b.txt"))).toBe(false);
  expect(git(run.folder, "status", "--short", "--branch")).toBe("## sheaf/fix\n M a.txt\n?? b.txt");
  const mirror = join(run.folder, "../../../mirror.git");
  const [state, ...others] = git(mirror, "for-each-ref", "--format=%(refname)", "refs/sheaf").split("\n");
  expect(others).toEqual([]);
  expect(state).toMatch(new RegExp(`^refs/sheaf/conv_${run.session}/chat_[0-9a-f-]{36}$`));
  expect(git(mirror, "show", `${state}:b.txt`)).toBe("new");
});

test(verifies("C71", "a tree without changes is removed, and stderr stays empty"), async () => {
  const repository = createRepository();
  const run = await repository.prompt([{ text: "Nothing to do." }], ["--worktree"]);
  expect([run.code, run.stderr]).toEqual([0, ""]);
  expect(run.folder).toMatch(/\/trees\/tree-[0-9a-f]{8}\/files$/);
  expect(readdirSync(join(repository.home, "worktrees"))).toEqual([]);
  expect(await repository.list()).toEqual([]);
});

test(verifies("C70", "what has no tree is a usage error"), async () => {
  const repository = createRepository();
  const empty = folders.newFolder();
  const plain = await repository.prompt([], ["--worktree"], empty);
  expect([plain.code, plain.stderr]).toEqual([2, expect.stringContaining("is in no git repository")]);
  git(empty, "init", "-q");
  const unborn = await repository.prompt([], ["--worktree"], empty);
  expect([unborn.code, unborn.stderr]).toEqual([2, expect.stringContaining("commit something first")]);
  const broken = createRepository();
  rmSync(join(broken.cwd, ".git/objects"), { recursive: true });
  const unread = await broken.prompt([], ["--worktree"]);
  expect([unread.code, unread.stderr]).toEqual([
    2,
    expect.stringContaining(`check it with git -C "${broken.cwd}" fsck`),
  ]);
  for (const args of [["--worktree=../x"], ["--worktree=a.lock"], ["--worktree", "--no-save"]]) {
    expect((await repository.prompt([], args)).code).toBe(2);
  }
  git(repository.cwd, "config", "remote.origin.promisor", "true");
  expect((await repository.prompt([], ["--worktree"])).stderr).toContain("is a partial clone");
});

test(
  verifies(["C70", "C73"], "a checkout without history, as CI makes it, has trees and gets their branches"),
  async () => {
    const repository = createRepository();
    git(repository.cwd, "commit", "-qm", "Go on", "--allow-empty");
    const checkout = folders.newFolder();
    git(checkout, "clone", "-q", "--depth=1", `file://${repository.cwd}`, ".");
    git(checkout, "checkout", "-q", "--detach");
    const run = await repository.prompt([edit("a.txt", "two", "2")], ["--worktree", "fix"], checkout);
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("has changes to 1 file")]);
    const merge = (...args: string[]) =>
      runSheaf(["worktrees", "merge", "fix", ...args], { cwd: checkout, home: repository.home });
    expect((await merge("--branch")).code).toBe(0);
    expect(git(checkout, "log", "--format=%s", "sheaf/fix")).toBe("Changes of the working tree fix\nGo on");
    expect((await merge()).code).toBe(0);
  },
);

test(verifies("C70", "a subfolder of the repository is the same subfolder of the tree"), async () => {
  const repository = createRepository({ "app/a.txt": "one\n" });
  const run = await repository.prompt([edit("a.txt", "one", "1")], ["-w", "x"], join(repository.cwd, "app"));
  expect(run.folder).toMatch(/\/trees\/x\/files\/app$/);
  expect((await repository.run("worktrees", "merge", "x")).stdout).toContain("  app/a.txt\n");
  expect(repository.read("app/a.txt")).toBe("1\n");
});

test(verifies("C72", "--continue and --resume return to the tree"), async () => {
  const repository = createRepository();
  const first = await repository.prompt([create("b.txt")], ["--worktree", "fix"]);
  const second = await repository.prompt([edit("b.txt", "new", "newer")], ["--continue"]);
  expect([second.folder, second.session]).toEqual([first.folder, first.session]);
  const elsewhere = folders.newFolder();
  const third = await repository.prompt([create("c.txt")], ["--resume", first.session], elsewhere);
  expect(third.folder).toBe(first.folder);
  expect(readdirSync(elsewhere)).toEqual([]);
  const plain = await repository.prompt([{ text: "Here." }], []);
  expect(plain.folder).toBe(repository.cwd);
  expect((await repository.prompt([{ text: "Yes." }], ["--continue"])).session).toBe(plain.session);
  const named = await repository.prompt([create("e.txt")], ["--continue", "--worktree", "fix"]);
  expect(named.session).toBe(first.session);
  const other = await repository.prompt([], ["--resume", first.session, "--worktree", "other"]);
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("works in the working tree fix")]);
  await repository.run("worktrees", "rm", "fix", "--force");
  const gone = await repository.prompt([], ["--resume", first.session], elsewhere);
  expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining("was removed")]);
  const again = await repository.prompt([create("d.txt")], ["--resume", first.session]);
  expect([again.code, again.folder]).toEqual([0, first.folder]);
  expect(readdirSync(again.folder).toSorted()).toEqual([".git", "a.txt", "d.txt"]);
});

test(verifies("C73", "changes are merged into the user's files, once, and nothing is committed"), async () => {
  const repository = createRepository();
  await repository.prompt([edit("a.txt", "two", "2"), create("b.txt"), create("dir/c.txt")], ["--worktree", "fix"]);
  repository.write("a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
  const merged = await repository.run("worktrees", "merge", "fix");
  expect([merged.code, merged.stdout]).toEqual([
    0,
    `Merged into ${repository.cwd}: 3 files.\n  a.txt\n  b.txt\n  dir/c.txt\n`,
  ]);
  expect(repository.read("a.txt")).toBe("one\n2\nthree\nfour\nFIVE\n");
  expect(git(repository.cwd, "log", "--format=%s")).toBe("Begin");
  expect(await repository.list()).toMatchObject([{ name: "fix", changed_files: 3, merged: true }]);
  rmSync(join(repository.cwd, "b.txt"));
  expect((await repository.run("worktrees", "merge", "fix")).stdout).toBe(`Merged into ${repository.cwd}: 0 files.\n`);
  await repository.prompt([edit("a.txt", "three", "3")], ["--continue"]);
  expect(await repository.list()).toMatchObject([{ merged: false }]);
  expect((await repository.run("worktrees", "merge", "fix")).stdout).toContain("1 file.\n  a.txt\n");
  expect(repository.read("a.txt")).toBe("one\n2\n3\nfour\nFIVE\n");
});

test(verifies("C73", "with conflicts nothing changes, unless the user says what to do"), async () => {
  const repository = createRepository({ "a.txt": "one\n", "b.txt": "b\n" });
  const outside = folders.newFolder({ "x.txt": "outside\n" });
  const changes = [edit("a.txt", "one", "theirs"), edit("b.txt", "b", "B"), create("link/x.txt"), create("n.txt")];
  await repository.prompt([...changes, create("both.txt")], ["--worktree", "fix"]);
  repository.write("a.txt", "mine\n");
  repository.write("both.txt", "mine\n");
  rmSync(join(repository.cwd, "b.txt"));
  symlinkSync(outside, join(repository.cwd, "link"));
  const refused = await repository.run("worktrees", "merge", "fix");
  expect(refused.code).toBe(8);
  expect(refused.stderr).toMatch(
    /nothing was merged, a\.txt: you changed the same lines; b\.txt: you deleted it; both\.txt: you changed the same lines; link/,
  );
  expect(existsSync(join(repository.cwd, "n.txt"))).toBe(false);
  const left = await repository.run("worktrees", "merge", "fix", "--on-conflict", "leave", "--json");
  expect(JSON.parse(left.stdout)).toMatchObject({ merged: true, files: ["n.txt"], marked: [] });
  const marked = await repository.run("worktrees", "merge", "fix", "--on-conflict", "mark");
  expect(marked.stdout).toContain("With conflict marks, to be resolved by you:\n  a.txt\n  both.txt\n");
  expect(repository.read("a.txt")).toBe("<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> fix\n");
  expect(readFileSync(join(outside, "x.txt"), "utf8")).toBe("outside\n");
});

test(verifies(["C73", "S-124"], "a branch is made without hooks, and without a change of files"), async () => {
  const repository = createRepository();
  await repository.prompt([edit("a.txt", "two", "2")], ["--worktree", "fix"]);
  const marker = join(repository.home, "marker");
  mkdirSync(join(repository.cwd, ".git/hooks"), { recursive: true });
  for (const hook of ["pre-receive", "update", "post-receive", "post-update", "reference-transaction", "pre-push"]) {
    const file = join(repository.cwd, ".git/hooks", hook);
    writeFileSync(file, `#!/bin/sh\ntouch '${marker}'\n`, { mode: 0o755 });
  }
  for (const [key, value] of [
    ["core.fsmonitor", `touch '${marker}'`],
    ["core.alternateRefsCommand", `touch '${marker}'`],
    ["receive.denyCurrentBranch", "updateInstead"],
  ] as const) {
    git(repository.cwd, "config", key, value);
  }
  expect((await repository.run("worktrees", "merge", "fix", "--branch")).code).toBe(0);
  expect(existsSync(marker)).toBe(false);
  git(repository.cwd, "config", "--unset", "core.fsmonitor");
  expect(git(repository.cwd, "-c", "core.hooksPath=/dev/null", "show", "--format=%s", "--name-only", "sheaf/fix")).toBe(
    "Changes of the working tree fix\n\na.txt",
  );
  expect(repository.read("a.txt")).toContain("two");
  expect((await repository.run("worktrees", "rm", "fix")).code).toBe(0);
});

test(verifies("C70", "a tree that another process uses waits for no one"), async () => {
  const repository = createRepository();
  const { folder } = await repository.prompt([create("b.txt")], ["--worktree", "fix"]);
  writeFileSync(join(folder, "../lock"), String(process.pid));
  const busy = await repository.prompt([], ["--worktree", "fix"]);
  expect([busy.code, busy.stderr]).toEqual([9, expect.stringContaining(`is used by process ${process.pid}`)]);
  expect((await repository.run("worktrees", "rm", "fix", "--force")).code).toBe(9);
  expect((await repository.run("worktrees", "merge", "fix")).code).toBe(9);
  // A process that was killed holds nothing.
  writeFileSync(join(folder, "../lock"), "999999999");
  expect((await repository.run("worktrees", "merge", "fix")).code).toBe(0);
});

test(verifies("C74", "trees are listed, and removed only if nothing is lost"), async () => {
  const repository = createRepository();
  await repository.prompt([create("b.txt")], ["--worktree", "one"]);
  await repository.prompt([create("c.txt")], ["--worktree", "two"]);
  await repository.run("worktrees", "merge", "one");
  expect((await repository.run("worktrees", "ls")).stdout).toMatch(
    /^one {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}merged {2}\/.*\ntwo {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}1 file changed {2}\/.*\n$/,
  );
  const refused = await repository.run("worktrees", "rm", "one", "two");
  expect([refused.code, refused.stderr]).toEqual([8, expect.stringContaining("two has changes that are not merged")]);
  expect(await repository.list()).toHaveLength(2);
  expect((await repository.run("worktrees", "rm", "one")).code).toBe(0);
  expect((await repository.run("worktrees", "rm", "three")).stderr).toContain("use one of two");
  expect((await repository.run("worktrees", "rm", "two", "--force")).code).toBe(0);
  expect(readdirSync(join(repository.home, "worktrees"))).toEqual([]);
});
