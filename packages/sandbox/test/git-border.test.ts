/** Git in commands works on a private copy, and the repository gets what the command did with it (S-77). */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { chooseRows } from "../../../test/support/depth.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createRepository, git, gitVariables, tryGit } from "./git-user.ts";
import { createFolder, describeWithSandbox, openHeldRun, runHeld, stateFolder } from "./sandbox-run.ts";

/** A repository with a submodule that is checked out, one commit behind. */
function createWithSubmodule(): string {
  const library = createRepository("library");
  const workspace = createRepository("repository");
  git(workspace, "submodule", "--quiet", "add", library, "libs/sub");
  git(workspace, "commit", "-qm", "submodule");
  git(join(workspace, "libs/sub"), "checkout", "-q", "HEAD~1");
  return workspace;
}

/** What the user's git shows of a repository: HEAD, refs, stash and index. */
function describeState(folder: string): string {
  const refs = git(folder, "for-each-ref", "--format=%(refname) %(objectname)");
  return [git(folder, "rev-parse", "HEAD"), refs, git(folder, "ls-files", "-s")].join("\n");
}

/** Title, command, words for the user's git, and what it then shows. */
const ordinary: readonly (readonly [title: string, command: string, words: string, shown: string])[] = [
  ["commit", "echo x > a.txt && git add a.txt && git commit -qm x", "log -1 --format=%s --stat", "x\n\n a.txt"],
  ["commit --amend", "git commit -q --amend -m y", "log --format=%s", "y\nfirst\n"],
  ["branch -m", "git branch -m side renamed && git branch -m main trunk", "branch", "  renamed\n* trunk\n"],
  ["switch", "git switch -q side", "status -sb", "## side\n"],
  ["switch --detach and -D", "git switch -q --detach side && git branch -D side", "status -sb", "## HEAD (no branch)\n"],
  ["merge", "git merge -q -X ours side", "log -1 --format=%s", "Merge branch 'side'\n"],
  ["merge with a conflict", "git merge side; git checkout --ours file.txt && git add file.txt && git commit -qm merged", "log -1 --format=%s", "merged\n"],
  ["rebase -i", "GIT_SEQUENCE_EDITOR='sed -i 2s/pick/squash/' git rebase -q -i side~2 side", "rev-list --count side", "2\n"],
  ["rebase with a conflict", "git checkout -q side; git rebase main; for i in 1 2; do git checkout --theirs file.txt; git add file.txt; git rebase --continue; done; test ! -d .git/rebase-merge", "log --format=%s side", "three\ntwo\nfour\nfirst\n"],
  ["rebase that is given up", "git checkout -q side; git rebase main; git rebase --abort", "status -sb", "## side\n"],
  ["cherry-pick", "git cherry-pick -X theirs side~1 side", "log --format=%s", "three\ntwo\nfour\nfirst\n"],
  ["stash push", "echo x > file.txt && git stash -q", "stash list", "stash@{0}: WIP on main"],
  ["stash pop", "echo x > file.txt && git stash -q && git stash list && git stash pop -q", "status -s", " M file.txt\n"],
  ["tag", "git tag v1 && git tag -a v2 -m two && git tag v3 && git tag -d v3", "tag", "v1\nv2\n"],
  ["add -N, as an empty file", "echo x > n.txt && git add -N n.txt", "status -s", "AM n.txt\n"],
  ["gc", "git commit -q --allow-empty -m n && git gc -q --prune=now && git reflog expire --expire=now --all && git repack -qad && git pack-refs --all", "log -1 --format=%s", "n\n"],
  ["bisect", "git bisect start main main~1 && git bisect reset", "status -sb", "## main\n"],
  ["sparse checkout", "git sparse-checkout set none && git sparse-checkout disable && git archive HEAD | tar t", "status -sb", "## main\n"],
]; // prettier-ignore

