/** `--worktree`: a run in a working tree of its own, which ends as a branch, through the built command line and real git. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeFileLock } from "@sheaf/base/file-lock";
import type { Notice } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { createTestFolder, parseStream, runAsNeeded, runSheaf, type ProgramOptions } from "../support/sheaf.ts";
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
  return {
    cwd,
    home,
    git: (...args: string[]) => git(cwd, ...args),
    run: (...args: string[]) => runSheaf(args, { cwd, home }),
    /** The files of all trees. */
    listFiles: () =>
      readdirSync(join(home, "worktrees"), { recursive: true }).filter((path) => /\/files\//.test(String(path))),
    async prompt(
      events: readonly object[],
      args: readonly string[],
      {
        cwd: from = cwd,
        next = [{ text: "Done." }],
        ...options
      }: Partial<ProgramOptions> & { next?: readonly object[] } = {},
    ) {
      const script = join(home, "script.json");
      writeFileSync(script, JSON.stringify({ turns: [{ events }, { events: next }], after: "loop" }));
      const words = ["-p", "--model", `scripted:${script}`, ...args, "go on"];
      const result = await runAsNeeded(words, { cwd: from, home, ...options });
      const lines = /^\{"type":"system".*\n$/s.test(result.stdout) ? parseStream(result.stdout) : [];
      const { notices } = (lines.at(-1) ?? {}) as { readonly notices?: readonly Notice[] };
      return {
        ...result,
        folder: String(lines[0]?.cwd),
        session: String(lines[0]?.session_id),
        notices: notices?.map(({ message }) => message),
      };
    },
  };
}

const noted = (text: string): string => `sheaf: notice: ${text}\n`;

