/** What decides later what runs stays as it is, also where nothing is yet, also deep in the workspace (S-22, S-30). */
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProtectedIndex } from "../src/hold/protected-places.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createFolder, describeWithSandbox, runHeld, stateFolder, takeRefused } from "./sandbox-run.ts";

describeWithSandbox("places that are not there yet", () => {
  test.each([
    [".mcp.json", "echo evil > .mcp.json"],
    [".vscode", "mkdir .vscode; echo evil > .vscode/tasks.json"],
    [".VSCode", "mkdir .VSCode; echo evil > .VSCode/tasks.json"],
    ["packages/a/.envrc", "mkdir -p packages/a; echo evil > packages/a/.envrc"],
    [".bashrc", "echo evil > x; mv x .bashrc"],
    [".profile", "echo evil > x; ln x .profile"],
    [".zshrc", "ln -s /etc/passwd .zshrc"],
    [".git", "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit"],
    ["sub/.git", "mkdir sub; echo 'gitdir: /tmp/x' > sub/.git"],
    ["HEAD", "mkdir objects refs; echo 'ref: refs/heads/main' > HEAD; echo evil > config"],
    ["d/.claude/settings.json", "mkdir -p d/.claude; echo evil > d/.claude/settings.json"],
    [".idea", "(setsid sh -c 'sleep 0.05; mkdir .idea' &) ; sleep 0.02"],
  ])(verifies(["S-22", "S-30", "S-251"], "%s is moved away after the command: %s"), async (name, command) => {
    const workspace = createFolder("workspace", { "file.txt": "x", "packages/b/file.txt": "x" });
    const { refusals, exitCode } = await runHeld(command, workspace);
    const taken = takeRefused();
    expect(exitCode).toBe(0);
    expect(lstatSync(join(workspace, name), { throwIfNoEntry: false })).toBeUndefined();
    expect(refusals.join("\n")).toContain(`"${name}" is protected`);
    expect(taken).not.toEqual([]);
    expect(refusals.join("\n")).not.toContain(stateFolder);
    expect((await runHeld(`ls -A ${stateFolder}`, workspace)).stdout).toBe("");
    expect(readFileSync(join(workspace, "file.txt"), "utf8")).toBe("x");
  });

  test.each(["config.worktree", "commondir", "hooks"])(
    verifies(["S-22", "S-02"], "%s of a repository that is there"),
    async (name) => {
      const workspace = createFolder("workspace", { ".git/HEAD": "ref: refs/heads/main", ".git/config": "" });
      await runHeld(`mkdir .git/hooks || true; echo evil > .git/${name}; echo evil > .git/hooks/x`, workspace);
      expect(existsSync(join(workspace, ".git", name))).toBe(false);
      expect(existsSync(join(workspace, ".git/HEAD"))).toBe(true);
    },
  );

  test(verifies("S-22", "of a submodule and of another worktree too"), async () => {
    const files = {
      ".git/HEAD": "x", ".git/config": "", ".git/modules/sub/HEAD": "x", ".git/modules/sub/config": "old", ".git/modules/sub/refs/x": "",
      ".git/modules/sub/objects/x": "", ".git/worktrees/other/commondir": "old", ".git/worktrees/other/gitdir": "old",
    }; // prettier-ignore
    const workspace = createFolder("workspace", files);
    await runHeld(
      "cd .git; echo evil > modules/sub/config; mkdir modules/sub/hooks; echo evil > worktrees/other/commondir; echo evil > worktrees/other/config.worktree; echo new > modules/sub/HEAD",
      workspace,
    );
    const read = (name: string): string => readFileSync(join(workspace, ".git", name), "utf8");
    expect([read("modules/sub/config"), read("worktrees/other/commondir")]).toEqual(["old", "old"]);
    expect(existsSync(join(workspace, ".git/modules/sub/hooks"))).toBe(false);
    expect(existsSync(join(workspace, ".git/worktrees/other/config.worktree"))).toBe(false);
    expect(read("modules/sub/HEAD")).toBe("x");
  });

  test("nothing is left in the workspace that the command did not make", async () => {
    const workspace = createFolder("workspace", { ".git/HEAD": "x", "a/b/c.txt": "x" });
    expect((await runHeld("find . | sort", workspace)).stdout).toBe(
      "./.git\n./.git/HEAD\n./a\n./a/b\n./a/b/c.txt\n".replace(/^/, ".\n"),
    );
    const { refusals } = await runHeld("true", workspace);
    expect(refusals).toEqual([]);
  });

  test("what the user makes while no command runs is the user's own", async () => {
    const workspace = createFolder("workspace");
    await runHeld("true", workspace);
    writeFileSync(join(workspace, ".envrc"), "own");
    expect((await runHeld("cat .envrc; echo evil > .envrc", workspace)).stdout).toBe("own");
    expect(readFileSync(join(workspace, ".envrc"), "utf8")).toBe("own");
  });
});

