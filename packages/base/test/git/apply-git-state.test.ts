import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { applyIndex, planIndex } from "../../src/git/apply-index.ts";
import { readGitState } from "../../src/git/git-state.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createBorder } from "./border.ts";

/** What a command does with git, from the second commit on. */
const work: readonly (readonly [what: string, script: string, prepare?: string])[] = [
  ["a commit", "echo x >>a; git commit -qam two"],
  ["an amended commit", "echo x >>a; git commit -q --amend -am two"],
  ["a staged file", "echo x >new; git add new"],
  ["a removed file", "git rm -q a"],
  ["a moved file", "git mv a b"],
  ["a file in the place of a folder", "git rm -rq dir; echo x >dir; git add dir"],
  ["a folder in the place of a file", "git rm -q a; mkdir a; echo x >a/c; git add a"],
  ["a renamed branch", "git branch -m trunk"],
  ["a branch renamed below itself", "git branch -m main/one"],
  ["a new branch, checked out", "git switch -qc topic; echo x >>a; git commit -qam two"],
  ["a deleted branch", "git branch -qD topic", "git branch topic"],
  ["branches in the place of one", "git branch -qD topic; git branch topic/one", "git branch topic"],
  ["a detached HEAD", "git checkout -q --detach; echo x >>a; git commit -qam two"],
  ["a branch after a detached HEAD", "git switch -q main", "git checkout -q --detach"],
  ["an orphan branch", "git switch -q --orphan empty"],
  ["tags", "git tag one; git tag -am two two"],
  ["a merge", "git merge -q --no-ff -m merge topic", "git switch -qc topic; echo x >x; git add x; git commit -qm x; git switch -q main"],
  ["a rebase", "git rebase -q main topic", "git switch -qc topic; echo x >x; git add x; git commit -qm x; git switch -q main; echo y >y; git add y; git commit -qm y"],
  ["a cherry-pick", "git cherry-pick topic", "git switch -qc topic; echo x >x; git add x; git commit -qm x; git switch -q main"],
  ["a stash", "echo x >>a; git stash -q"],
  ["two stashes", "echo x >>a; git stash push -qm one; echo y >>a; git stash push -qm 'two é'"],
  ["a popped stash", "git stash pop -q", "echo x >>a; git stash -q"],
  ["a dropped stash among others", "git stash drop -q stash@{1}", "for n in 1 2 3; do echo $n >>a; git stash push -qm $n; done"],
  ["a conflict in the index", "git stash pop -q || :", "echo x >>a; git stash -q; echo y >>a; git commit -qam y"],
  ["names beyond ASCII", "echo x >é; printf x >\"$(printf 'b\\377')\"; git add .; git commit -qm x; git branch ä"],
  ["an executable file and a link", "chmod +x a; ln -s a l; git add ."],
  ["the history cut off", "git reset -q --hard HEAD^", "echo x >>a; git commit -qam two"],
  ["an upstream", "git branch -q --set-upstream-to origin/main", "git remote add origin .; git fetch -q origin"],
  ["no upstream any more", "git branch --unset-upstream", "git remote add origin .; git fetch -q origin; git branch -q --set-upstream-to origin/main"],
  ["two hundred files", "for n in $(seq 200); do echo $n >f$n; done; git add .; git commit -qm many"],
]; // prettier-ignore

describe("applyGitState", () => {
  test.each(work.map(([what, script, prepare = ":"]) => [what, script, prepare] as const))(
    "brings back %s",
    async (_, script, prepare) => {
      const border = createBorder();
      const { setup, privateFolder, git } = border;
      border.user(prepare);
      const notes = await border.run(script);
      expect(notes).toEqual([]);
      const wanted = await readGitState({ ...setup, gitFolder: privateFolder });
      expect(await readGitState(setup)).toEqual(wanted);
      expect(git("fsck", "--strict", "--no-dangling")).toBe("");
    },
  );
});