test(verifies(["C70", "C71", "C15", "S-125"], "a run works in a tree of its own, and ends with a branch"), async () => {
  const repository = createRepository({ "a.txt": "one\ntwo\n", ".gitignore": "*.log\n" });
  writeFileSync(join(repository.cwd, "a.txt"), "not committed\n");
  const changes = [edit("a.txt", "two", "2"), create("b.txt"), create("noise.log")];
  const run = await repository.prompt(changes, ["--worktree", "fix"]);
  expect(run.code).toBe(0);
  expect(run.folder).toMatch(/\/worktrees\/[0-9a-f]{16}\/trees\/fix\/files$/);
  expect(run.folder.startsWith(repository.home)).toBe(true);
  const notice = `the branch sheaf/fix of ${repository.cwd} has the changes to 2 files: git merge sheaf/fix`;
  expect([run.stderr, run.notices]).toEqual([noted(notice), [notice]]);
  expect(readFileSync(join(repository.cwd, "a.txt"), "utf8")).toBe("not committed\n");
  expect(repository.git("status", "--porcelain")).toBe("M a.txt");
  expect(repository.git("log", "--format=%an: %s", "--name-status", "main..sheaf/fix")).toBe(
    "Sheaf: Changes of the working tree fix\n\nM\ta.txt\nA\tb.txt",
  );
  expect(repository.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\nrefs/heads/sheaf/fix");
  expect(existsSync(run.folder)).toBe(false);
  const shown = await repository.run("show", run.session, "--output-format", "documents");
  expect(JSON.parse(shown.stdout)).toMatchObject({ metadata: { notices: [{ code: "TREE_BRANCH", message: notice }] } });
});

test(verifies("C71", "without changes there is no branch, and no file of the tree stays"), async () => {
  const repository = createRepository();
  const run = await repository.prompt([{ text: "Nothing to do." }], ["--worktree"]);
  expect(run.folder).toMatch(/\/trees\/tree-[0-9a-f]{8}\/files$/);
  expect(run.notices).toEqual([
    expect.stringMatching(/^nothing changed in the working tree tree-\w{8}, so Sheaf made no/),
  ]);
  expect(repository.git("branch", "--format=%(refname:short)")).toBe("main");
  expect(repository.listFiles()).toEqual([]);
});

test(verifies("C71", "a run that fails, is over its budget or is cancelled keeps what it did, too"), async () => {
  const repository = createRepository();
  const over = await repository.prompt([create("b.txt")], ["-w", "over", "--max-turns", "2"], {
    next: [create("c.txt")],
  });
  expect([over.code, over.notices]).toEqual([expect.any(Number), [expect.stringContaining("git merge sheaf/over")]]);
  expect(over.code).not.toBe(0);
  const failed = await repository.prompt([create("b.txt")], ["-w", "failed"], {
    next: [{ error: { code: "AUTH_REJECTED", message: "no" } }],
  });
  expect([failed.code, failed.notices]).toEqual([3, [expect.stringContaining("git merge sheaf/failed")]]);
  const cancelled = await repository.prompt([create("b.txt")], ["-w", "cancelled"], {
    next: [{ wait_ms: 60_000 }],
    onOutput: (output, child) => void (output.includes('"completed"') && child.kill("SIGTERM")),
  });
  expect([cancelled.code, cancelled.notices]).toEqual([143, [expect.stringContaining("git merge sheaf/cancelled")]]);
  for (const name of ["over", "failed", "cancelled"]) expect(repository.git("show", `sheaf/${name}:b.txt`)).toBe("new");
});

test(verifies("C71", "the shown command merges the branch, also beside a tag of its name"), async () => {
  const repository = createRepository();
  repository.git("tag", "sheaf/fix");
  const { notices = [] } = await repository.prompt([create("b.txt")], ["-w", "fix"]);
  const [, words = ""] = /: git (merge .*)$/.exec(notices.join("\n")) ?? [];
  repository.git(...words.split(" "));
  expect(readFileSync(join(repository.cwd, "b.txt"), "utf8")).toBe("new\n");
});

test(
  verifies("C71", "commits of the model are in the branch; a branch or a stash beside it keeps the tree"),
  async () => {
    const repository = createRepository();
    const command = (text: string) => ({ call: { tool: "run_terminal_cmd", arguments: { command: text } } });
    const commit = "git -c user.name=Bea -c user.email=b@example.org commit -q -m";
    const made = `echo 1 > one.txt && git add . && ${commit} One && echo 2 > two.txt && git add . && ${commit} Two`;
    const run = await repository.prompt([command(`${made} && echo 3 > three.txt`)], ["-w", "fix", "--force"]);
    expect(run.notices).toEqual([expect.stringContaining("the changes to 3 files: git merge sheaf/fix")]);
    expect(repository.git("log", "--format=%an: %s", "main..sheaf/fix")).toBe(
      "Sheaf: Changes of the working tree fix\nBea: Two\nBea: One",
    );
    // A second run goes on; a commit that takes everything back is a change, too.
    await repository.prompt([command(`git rm -q three.txt && ${commit} Less`)], ["-w", "fix", "--force"]);
    expect(repository.git("log", "-1", "--format=%s", "sheaf/fix")).toBe("Less");
    expect(existsSync(join(repository.cwd, ".git/shallow"))).toBe(false);
    const aside = `git switch -q -c aside && echo x > x.txt && git add . && ${commit} Aside && git switch -q -`;
    const left = await repository.prompt([command(aside)], ["-w", "other", "--force"]);
    expect(left.notices).toEqual([
      "nothing changed in the working tree other, so Sheaf made no branch",
      `the working tree stays in ${left.folder}, since the branch lacks refs/heads/aside`,
    ]);
    expect(git(left.folder, "show", "aside:x.txt")).toBe("x");
  },
);

test(
  verifies(["C71", "S-124"], "commits with paths that git refuses stay outside, and the files come alone"),
  async () => {
    const repository = createRepository();
    const blob = "$(echo x | git hash-object -w --stdin)";
    const tree = `$(printf '100644 blob %s\\tconfig\\n' ${blob} | git mktree)`;
    const root = `$(printf '040000 tree %s\\t.GIT\\n' ${tree} | git mktree)`;
    const command = `git reset -q --soft $(git -c user.name=B -c user.email=b@e commit-tree -p HEAD -m Bad ${root}) && echo b > b.txt`;
    const call = { call: { tool: "run_terminal_cmd", arguments: { command } } };
    const run = await repository.prompt([call], ["-w", "fix", "--force", "--sandbox", "disabled"]);
    expect(run.notices).toEqual([
      expect.stringContaining("the changes to 1 file: git merge sheaf/fix"),
      expect.stringMatching(/since the branch lacks the commits of its \.git: /),
    ]);
    expect(repository.git("ls-tree", "-r", "--name-only", "sheaf/fix")).toBe("a.txt\nb.txt");
  },
);

test(verifies("C70", "what has no tree is a usage error"), async () => {
  const repository = createRepository();
  const empty = folders.newFolder();
  const plain = await repository.prompt([], ["--worktree"], { cwd: empty });
  expect([plain.code, plain.stderr]).toEqual([2, expect.stringContaining("is in no git repository")]);
  git(empty, "init", "-q");
  const unborn = await repository.prompt([], ["--worktree"], { cwd: empty });
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
  verifies(["C70", "C71"], "a checkout without history, as CI makes it, has trees and gets their branches"),
  async () => {
    const repository = createRepository();
    git(repository.cwd, "commit", "-qm", "Go on", "--allow-empty");
    const checkout = folders.newFolder();
    git(checkout, "clone", "-q", "--depth=1", `file://${repository.cwd}`, ".");
    git(checkout, "checkout", "-q", "--detach");
    const run = await repository.prompt([edit("a.txt", "two", "2")], ["--worktree", "fix"], { cwd: checkout });
    expect(run.notices).toEqual([expect.stringContaining("has the changes to 1 file: git merge sheaf/fix")]);
    expect(git(checkout, "log", "--format=%s", "sheaf/fix")).toBe("Changes of the working tree fix\nGo on");
    git(checkout, "merge", "-q", "sheaf/fix");
    expect(git(checkout, "fsck")).not.toContain("missing");
  },
);

test(verifies("C70", "a subfolder of the repository is the same subfolder of the tree"), async () => {
  const repository = createRepository({ "app/a.txt": "one\n" });
  const cwd = join(repository.cwd, "app");
  const run = await repository.prompt([edit("a.txt", "one", "1")], ["-w", "x"], { cwd });
  expect(run.folder).toMatch(/\/trees\/x\/files\/app$/);
  expect(repository.git("show", "sheaf/x:app/a.txt")).toBe("1");
  expect((await repository.prompt([create("b.txt")], ["--continue"], { cwd })).session).toBe(run.session);
});

test(verifies("C72", "--continue and --resume make the tree again from its branch"), async () => {
  const repository = createRepository();
  const first = await repository.prompt([create("b.txt")], ["--worktree", "fix"]);
  const second = await repository.prompt([edit("b.txt", "new", "newer")], ["--continue"]);
  expect([second.folder, second.session]).toEqual([first.folder, first.session]);
  const elsewhere = folders.newFolder();
  const third = await repository.prompt([create("c.txt")], ["--resume", first.session], { cwd: elsewhere });
  expect(third.folder).toBe(first.folder);
  expect(readdirSync(elsewhere)).toEqual([]);
  const plain = await repository.prompt([{ text: "Here." }], []);
  expect(plain.folder).toBe(repository.cwd);
  expect((await repository.prompt([{ text: "Yes." }], ["--continue"])).session).toBe(plain.session);
  const named = await repository.prompt([create("e.txt")], ["--continue", "--worktree", "fix"]);
  expect(named.session).toBe(first.session);
  const other = await repository.prompt([], ["--resume", first.session, "--worktree", "other"]);
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("works in the working tree fix")]);
  expect(repository.git("show", "sheaf/fix:b.txt")).toBe("newer");
  expect(repository.git("rev-list", "--count", "main..sheaf/fix")).toBe("4");
  const same = await repository.prompt([{ text: "Nothing." }], ["--worktree", "fix"]);
  expect(same.notices).toEqual(["nothing changed in the working tree fix, so the branch sheaf/fix stays as it is"]);
});