describeWithSandbox("places that are there, deep in the workspace", () => {
  const files = {
    "a/.vscode/tasks.json": "old",
    "a/b/.git/config": "old",
    "a/b/.git/HEAD": "x",
    "a/b/.git/hooks/x": "old",
    "c/.git": "gitdir: x",
  };
  test.each([
    "echo evil > a/.vscode/tasks.json",
    "echo evil > a/b/.git/config; echo evil > a/b/.git/hooks/x; mv a/b/.git a/b/other",
    "rm -rf a; mkdir -p a/.vscode; echo evil > a/.vscode/tasks.json",
    "mv a old; mkdir -p a/.vscode a/b/.git/hooks; echo evil > a/.vscode/tasks.json; echo evil > a/b/.git/hooks/x",
    "ln -f /etc/hostname c/.git; mv a/.vscode a/other; echo evil > c/.git",
  ])(verifies("S-22", "nothing evil is there behind %s"), async (command) => {
    const workspace = createFolder("workspace", files);
    await runHeld(command, workspace);
    const changed = Object.entries(files).filter(([name, content]) => {
      const path = join(workspace, name);
      return existsSync(path) && readFileSync(path, "utf8") !== content;
    });
    expect(changed).toEqual([]);
  });

  test("a folder with a protected place can be moved as a whole", async () => {
    const workspace = createFolder("workspace", files);
    expect(await runHeld("mv a moved", workspace)).toMatchObject({ exitCode: 0, refusals: [] });
    expect(readFileSync(join(workspace, "moved/.vscode/tasks.json"), "utf8")).toBe("old");
  });
});

describe("the index", () => {
  test("sees each change of a folder, and reads no folder that did not change", () => {
    const workspace = createFolder("workspace", { "a/b/file": "", "node_modules/x/.vscode/file": "" });
    const index = createProtectedIndex(workspace);
    const find = (): string[] => index().places.map(({ path }) => path.slice(workspace.length + 1));
    expect(find()).toEqual([]);
    for (const name of ["a/b/.envrc", ".idea", "c/d/.hg"]) mkdirSync(join(workspace, name), { recursive: true });
    expect(find()).toEqual([".idea", "a/b/.envrc", "c/d/.hg"]);
    rmSync(join(workspace, "a"), { recursive: true });
    expect(find()).toEqual([".idea", "c/d/.hg"]);
  });

  test("a link is no folder, and its target is part of what it is", () => {
    const workspace = createFolder("workspace", { "a/.vscode/file": "" });
    symlinkSync("a", join(workspace, "link"));
    symlinkSync("a", join(workspace, ".idea"));
    const { places } = createProtectedIndex(workspace)();
    expect(places.map(({ path, isLink }) => [path.slice(workspace.length + 1), isLink])).toEqual([
      [".idea", true],
      ["a/.vscode", false],
    ]);
    expect(places[0]!.keys[0]).toMatch(/ a$/);
  });
});