test(verifies("S-77", "a command in a sparse checkout leaves it sparse"), async () => {
  const border = createBorder();
  border.user("git branch other; echo y >>dir/b; mkdir far; echo x >far/x; git add far; git commit -qam two");
  border.user("git sparse-checkout set none");
  for (const command of [
    "git switch -q other",
    "git switch -q main",
    "git rm -rq --sparse --cached far",
    "git reset -q",
  ]) {
    expect(await border.run(command)).toEqual([]);
    expect([command, border.git("status", "-s")]).toEqual([command, command.includes("rm") ? "D  far/x" : ""]);
  }
  await border.run("echo x >new; git add new");
  expect(border.git("ls-files", "-t", "new", "dir")).toBe("S dir/b\nH new");
});

test(verifies("S-77", "a sparse linked working tree stays sparse too"), async () => {
  const border = createBorder();
  border.user("git worktree add -q ../linked; cd ../linked; git sparse-checkout set none");
  const repository = { ...border.setup, gitFolder: border.git("-C", "../linked", "rev-parse", "--absolute-git-dir") };
  const before = (await readGitState(repository)).index;
  const after = new Map([...before, ["0 far/x", before.get("0 a")!]]);
  const plan = await planIndex(repository, { before, after, now: before }, false);
  expect(await applyIndex(repository, plan)).toEqual([]);
  expect(border.git("-C", "../linked", "ls-files", "-t")).toBe("H a\nS dir/b\nS far/x");
});