test(
  verifies("C72", "without its branch a session goes on from the commit that it had, a new one from yours"),
  async () => {
    const repository = createRepository();
    const first = await repository.prompt([create("b.txt")], ["--worktree", "fix"]);
    repository.git("branch", "-qD", "sheaf/fix");
    await repository.prompt([create("c.txt")], ["--resume", first.session]);
    expect(repository.git("ls-tree", "--name-only", "sheaf/fix")).toBe("a.txt\nb.txt\nc.txt");
    repository.git("branch", "-qD", "sheaf/fix");
    await repository.prompt([create("d.txt")], ["--worktree", "fix"]);
    expect(repository.git("ls-tree", "--name-only", "sheaf/fix")).toBe("a.txt\nd.txt");
    repository.git("branch", "-qD", "sheaf/fix");
    repository.git("reflog", "expire", "--expire=all", "--all");
    repository.git("gc", "-q", "--prune=now");
    const lost = await repository.prompt([create("e.txt")], ["--resume", first.session]);
    expect(lost.notices).toEqual([
      expect.stringMatching(/git merge sheaf\/fix$/),
      expect.stringContaining("started with your last"),
    ]);
    expect(repository.git("ls-tree", "--name-only", "sheaf/fix")).toBe("a.txt\ne.txt");
    rmSync(join(first.folder, ".."), { recursive: true });
    const gone = await repository.prompt([], ["--resume", first.session], { cwd: folders.newFolder() });
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining("was removed")]);
  },
);

