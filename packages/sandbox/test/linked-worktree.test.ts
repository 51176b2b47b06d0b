/** A workspace that is a linked worktree: commits work, and hooks, configuration and the other worktrees are out of reach. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findOwnRepository } from "../src/git/own-repository.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { git, gitVariables } from "./git-user.ts";
import { createFolder, describeWithSandbox, runHeld } from "./sandbox-run.ts";

/** A repository with one commit, and a worktree of it in another folder. */
function createWorktree(): { readonly main: string; readonly linked: string } {
  const top = createFolder("repositories", { "main/file.txt": "one\n" });
  const main = join(top, "main");
  git(main, "init", "-q", "-b", "main");
  git(main, "add", ".");
  git(main, "commit", "-qm", "first");
  git(main, "worktree", "add", "-q", "../linked", "-b", "side");
  return { main, linked: join(top, "linked") };
}

describeWithSandbox("a linked worktree", () => {
  test(verifies(["S-30", "S-33", "N38"], "commits, and writes nothing outside itself"), async () => {
    const { main, linked } = createWorktree();
    const commit = `${gitVariables} echo two >> file.txt; git commit -qam second && git log --oneline | wc -l`;
    const outcome = await runHeld(commit, linked);
    expect(outcome).toMatchObject({
      exitCode: 0,
      stdout: "2\n",
      refusals: [],
      permissions: [],
    });
    expect(git(main, "log", "--format=%s", "side")).toBe("second\nfirst\n");
  });

  test(verifies(["S-30", "S-22"], "changes nothing that runs, and not the main worktree"), async () => {
    const { main, linked } = createWorktree();
    const own = join(main, ".git/worktrees/linked");
    const attack = `G=${main}/.git; W=${own}; cd "$G"
      echo evil > hooks/pre-commit; echo evil >> config; echo evil > HEAD; echo evil > index; rm -rf hooks
      echo evil > $W/commondir; echo evil > $W/config.worktree; mv $W $W-other; echo evil > ../file.txt`;
    const { refusals } = await runHeld(attack, linked);
    expect(existsSync(join(main, ".git/hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(main, ".git/hooks"))).toBe(true);
    expect(readFileSync(join(main, ".git/config"), "utf8")).not.toContain("evil");
    expect(readFileSync(join(own, "commondir"), "utf8")).toBe("../..\n");
    expect(existsSync(join(own, "config.worktree"))).toBe(false);
    expect(refusals.join("\n")).toContain("The repository stays as it was");
    expect(git(main, "status", "--short")).toBe("");
  });
});

describe("a .git file", () => {
  test("of a linked worktree is one that its repository knows", () => {
    const { main, linked } = createWorktree();
    expect(findOwnRepository(linked)).toMatchObject({ gitFolder: join(main, ".git/worktrees/linked") });
  });

  test(verifies(["S-02", "S-30"], "that names a folder which does not name it back opens nothing"), () => {
    const { main, linked } = createWorktree();
    const thief = createFolder("thief");
    for (const text of [
      `gitdir: ${main}/.git/worktrees/linked`,
      `gitdir: ${main}/.git`,
      "gitdir: /etc",
      "gitdir:",
      "x",
    ]) {
      writeFileSync(join(thief, ".git"), text);
      expect(findOwnRepository(thief)).toBeUndefined();
    }
    writeFileSync(join(main, ".git/worktrees/linked/commondir"), "/etc");
    expect(findOwnRepository(linked)).toBeUndefined();
  });
});