/** What the user did while the command ran; what the sentences show; what the user's git shows afterwards. */
const races: readonly (readonly [what: string, script: string, user: string, note: RegExp, check: string])[] = [
  ["a commit on the same branch", "echo x >>dir/b; git commit -qam mine", "echo y >>a; git commit -qm user a",
    /"refs\/heads\/main" has changed meanwhile, so the command's commit is at "refs\/sheaf\/t\/heads\/main"/,
    "test $(git log -1 --format=%s) = user; test $(git log -1 --format=%s refs/sheaf/t/heads/main) = mine; git commit -qm more; git merge -q refs/sheaf/t/heads/main"],
  ["a commit on a branch that the command deletes", "git branch -qD topic", "git switch -q topic; git commit -q --allow-empty -m user; git switch -q main",
    /"refs\/heads\/topic" has changed meanwhile, so it was not deleted/, "test $(git log -1 --format=%s topic) = user"],
  ["another branch in HEAD", "git switch -q other", "git switch -q topic", /HEAD stays at "refs\/heads\/topic"/, "test $(git symbolic-ref HEAD) = refs/heads/topic"],
  ["another branch in HEAD, of a detached one", "git checkout -q --detach; git commit -q --allow-empty -m mine", "git switch -q topic",
    /HEAD has changed meanwhile, so the command's commit is at "refs\/sheaf\/t\/HEAD"/, "test $(git log -1 --format=%s refs/sheaf/t/HEAD) = mine"],
  ["a branch in the way", "git branch x/y", "git branch x", /"refs\/heads\/x\/y" stays.*"refs\/sheaf\/t\/heads\/x\/y"/, "git rev-parse x"],
  ["an entry of the index", "echo mine >a; git add a; echo b >new; git add new", "echo user >a; git add a", /The index keeps "a", which you changed meanwhile/,
    "test $(git cat-file blob :a) = user; git cat-file blob :new"],
  ["the same change", "echo x >a; git add a; git branch x", "echo x >a; git add a; git branch x", /^$/, "git rev-parse x"],
  ["a stash", "echo mine >a; git stash push -qm mine", "echo user >a; git stash push -qm user", /^$/, "test \"$(git stash list --format=%gs | cut -d: -f2 | tr -d '\\n')\" = ' user mine old'"],
  ["a dropped stash", "git stash pop -q", "git stash drop -q", /^$/, "test -z \"$(git stash list)\""],
  ["a lock on the index", "echo x >a; git add a", "touch $G/index.lock", /The index stays as it was, because another program has locked it/, "rm $G/index.lock; git diff --cached --quiet"],
  ["a lock on a branch", "git branch x; git commit -q --allow-empty -m mine", "touch $G/refs/heads/main.lock", /"refs\/heads\/main" stays.*"refs\/sheaf\/t\/heads\/main"/,
    "rm $G/refs/heads/main.lock; git rev-parse x; test $(git log -1 --format=%s) = first"],
  ["a branch in another working tree", "git update-ref refs/heads/topic $(git commit-tree -p main -m x main^{tree}); git symbolic-ref HEAD refs/heads/other", "git worktree add -q ../tree topic; git worktree add -q ../other other",
    /"refs\/heads\/topic" is checked out in another working tree, so the command's commit is at.*HEAD stays|HEAD stays.*is checked out in another working tree/s, "test $(git symbolic-ref HEAD) = refs/heads/main; test -z \"$(git -C ../tree status --porcelain)\""],
]; // prettier-ignore

describe("what the user did meanwhile stays", () => {
  test.each(races)("%s", async (_, script, user, note, check) => {
    const border = createBorder();
    border.user("git branch topic; git branch other; echo z >a; git stash push -qm old; cp a old");
    const notes = await border.run(script, { meanwhile: () => border.user(user) });
    expect(notes.join("\n")).toMatch(note);
    border.user(check);
    expect(border.git("fsck", "--strict", "--no-dangling")).toBe("");
  });
});

/** A repository of an unusual kind, made of an ordinary one. */
const kinds: readonly (readonly [kind: string, prepare: string, init?: readonly string[]])[] = [
  ["with SHA-256", ":", ["--object-format=sha256"]],
  ["that is shared", ":", ["--shared=group"]],
  ["with objects of another one", "git clone -q --bare . ../other; rm -rf $G/objects/??; echo ../../../other/objects >$G/objects/info/alternates"],
  ["with objects packed", "git gc -q"],
  ["that is shallow", "git commit -q --allow-empty -m x; git rev-parse HEAD >$G/shallow"],
  ["with a split index", "git update-index --split-index"],
  ["with an index of version 4", "git update-index --index-version 4"],
  ["with a cache of untracked files", "git update-index --untracked-cache; git status"],
  ["with a sparse index", "git sparse-checkout set --sparse-index dir"],
  ["with an old replacement and a graft", "git commit -q --allow-empty -m x; git replace HEAD HEAD^"],
  ["that is partial", "git config extensions.partialClone origin; git config remote.origin.url /nonexistent; git config remote.origin.promisor true"],
  ["with settings that start programs", "git config core.fsmonitor 'touch ../started'; git config core.hooksPath ../hooks; mkdir ../hooks; printf '#!/bin/sh\\ntouch ../started\\n' >../hooks/reference-transaction; cp ../hooks/reference-transaction ../hooks/post-index-change; chmod +x ../hooks/*"],
  ["with names of bytes and colons", "cd ..; mv w 'x:y\"z'; ln -s 'x:y\"z' w"],
]; // prettier-ignore

describe("a repository", () => {
  test.each(kinds.map(([kind, prepare, init = []]) => [kind, prepare, init] as const))(
    "%s takes the changes",
    async (_, prepare, init) => {
      const border = createBorder(init);
      border.user(prepare);
      const script =
        "git commit -q --allow-empty -m mine; echo new >dir/new; git add dir/new; git rm -q --cached dir/b; git tag t";
      const started = join(border.root, "../started");
      expect(await border.run(script, { meanwhile: () => rmSync(started, { force: true }) })).toEqual([]);
      expect(existsSync(started)).toBe(false);
      expect(border.git("log", "-1", "--format=%s", "t")).toBe("mine");
      expect(border.git("ls-files", "dir")).toBe("dir/new");
    },
  );
});