test(verifies("C71", "a branch that is checked out, or has other commits, stays as it is"), async () => {
  const repository = createRepository();
  await repository.prompt([create("b.txt")], ["--worktree", "fix"]);
  const tip = repository.git("rev-parse", "sheaf/fix");
  repository.git("switch", "-q", "sheaf/fix");
  const second = await repository.prompt([create("c.txt")], ["--continue"]);
  expect(second.notices).toEqual([
    `the branch sheaf/fix-2 of ${repository.cwd} has the changes to 1 file, since sheaf/fix is checked out or has other commits: git merge sheaf/fix-2`,
  ]);
  expect([repository.git("rev-parse", "sheaf/fix"), repository.git("status", "--porcelain")]).toEqual([tip, ""]);
  // The tree goes on where it ended.
  await repository.prompt([create("d.txt")], ["--continue"]);
  expect(repository.git("ls-tree", "--name-only", "sheaf/fix-2")).toBe("a.txt\nb.txt\nc.txt\nd.txt");
  // The user goes on while a run works.
  const other = repository.git("commit-tree", "main^{tree}", "-p", "main", "-m", "Other");
  const moved = await repository.prompt([create("e.txt")], ["--continue"], {
    next: [{ wait_ms: 500 }, { text: "Done." }],
    onOutput: (output) => void (output.includes('"completed"') && repository.git("branch", "-f", "sheaf/fix-2", other)),
  });
  expect(moved.notices).toEqual([expect.stringContaining("the branch sheaf/fix-3 of")]);
  expect(repository.git("rev-parse", "sheaf/fix-2")).toBe(other);
});

