import { describe, expect, test } from "vitest";
import { readGitState } from "../../src/git/git-state.ts";
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