describeWithSandbox("git in a command", () => {
  test.each(chooseRows(ordinary, 6))(verifies("S-77", "does a %s"), async (_, command, words, shown) => {
    const workspace = createRepository();
    const { exitCode, output, refusals } = await runHeld(`${gitVariables} ${command}`, workspace);
    expect([exitCode, refusals], output).toEqual([0, []]);
    expect(git(workspace, ...words.split(" "))).toContain(shown);
    expect(tryGit(workspace, "fsck", "--strict")).toMatchObject({ status: 0 });
  });

  test.each([
    [
      "a configuration that includes a pipe",
      "mkfifo pipe; git config include.path ../pipe",
      /"pipe" in its git folder/,
    ],
    [
      "a pipe in place of an object",
      "mkdir -p .git/objects/00; mkfifo .git/objects/00/$(printf %038d 1)",
      /not an ordinary file/,
    ],
  ])(verifies("S-77", "does not hold Sheaf up with %s"), { timeout: 20_000 }, async (_, command, reason) => {
    const workspace = createRepository();
    const before = describeState(workspace);
    const commit = `${gitVariables} git commit -q --allow-empty -m n; ${command}`;
    const { refusals } = await runHeld(commit, workspace, { timeoutMs: 60_000 });
    expect(describeState(workspace)).toBe(before);
    expect(refusals.join(" ")).toMatch(reason);
  });

  test(verifies("S-77", "shows the user the state before it while it runs"), async () => {
    const workspace = createRepository();
    const before = describeState(workspace);
    const running = openHeldRun(workspace).run(
      `${gitVariables} git commit -q --allow-empty -m x; touch made; while test -e made; do sleep 0.01; done`,
    );
    while (!existsSync(join(workspace, "made"))) await wait(10);
    expect(describeState(workspace)).toBe(before);
    git(workspace, "status");
    git(workspace, "rm", "-q", "--cached", "--ignore-unmatch", "made");
    tryGit(workspace, "clean", "-fq", "made");
    expect((await running).refusals).toEqual([]);
    expect(git(workspace, "log", "-1", "--format=%s")).toBe("x\n");
  });

  test(verifies("S-77", "waits between commands, and the repository gets the end of it"), async () => {
    const workspace = createRepository();
    const before = describeState(workspace);
    const run = openHeldRun(workspace);
    const first = await run.run(`${gitVariables} git cherry-pick side~1 side`);
    expect(first.refusals).toEqual([expect.stringContaining("waits")]);
    expect(describeState(workspace)).toBe(before);
    expect((await run.run("git status")).stdout).toContain("Cherry-pick currently in progress");
    const end = `${gitVariables} for i in 1 2; do git checkout --theirs file.txt; git add file.txt; git cherry-pick --continue; done; git status`;
    expect((await run.run(end)).refusals).toEqual([]);
    expect(git(workspace, "log", "--format=%s")).toBe("three\ntwo\nfour\nfirst\n");
    expect(git(workspace, "status", "-s")).toBe("");
  });

  test(verifies("S-77", "that did not end leaves the repository as it was, and its commits in a ref"), async () => {
    const workspace = createRepository();
    const before = describeState(workspace);
    const run = openHeldRun(workspace);
    const { refusals } = await run.run(
      `${gitVariables} git rebase -q --onto main side~2 side^0; git -c core.editor=true rebase --continue`,
    );
    expect(refusals).toEqual([expect.stringContaining("waits")]);
    const [notice = ""] = await run.end();
    expect(notice).toMatch(/did not end, so the repository has the state before it/);
    expect(describeState(workspace)).toBe(before);
  });

  test(verifies("S-77", "of two runs and of the user makes commits that all stay"), async () => {
    const workspace = createRepository();
    const [one, other] = [openHeldRun(workspace), openHeldRun(workspace)];
    const commit = (name: string): string =>
      `${gitVariables} git switch -qc ${name} side && git commit -q --allow-empty -m ${name}`;
    await one.run(commit("a"));
    await other.run(commit("b"));
    const slow = one.run(`${gitVariables} git commit -q --allow-empty -m command; touch made; sleep 1`);
    while (!existsSync(join(workspace, "made"))) await wait(10);
    git(workspace, "commit", "-q", "--allow-empty", "-m", "user");
    const { refusals } = await slow;
    expect(refusals.join("\n")).toContain("refs/sheaf/");
    expect(git(workspace, "log", "-1", "--format=%s", "b")).toBe("user\n");
    const subjects = git(workspace, "log", "--all", "--format=%s");
    expect(subjects.split("\n").toSorted().join(" ")).toBe(" a b command first four three two user");
  });

  test(verifies("S-77", "leaves the user's merge as it waits if its own end of it comes too late"), async () => {
    const workspace = createRepository();
    tryGit(workspace, "merge", "side");
    const end = `${gitVariables} git add file.txt; git commit -qm merged; touch made; while test -e made; do sleep 0.01; done`;
    const slow = openHeldRun(workspace).run(end);
    while (!existsSync(join(workspace, "made"))) await wait(10);
    git(workspace, "update-ref", "HEAD", "HEAD~1");
    rmSync(join(workspace, "made"));
    expect((await slow).refusals.join("\n")).toContain("refs/sheaf/");
    expect(existsSync(join(workspace, ".git/MERGE_HEAD"))).toBe(true);
  });

  test(verifies("S-77", "shares its copy with a command in the background"), async () => {
    const workspace = createRepository();
    const run = openHeldRun(workspace);
    const background = run.run(
      `${gitVariables} touch ready; while ! test -e go; do sleep 0.01; done; git log -1 --format=%s`,
      {
        isBackground: true,
      },
    );
    while (!existsSync(join(workspace, "ready"))) await wait(10);
    expect((await run.run(`${gitVariables} git commit -q --allow-empty -m shared`)).refusals).toEqual([]);
    expect(git(workspace, "log", "-1", "--format=%s")).toBe("shared\n");
    await run.run("touch go");
    expect((await background).stdout).toBe("shared\n");
  });

  test(verifies("S-77", "pushes to a folder that the user added, and sets the upstream"), async () => {
    const workspace = createRepository();
    const remote = createFolder("remote.git");
    git(remote, "init", "-q", "--bare");
    git(workspace, "remote", "add", "origin", remote);
    const push = await runHeld("git push -qu origin main", workspace, {}, undefined, { addedFolders: [remote] });
    expect([push.exitCode, push.refusals], push.output).toEqual([0, []]);
    expect(git(remote, "log", "-1", "--format=%s", "main")).toBe("four\n");
    expect(git(workspace, "config", "branch.main.remote")).toBe("origin\n");
  });

  test(verifies("S-77", "runs the user's hooks, which it cannot change"), async () => {
    const workspace = createRepository();
    writeFileSync(join(workspace, ".git/hooks/pre-commit"), "#!/bin/sh\ntouch hooked; exit 1\n", { mode: 0o755 });
    const { exitCode } = await runHeld(
      `${gitVariables} echo > .git/hooks/pre-commit; git commit --allow-empty -m x`,
      workspace,
    );
    expect(exitCode).toBe(1);
    expect(existsSync(join(workspace, "hooked"))).toBe(true);
  });
});