test(
  verifies("C71", "where no branch can be made, or a file is left out, the tree stays, and the next run goes on in it"),
  async () => {
    const repository = createRepository();
    repository.git("branch", "sheaf");
    const blocked = await repository.prompt([create("b.txt")], ["--worktree", "fix"]);
    expect([blocked.code, blocked.notices]).toEqual([
      9,
      [
        expect.stringMatching(
          /^the working tree stays in \/.*\/fix\/files \(git could not make the branch sheaf\/fix: .*sheaf -p --worktree fix "…"$/,
        ),
      ],
    ]);
    repository.git("branch", "-D", "sheaf");
    mkdirSync(join(blocked.folder, "inner"));
    git(join(blocked.folder, "inner"), "init", "-q");
    git(join(blocked.folder, "inner"), "commit", "-qm", "x", "--allow-empty");
    const partly = await repository.prompt([create("c.txt")], ["--worktree", "fix"]);
    expect(partly.notices).toEqual([
      expect.stringContaining("the branch sheaf/fix of"),
      `the working tree stays in ${blocked.folder}, since the branch lacks inner/: it has its own repository`,
    ]);
    expect(repository.git("ls-tree", "--name-only", "sheaf/fix")).toBe("a.txt\nb.txt\nc.txt");
    rmSync(join(blocked.folder, "inner"), { recursive: true });
    await repository.prompt([create("d.txt")], ["--continue"]);
    expect(repository.git("log", "--format=%s", "main..sheaf/fix").split("\n")).toHaveLength(2);
    expect(repository.listFiles()).toEqual([]);
  },
);

test(verifies(["C71", "S-124"], "a branch is made without hooks, and without a change of files"), async () => {
  const repository = createRepository();
  const marker = join(repository.home, "marker");
  mkdirSync(join(repository.cwd, ".git/hooks"), { recursive: true });
  for (const hook of ["pre-receive", "update", "post-receive", "post-update", "reference-transaction", "pre-push"]) {
    const file = join(repository.cwd, ".git/hooks", hook);
    writeFileSync(file, `#!/bin/sh\ntouch '${marker}'\n`, { mode: 0o755 });
  }
  for (const [key, value] of [
    ["core.fsmonitor", `touch '${marker}'`],
    ["core.alternateRefsCommand", `touch '${marker}'`],
    ["uploadpack.packObjectsHook", `touch '${marker}'`],
    ["receive.denyCurrentBranch", "updateInstead"],
  ] as const) {
    git(repository.cwd, "-c", "core.hooksPath=/dev/null", "config", key, value);
  }
  expect((await repository.prompt([edit("a.txt", "two", "2")], ["--worktree", "fix"])).code).toBe(0);
  expect(existsSync(marker)).toBe(false);
  git(repository.cwd, "config", "--unset", "core.fsmonitor");
  expect(git(repository.cwd, "-c", "core.hooksPath=/dev/null", "show", "--format=%s", "--name-only", "sheaf/fix")).toBe(
    "Changes of the working tree fix\n\na.txt",
  );
  expect(readFileSync(join(repository.cwd, "a.txt"), "utf8")).toContain("two");
});

test(
  verifies(["C70", "C71"], "a killed run leaves its tree: doctor lists it, and the next run goes on in it"),
  async () => {
    const repository = createRepository();
    const killed = await repository.prompt([create("b.txt")], ["--worktree", "fix"], {
      next: [{ wait_ms: 60_000 }],
      onOutput: (output, child) => void (output.includes('"completed"') && child.kill("SIGKILL")),
    });
    expect(killed.code).toBe(null);
    const { checks } = JSON.parse((await repository.run("doctor", "--json")).stdout) as {
      readonly checks: readonly { readonly name: string; readonly advice?: string }[];
    };
    const found = checks.find(({ name }) => name === "worktrees")!;
    expect(found.advice).toContain(`cd '${repository.cwd}' && sheaf -p --worktree fix "Continue"`);
    const [, folder = ""] = /rm -r '(.*)' drops/.exec(found.advice!) ?? [];
    // Whatever a live process uses is neither listed nor used.
    const release = takeFileLock(join(folder, "tree.json"))!;
    const busy = await repository.prompt([], ["--worktree", "fix"]);
    expect([busy.code, busy.stderr]).toEqual([9, expect.stringContaining("another run uses")]);
    expect((await repository.run("doctor")).stdout).toContain("every run with --worktree has removed its tree");
    release();
    await repository.prompt([create("c.txt")], ["--worktree", "fix"]);
    expect(repository.git("ls-tree", "--name-only", "sheaf/fix")).toBe("a.txt\nb.txt\nc.txt");
    expect(repository.listFiles()).toEqual([]);
  },
);
