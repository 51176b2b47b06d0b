/** What a command leaves in git's folders runs nothing when the user goes on with git, and ordinary git works (S-77). */
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { chooseRows } from "../../../test/support/depth.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createRepository, git, gitVariables, tryGit } from "./git-user.ts";
import { createFolder, describeWithSandbox, runHeld } from "./sandbox-run.ts";

/** Git actions of a user and of editors, which run unasked. */
const userActions: readonly (readonly string[])[] = [
  ["status"],
  ["-c", "core.quotepath=false", "status", "-z", "-uall"],
  ["diff"],
  ["log", "-p", "-3"],
  ["add", "-A"],
  ["commit", "-qm", "by the user", "--allow-empty"],
  ["stash", "-u"],
  ["checkout", "-q", "side"],
  ["checkout", "-q", "main"],
  ["submodule", "status"],
  ["worktree", "list"],
  ["rebase", "--continue"],
  ["cherry-pick", "--continue"],
];

interface HostileOutcome {
  /** What the model hears of it. */
  readonly refusals: string;
  /** Whether something that the user did started the command's program. */
  readonly isStarted: boolean;
}

/** Runs a hostile command, then all that a user does. */
async function runHostile(workspace: string, command: string): Promise<HostileOutcome> {
  const canary = join(createFolder("canary"), "started");
  writeFileSync(join(workspace, "evil.sh"), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
  const { refusals, startError } = await runHeld(`${gitVariables} ${command}`, workspace);
  if (startError !== "") throw new Error(startError);
  for (const words of userActions) tryGit(workspace, ...words);
  return { refusals: refusals.join("\n"), isStarted: existsSync(canary) };
}

const evilConfig = '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \\"$W/evil.sh\\"\n';
/** Makes a repository that runs the program when git looks into it. */
const makeEvil = (folder: string): string =>
  `W=$PWD; git init -q ${folder}; git -C ${folder} commit -q --allow-empty -m x; printf "${evilConfig}" > ${folder}/.git/config`;
const addToIndex = (folder: string): string =>
  `git update-index --add --cacheinfo 160000,$(git -C ${folder} rev-parse HEAD),${folder}`;

describeWithSandbox("after a hostile command", () => {
  test.each(
    chooseRows(
      [
        [
          "a repository in a package",
          `${makeEvil("node_modules/x")}; ${addToIndex("node_modules/x")}`,
          "node_modules/x/.git",
        ],
        [
          "a bare repository in a package",
          "mkdir -p node_modules/x; cd node_modules/x; mkdir objects refs; echo 'ref: refs/heads/main' > HEAD",
          "node_modules/x/HEAD",
        ],
        [
          "a folder that is a repository by its commondir",
          `mkdir x real; cp -r .git/objects .git/refs real; echo ../real > x/commondir; echo 'ref: refs/heads/main' > x/HEAD`,
          "x/HEAD",
        ],
        [
          "a link in the place of modules",
          `${makeEvil("evil/sub")}; mv evil/sub/.git evil/g; rm -rf .git/modules; ln -s ../evil .git/modules`,
          ".git/modules",
        ],
        ["new attributes", "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes", ".git/info/attributes"],
        [
          "a remote of the old kind",
          "mkdir -p .git/remotes; echo 'URL: ext::sh' > .git/remotes/origin",
          ".git/remotes",
        ],
        [
          "a pipe in the place of a file",
          "rm -f .git/COMMIT_EDITMSG; mkfifo .git/COMMIT_EDITMSG",
          ".git/COMMIT_EDITMSG",
        ],
        [
          "a program in an interrupted rebase",
          "git checkout -q side; git rebase main >/dev/null; git checkout --ours file.txt; git add file.txt; printf 'exec ./evil.sh\\n' >> .git/rebase-merge/git-rebase-todo",
          "git-rebase-todo",
        ],
        [
          "an abbreviated program in an interrupted rebase",
          "git checkout -q side; git rebase main >/dev/null; git add file.txt; sed -i '1i \\  x ./evil.sh' .git/rebase-merge/git-rebase-todo",
          "git-rebase-todo",
        ],
        [
          "a strategy of an interrupted rebase",
          "git checkout -q side; git rebase main >/dev/null; git add file.txt; mkdir git-merge-x; cp evil.sh git-merge-x/y; echo x/y > .git/rebase-merge/strategy",
          "rebase-merge/strategy",
        ],
        [
          "a strategy of an interrupted cherry-pick",
          "git cherry-pick side~1 side >/dev/null; git add file.txt; mkdir git-merge-x; cp evil.sh git-merge-x/y; printf '[options]\\n\\tSTRATEGY = x/y\\n' > .git/sequencer/opts",
          "sequencer/opts",
        ],
      ],
      5,
    ),
  )(verifies(["S-77", "S-76"], "%s starts nothing"), async (_, command, place) => {
    const workspace = createRepository();
    const { refusals, isStarted } = await runHostile(workspace, command);
    expect(isStarted).toBe(false);
    expect(refusals).toContain(place);
  });
});

describeWithSandbox("a link in git's own folder", () => {
  test.each(
    chooseRows(
      [
        ["logs/HEAD", "commit -q --allow-empty -m x"],
        ["COMMIT_EDITMSG", "commit -q --allow-empty -m x"],
        ["FETCH_HEAD", "fetch -q . main"],
        ["packed-refs", "pack-refs --all"],
        ["index", "add ."],
        ["refs/heads/new", "branch -f new main"],
        ["ORIG_HEAD", "reset -q --hard HEAD"],
        ["objects/info/commit-graph", "commit-graph write --reachable"],
        ["objects/pack/multi-pack-index", "repack -qad --write-midx"],
        ["info/exclude", "status"],
        ["worktrees", "worktree add -q ../other-worktree"],
      ],
      3,
    ),
  )(verifies("S-77", "%s is moved away, and the user's git %s does not follow it"), async (name, action) => {
    const workspace = createRepository();
    const outside = createFolder("outside", { "file.txt": "old" });
    const command = `rm -rf .git/${name}; mkdir -p $(dirname .git/${name}); ln -s ${outside}/file.txt .git/${name}`;
    const { refusals } = await runHeld(command, workspace);
    expect(refusals.join()).toContain(`.git/${name}`);
    tryGit(workspace, ...action.split(" "));
    expect(readFileSync(join(outside, "file.txt"), "utf8")).toBe("old");
  });

  test(verifies("S-77", "that was there before stays"), async () => {
    const workspace = createRepository();
    symlinkSync("../file.txt", join(workspace, ".git/description-link"));
    const { refusals } = await runHeld("git status", workspace);
    expect(refusals).toEqual([]);
    expect(existsSync(join(workspace, ".git/description-link"))).toBe(true);
  });

  test(verifies("S-77", "leads a hook to a script of the workspace, which commands cannot change"), async () => {
    const workspace = createRepository("repository", { "scripts/check.sh": "#!/bin/sh\n" });
    chmodSync(join(workspace, "scripts/check.sh"), 0o755);
    symlinkSync("../../scripts/check.sh", join(workspace, ".git/hooks/pre-commit"));
    const command =
      "echo 'touch evil' >> scripts/check.sh; mv scripts s2; mkdir scripts; cp s2/check.sh scripts; cat s2/check.sh";
    expect((await runHeld(command, workspace)).stdout).toBe("#!/bin/sh\n");
  });
});

describeWithSandbox("a place that git's configuration names", () => {
  test.each(
    chooseRows(
      [
        ["core.hooksPath", "tools/hooks", "tools/hooks/pre-commit"],
        ["core.hooksPath", ".husky/_", ".husky/pre-commit"],
        ["include.path", "../team.gitconfig", "team.gitconfig"],
        ["diff.x.textconv", "./scripts/conv.sh", "scripts/conv.sh"],
      ],
      2,
    ),
  )(
    verifies(["S-80", "S-77"], "by %s = %s cannot be changed by commands, and not be made by them"),
    async (key, value, file) => {
      const workspace = createRepository("repository", { [file]: "#!/bin/sh\n", "other.txt": "" });
      git(workspace, "config", key, value);
      const top = file.split("/")[0]!;
      const attack = `echo evil >> ${file}; mv ${top} t2; mkdir -p $(dirname ${file}); echo evil > ${file}; true`;
      await runHeld(attack, workspace);
      const left = readSmallFile(join(workspace, file), 8192);
      expect(["#!/bin/sh\n", undefined]).toContain(left);
      for (const make of [
        "mkdir -p $(dirname $F); echo evil > $F",
        "mkdir -p e/$F; rmdir e/$F; echo evil > e/$F; ln -s e/* e/.h* .",
      ]) {
        const empty = createRepository();
        git(empty, "config", key, value);
        const { refusals } = await runHeld(`F=${file}; ${make}; true`, empty);
        expect(refusals.join("\n")).toContain("git's setting");
        expect(existsSync(join(empty, file))).toBe(false);
      }
    },
  );
});

describeWithSandbox("the configuration of a repository that a command made", () => {
  test(verifies(["S-78", "S-80"], "gets none of the user's files moved away"), async () => {
    const workspace = createRepository("repository", { "src/main.ts": "own" });
    const { refusals } = await runHeld(
      "git init -q n; git -C n config core.fsmonitor $PWD/src/main.ts; git -C n config core.hooksPath $PWD/src",
      workspace,
    );
    expect(refusals).toEqual([expect.stringContaining('"n/.git" is protected')]);
    expect(readFileSync(join(workspace, "src/main.ts"), "utf8")).toBe("own");
  });

  test(verifies(["S-77", "S-80"], "does not reach a new worktree through the folder of its hooks"), async () => {
    const workspace = createRepository("repository", { ".husky/pre-commit": "#!/bin/sh\n" });
    git(workspace, "config", "core.hooksPath", ".husky");
    const command = "git worktree add -q trees/one; echo evil > trees/one/.husky/pre-commit";
    const { refusals } = await runHeld(`${gitVariables} ${command}`, workspace);
    expect(refusals).toEqual([
      expect.stringContaining('"trees/one/.husky" is protected (git\'s setting core.hookspath'),
    ]);
    expect(existsSync(join(workspace, "trees/one/.git"))).toBe(true);
  });
});

/** A repository with a submodule that is checked out, one commit behind. */
function createWithSubmodule(): string {
  const library = createRepository("library");
  const workspace = createRepository("repository");
  git(workspace, "submodule", "--quiet", "add", library, "libs/sub");
  git(workspace, "commit", "-qm", "submodule");
  git(join(workspace, "libs/sub"), "checkout", "-q", "HEAD~1");
  return workspace;
}

describeWithSandbox("the folder of a submodule", () => {
  test.each(
    chooseRows(
      [
        "mv .git/modules/libs/sub .git/old; mkdir -p .git/modules/libs/sub/hooks; cp .git/old/config .git/modules/libs/sub/config",
        "mv .git/modules .git/old; mkdir -p .git/modules/libs; cp -r .git/old/libs/sub .git/modules/libs/sub",
        "mv .git/modules/libs .git/old; mkdir $PWD/evil; cp -r .git/old/sub evil/sub; ln -s ../../evil .git/modules/libs",
        "echo '[core] fsmonitor = x' >> .git/modules/libs/sub/config; echo x > .git/modules/libs/sub/hooks/post-checkout",
      ],
      1,
    ),
  )(verifies("S-77", "is not replaced by another one that runs programs: %s"), async (attack) => {
    const workspace = createWithSubmodule();
    const config = readFileSync(join(workspace, ".git/modules/libs/sub/config"), "utf8");
    const spoil = 'for f in $(find . -name config); do echo "[core] fsmonitor = $PWD/evil.sh" >> $f; done 2>&1';
    expect((await runHostile(workspace, `${attack}; ${spoil}`)).isStarted).toBe(false);
    const left = readSmallFile(join(workspace, ".git/modules/libs/sub/config"), 8192);
    expect([config, undefined]).toContain(left);
  });
});

describeWithSandbox("ordinary git", () => {
  test.each(
    chooseRows(
      [
        ["commit", "echo x > a.txt && git add a.txt && git commit -qm x"],
        ["commit --amend", "git commit -q --amend -m y"],
        [
          "branch and checkout",
          "git checkout -qb feature/a && git branch -D side && git checkout -q --detach && git switch -q main",
        ],
        [
          "merge",
          "git checkout -qb other && git commit -q --allow-empty -m o && git checkout -q main && git merge -q --no-ff other",
        ],
        [
          "merge with a conflict",
          "git merge side; git checkout --ours file.txt && git add file.txt && git commit -qm merged",
        ],
        ["stash", "echo x > file.txt && git stash -q && git stash pop -q && git checkout -q ."],
        ["rebase with a conflict", "git checkout -q side; git rebase main; git rebase --abort"],
        ["rebase that stays interrupted", "git checkout -q side; git rebase main; test -d .git/rebase-merge"],
        [
          "rebase that goes on",
          "git checkout -q side; git rebase main; for i in 1 2; do git checkout --theirs file.txt; git add file.txt; git rebase --continue; done; test ! -d .git/rebase-merge",
        ],
        ["rebase with its own strategy", "git checkout -q side; git rebase -s ort -X theirs main"],
        ["cherry-pick of several", "git cherry-pick side~1 side; git cherry-pick --abort"],
        ["tag", "git tag v1 && git tag -a v2 -m two && git tag -d v1"],
        [
          "reflog, gc and repack",
          "git gc -q --prune=now && git reflog expire --expire=now --all && git repack -qad && git pack-refs --all",
        ],
        ["notes and bisect", "git notes add -m n && git bisect start main main~1 && git bisect reset"],
        ["sparse and archive", "git archive HEAD | tar t && git fsck"],
      ],
      5,
    ),
  )(verifies("S-77", "%s works in the sandbox"), async (_, command) => {
    const workspace = createRepository();
    const { exitCode, output, refusals } = await runHeld(`${gitVariables} ${command}`, workspace);
    expect([exitCode, refusals], output).toEqual([0, []]);
    git(workspace, "status");
  });

  test(verifies("S-77", "an update of a submodule to another commit works in the sandbox"), async () => {
    const workspace = createWithSubmodule();
    const command =
      "git submodule update && git -C libs/sub commit -q --allow-empty -m in && git add libs/sub && git commit -qm out";
    const { exitCode, output, refusals } = await runHeld(`${gitVariables} ${command}`, workspace);
    expect([exitCode, refusals], output).toEqual([0, []]);
    expect(git(workspace, "submodule", "status")).toMatch(/^ /);
  });

  test(verifies("S-77", "a new worktree in the workspace works, and its settings are then protected"), async () => {
    const workspace = createRepository();
    const add = await runHeld(
      `${gitVariables} git worktree add -q trees/one -b one && cd trees/one && git commit -q --allow-empty -m in`,
      workspace,
    );
    expect([add.exitCode, add.refusals], add.output).toEqual([0, []]);
    expect(git(join(workspace, "trees/one"), "log", "-1", "--format=%s")).toBe("in\n");
    const attack = `cd trees/one; rm -f .git; echo "gitdir: $PWD/evil" > .git; echo ../../../evil > ../../.git/worktrees/one/commondir`;
    await runHeld(attack, workspace);
    expect(git(join(workspace, "trees/one"), "log", "-1", "--format=%s")).toBe("in\n");
  });

  test.each(
    chooseRows(
      [
        [
          "with settings of its own",
          "echo '[core] fsmonitor = x' > .git/worktrees/one/config.worktree",
          "config.worktree",
        ],
        ["that names another common folder", "mkdir evil; echo $PWD/evil > .git/worktrees/one/commondir", "one/.git"],
        ["that is linked", "mv trees/one/.git g; ln -s ../../g trees/one/.git", "one/.git"],
        ["whose folder does not name it back", "echo /nowhere > .git/worktrees/one/gitdir", "one/.git"],
        [
          "of a repository that is new too",
          "git init -q r2; rm -rf .git/worktrees/one; git -C r2 commit -q --allow-empty -m x; git -C r2 worktree add -q ../w",
          "w/.git",
        ],
      ],
      2,
    ),
  )(verifies(["S-77", "S-76"], "a new worktree %s is not left"), async (_, attack, name) => {
    const workspace = createRepository();
    const { refusals } = await runHeld(`${gitVariables} git worktree add -q trees/one; ${attack}`, workspace);
    expect(refusals.join("\n")).toContain(name);
  });
});