describeWithSandbox("a command that only reads", () => {
  test(verifies(["S-77", "S-76"], "sees the repository itself, and writes nothing in its folders"), async () => {
    const workspace = createRepository();
    const run = openHeldRun(workspace);
    const command = "git status -sb; git log -1 --format=%s; touch x .git/x; mkdir -p a/.git";
    const { stdout } = await run.run(command, { isReadOnly: true });
    expect(stdout).toBe("## main\nfour\n");
    expect(readdirSync(workspace).toSorted()).toEqual([".git", "file.txt"]);
    expect(existsSync(join(workspace, ".git/x"))).toBe(false);
    await run.run(`${gitVariables} git cherry-pick side~1`);
    expect((await run.run("git status", { isReadOnly: true })).stdout).toContain("cherry-picking");
  });
});

describeWithSandbox("the private copy", () => {
  test(verifies("S-77", "is no repository on disk, not even while a command runs"), async () => {
    const workspace = createRepository();
    const run = openHeldRun(workspace);
    const running = run.run(
      `${gitVariables} git commit -q --allow-empty -m x; touch made; while test -e made; do sleep 0.01; done`,
    );
    while (!existsSync(join(workspace, "made"))) await wait(10);
    const names = readdirSync(stateFolder, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith("/HEAD"),
    );
    expect(names).not.toEqual([]);
    for (const name of names)
      expect(tryGit(join(stateFolder, dirname(name)), "rev-parse", "--git-dir").status).not.toBe(0);
    rmSync(join(workspace, "made"));
    await running;
  });
});

describeWithSandbox("a repository that a command makes", () => {
  test.each(["project", "."])(
    verifies(["S-76", "S-77"], "in %s keeps its commits and index, and starts nothing"),
    async (name) => {
      const workspace = createFolder("workspace", { "project/file.txt": "x" });
      const folder = join(workspace, name);
      const run = openHeldRun(workspace);
      const make = `cd ${name}; git init -q -b trunk; git add .; git commit -qm first; git tag v1; git config core.fsmonitor $PWD/evil.sh; echo x > .git/hooks/pre-commit; echo y > staged; git add staged; git clone -qs . $OLDPWD/borrowing`;
      const { refusals } = await run.run(`${gitVariables} ${make}`);
      expect(refusals.join("\n")).toContain("again, with the same commits, branches and index");
      expect(git(folder, "log", "--format=%s %d")).toBe("first  (HEAD -> trunk, tag: v1)\n");
      expect(git(folder, "status", "-s")).toContain("A  staged\n");
      expect(readFileSync(join(folder, ".git/config"), "utf8")).not.toContain("fsmonitor");
      expect(existsSync(join(folder, ".git/hooks"))).toBe(false);
      expect(existsSync(join(workspace, "borrowing/.git"))).toBe(false);
      const next = await run.run(`${gitVariables} cd ${name}; git commit -qam second`);
      expect(next.exitCode).toBe(name === "." ? 0 : 128);
    },
  );
});

describeWithSandbox("git that reaches another repository", () => {
  test.each([
    ["git worktree add -q tree", "git worktree add"],
    ["git submodule update", "git submodule update"],
    ["git -C libs/sub commit --allow-empty -m x", "--workspace DIR"],
    ["mkdir -p .git/lfs/objects", "git lfs"],
  ])(verifies(["S-77", "S-100"], "fails with the way to do it: %s"), async (command, way) => {
    const workspace = createWithSubmodule();
    const { exitCode, refusals } = await runHeld(`${gitVariables} ${command}`, workspace);
    expect(exitCode).not.toBe(0);
    expect(refusals.join("\n")).toContain(way);
    expect(existsSync(join(workspace, "tree"))).toBe(false);
  });

  test(verifies("S-77", "finds a submodule's empty folder read-only, under its own name"), async () => {
    const workspace = createWithSubmodule();
    rmSync(join(workspace, "libs"), { recursive: true });
    const command =
      "mv libs l; mkdir -p libs/sub; git init -q libs/sub; touch libs/sub/x; find . -name x -o -name .git";
    expect((await runHeld(command, workspace)).stdout).toBe("./.git\n");
    expect(readdirSync(join(workspace, "libs/sub"))).toEqual([]);
    expect(git(workspace, "status", "-s")).toBe("");
  });
});

describeWithSandbox("a command that changes what starts later", () => {
  test(verifies("S-245", "has a result that lists it"), async () => {
    const workspace = createRepository("repository", { ".pre-commit-config.yaml": "", "scripts/check.sh": "" });
    writeFileSync(join(workspace, ".git/hooks/pre-commit"), "#!/bin/sh\nexec ./scripts/check.sh\n");
    const command =
      "mkdir -p .github/workflows; touch .github/workflows/ci.yml .github/x; echo x >> .pre-commit-config.yaml; echo x >> scripts/check.sh; touch scripts/other.sh";
    const { refusals } = await runHeld(command, workspace);
    expect(refusals).toHaveLength(1);
    for (const name of [".github/workflows/ci.yml (CI", ".pre-commit-config.yaml (git", "scripts/check.sh (a hook"])
      expect(refusals[0]).toContain(name);
    expect((await runHeld("cat .pre-commit-config.yaml; touch scripts/x", workspace)).refusals).toEqual([]);
  });
});

/** Git actions of a user and of editors, which run unasked. */
const userActions = [
  "status", "restore .", "-c core.quotepath=false status -z -uall", "diff", "log -p -3", "checkout -q side", "checkout -q main", "add -A",
  "commit -qm user --allow-empty", "stash -u", "checkout -q side", "submodule status", "worktree list", "rebase --continue",
  "cherry-pick --continue",
]; // prettier-ignore

/** Runs a hostile command, then all that a user does. Returns whether something started the command's program. */
async function runHostile(workspace: string, command: string): Promise<boolean> {
  const canary = join(createFolder("canary"), "started");
  writeFileSync(join(workspace, "evil.sh"), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
  const { startError } = await runHeld(`${gitVariables} W=$PWD; ${command}`, workspace);
  if (startError !== "") throw new Error(startError);
  for (const words of userActions) tryGit(workspace, ...words.split(" "));
  return existsSync(canary);
}

const evilConfig = '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = \\"$W/evil.sh\\"\\n';
/** Makes a repository that runs the program when git looks into it. */
const makeEvil = (folder: string, place = `${folder}/.git`): string =>
  `git init -q ${folder}; git -C ${folder} commit -q --allow-empty -m x; test ${place} = ${folder}/.git || mv ${folder}/.git ${place}; printf "${evilConfig}" > ${place}/config`;
const addToIndex = (folder: string, path = folder): string =>
  `git update-index --add --cacheinfo 160000,$(git -C ${folder} rev-parse HEAD),${path}`;
/** Writes entries into an index by hand: git itself refuses such paths. */
const writeIndex = (path: string, mode = "100755", id = "$(git hash-object -w evil.sh)"): string =>
  `id=${id}; git update-index --add --cacheinfo ${mode},$id,$(printf %s '${path}' | tr / _ | tr . -); python3 - <<'E'
import hashlib
b=open('.git/index','rb').read()[:-20]
b=b.replace(b'${path}'.replace(b'/',b'_').replace(b'.',b'-'),b'${path}')
open('.git/index','wb').write(b+hashlib.sha1(b).digest())
E
git ls-files -s | grep -qF '${path}' || touch failed`;

const hostile: readonly (readonly [title: string, command: string])[] = [
  ["a path of a hook in the index", writeIndex(".git/hooks/post-checkout")],
  ["a path outside of the workspace in the index", writeIndex("../evil.sh")],
  ["a repository in git's own logs, put into the index", `${makeEvil(".git/logs/y")}; ${writeIndex(".git/logs/y", "160000", "$(git -C .git/logs/y rev-parse HEAD)")}`],
  ["a link to a repository in git's own logs, put into the index", `${makeEvil(".git/logs/y")}; ln -s .git/logs/y vend; ${addToIndex(".git/logs/y", "vend")}`],
  ["a repository in a package", `${makeEvil("node_modules/x")}; ${addToIndex("node_modules/x")}`],
  ["a bare repository in a package", `${makeEvil("x")}; mkdir node_modules; mv x/.git node_modules/x; ${addToIndex("node_modules/x")}`],
  ["a folder that is a repository by its commondir", `${makeEvil("y")}; mkdir x; echo ../y/.git > x/commondir; cp .git/HEAD x/HEAD; ${addToIndex("y", "x")}`],
  ["a link in the place of modules", `${makeEvil("evil/sub")}; mv evil/sub/.git evil/g; rm -rf .git/modules; ln -s ../evil .git/modules`],
  ["settings, hooks, attributes and remotes", "printf '[core]\\nfsmonitor=%s\\n' $W/evil.sh | tee .git/config.worktree >> .git/config; for h in pre-commit post-checkout post-index-change; do cp evil.sh .git/hooks/$h; done; mkdir -p .git/remotes; echo 'URL: ext::sh' > .git/remotes/origin"],
  ["another common folder", `${makeEvil("x")}; echo $W/x/.git > .git/commondir; rm -rf .git/refs .git/objects`],
  ["a program in an interrupted rebase", "git checkout -q side; git rebase main >/dev/null; git checkout --ours file.txt; git add file.txt; printf 'exec ./evil.sh\\n' >> .git/rebase-merge/git-rebase-todo"],
  ["a strategy of an interrupted cherry-pick", "git cherry-pick side~1 side >/dev/null; git add file.txt; mkdir git-merge-x; cp evil.sh git-merge-x/y; printf '[options]\\n\\tSTRATEGY = x/y\\n' > .git/sequencer/opts"],
]; // prettier-ignore

describeWithSandbox("a hostile command", () => {
  test.each(chooseRows(hostile, 6))(verifies(["S-77", "S-76"], "with %s starts nothing"), async (_, command) => {
    const workspace = createRepository();
    expect(await runHostile(workspace, command)).toBe(false);
    expect(existsSync(join(workspace, "failed"))).toBe(false);
    expect(existsSync(join(workspace, "../evil.sh"))).toBe(false);
  });

  test(
    verifies("S-77", "lets git show the user what will be pushed, without replaced objects and skipped files"),
    async () => {
      const workspace = createRepository();
      const command =
        "git replace main side; echo evil > file.txt; git update-index --skip-worktree file.txt; git update-index --assume-unchanged file.txt";
      await runHeld(`${gitVariables} ${command}`, workspace);
      expect(git(workspace, "status", "-s")).toBe(" M file.txt\n");
      expect(git(workspace, "show", "-s", "--format=%s", "main")).toBe("four\n");
      expect(git(workspace, "replace", "-l")).toBe("");
    },
  );

  test(verifies("S-77", "makes no link that the user's git follows out of its folder"), async () => {
    const workspace = createRepository();
    const outside = createFolder("outside", { "file.txt": "old" });
    const links = ["logs/HEAD", "COMMIT_EDITMSG", "FETCH_HEAD", "packed-refs", "index", "ORIG_HEAD", "info/exclude"];
    const command = links.map((name) => `rm -rf .git/${name}; ln -s ${outside}/file.txt .git/${name}`).join("; ");
    await runHeld(command, workspace);
    for (const words of ["commit -q --allow-empty -m x", "fetch -q . main", "pack-refs --all", "add .", "status"])
      git(workspace, ...words.split(" "));
    expect(readFileSync(join(outside, "file.txt"), "utf8")).toBe("old");
  });

  test(verifies("S-77", "cannot take the history away"), async () => {
    const workspace = createRepository();
    const before = describeState(workspace);
    await runHeld("rm -rf .git/* .git/objects/* .git/base-objects/*; find .git -delete; mv .git g; true", workspace);
    expect(describeState(workspace)).toBe(before);
    expect(tryGit(workspace, "fsck").status).toBe(0);
  });
});

describeWithSandbox("a workspace", () => {
  const commit = `${gitVariables} echo new > new.txt && git add new.txt && git commit -qm new`;

  test(verifies("S-77", "below a repository commits"), async () => {
    const repository = createRepository("repository", { "deep/er/file.txt": "x" });
    const { exitCode, output, refusals } = await runHeld(commit, join(repository, "deep/er"));
    expect([exitCode, refusals], output).toEqual([0, []]);
    expect(git(repository, "show", "--format=%s", "--stat")).toContain("new\n\n deep/er/new.txt");
    expect(git(repository, "status", "-s")).toBe("");
  });

  test(verifies("S-77", "that is a submodule commits, and settings of it stay as they are"), async () => {
    const submodule = join(createWithSubmodule(), "libs/sub");
    const { exitCode, output, refusals } = await runHeld(`git config core.fsmonitor x; ${commit}`, submodule);
    expect([exitCode, refusals], output).toEqual([0, [expect.stringContaining('changed ("core.fsmonitor")')]]);
    expect(git(submodule, "log", "-1", "--format=%s")).toBe("new\n");
    expect(tryGit(submodule, "config", "core.fsmonitor").stdout).toBe("");
  });

  test(verifies("S-77", "without a repository, or with a bare one around, runs git as far as it goes"), async () => {
    expect((await runHeld("git status; git --version", createFolder("plain"))).output).toContain(
      "not a git repository",
    );
    const bare = createFolder("bare.git");
    git(bare, "init", "-q", "--bare", "-b", "main");
    const command = `${gitVariables} git update-ref refs/heads/main $(git commit-tree -m x $(git hash-object -w -t tree /dev/null)); cp config evil; git config core.fsmonitor x`;
    expect((await runHeld(command, bare)).output).toBe("");
    expect(git(bare, "log", "--format=%s", "main")).toBe("x\n");
    expect(tryGit(bare, "config", "core.fsmonitor").stdout).toBe("");
  });

  test(verifies("S-77", "keeps its submodules, its worktrees and nested repositories as they are"), async () => {
    const workspace = createWithSubmodule();
    mkdirSync(join(workspace, "nested"));
    git(join(workspace, "nested"), "init", "-q");
    git(workspace, "worktree", "add", "-q", "tree", "side");
    appendFileSync(join(workspace, ".git/info/exclude"), "nested\ntree\n");
    const read = (): string[] =>
      ["libs/sub", "nested", "tree", "."].map((name) => tryGit(join(workspace, name), "log", "--all", "-p").stdout);
    const before = read();
    const inner = ["libs/sub", "nested", "tree"].map(
      (name) =>
        `git -C ${name} commit -q --allow-empty -m evil; echo '[core]fsmonitor=x' >> ${name}/.git/config; echo x > ${name}/.git`,
    );
    const { output } = await runHeld(
      `${gitVariables} ${inner.join("; ")}; echo x > .git/modules/libs/sub/HEAD; echo x > .git/worktrees/tree/HEAD`,
      workspace,
    );
    expect(output).toContain("Read-only file system");
    expect(read()).toEqual(before);
  });
});
