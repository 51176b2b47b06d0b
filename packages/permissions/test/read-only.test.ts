/** The closed list of commands that only read: what of it holds where, on real files and links. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { PermissionOptions } from "../src/permissions.ts";
import { createPlaceFinder } from "../src/reading-place.ts";
import { createPolicy, toRequest } from "./policy.ts";
import { createTemporaryWorkspace } from "../../base/test/files/temporary-workspace.ts";
import { verifies } from "../../../test/support/verifies.ts";

function createSetting() {
  const { workspace, root, outside, write } = createTemporaryWorkspace();
  write("a.txt", "a");
  write("src/b.txt", "b");
  write(".env", "KEY=1");
  write("secret/key.txt", "k");
  writeFileSync(join(outside, "key.txt"), "outside");
  symlinkSync(join(outside, "key.txt"), join(root, "link.txt"));
  symlinkSync(outside, join(root, "out"));
  symlinkSync("src", join(root, "in"));
  symlinkSync(".env", join(root, "harmless.txt"));
  execFileSync("mkfifo", [join(root, "pipe")]);
  mkdirSync(join(root, "dir with blank"));
  const decide = async (
    command: string,
    options: Partial<PermissionOptions> = {},
    folder?: string,
  ): Promise<string> => {
    const policy = createPolicy({ findPlace: createPlaceFinder(workspace), ...options });
    const args = { command, ...(folder !== undefined && { working_directory: folder }) };
    return (await policy.decide(toRequest({ toolName: "run_terminal_cmd", access: "command", arguments: args })))
      .decision;
  };
  return { decide, root, outside };
}

describe("a command that only reads", () => {
  test(verifies(["S-10", "S-20"], "may read what lies in the workspace, and nothing else"), async () => {
    const { decide, root, outside } = createSetting();
    const allowed = [
      "cat a.txt", "cat ./a.txt src/b.txt", `cat ${root}/a.txt`, "cat in/b.txt", "cat missing.txt", "ls", "ls in", "ls 'dir with blank'", "grep -r x .", "find . -name a",
      "head -5 < /dev/null", "cd src && cat b.txt", "cd in && cat b.txt", "cd src && ls . && cat b.txt | wc -l", "stat src", "du -sh src", "diff a.txt src/b.txt", "cd src",
    ]; // prettier-ignore
    for (const command of allowed) expect(await decide(command), command).toBe("allow");
    const asking = [
      "cat /etc/passwd", "cat ../w-evil/key.txt", `cat ${outside}/key.txt`, "cat link.txt", "cat out/key.txt", "ls out", "ls /", "ls ..", "ls ~", "cat src/../a.txt", "grep -r x out",
      "grep x link.txt", "grep -e x link.txt", "grep -rf link.txt .", "find out", "find / -name x", "find . -newer link.txt", "head -c 5 link.txt", "wc -l /etc/passwd", "sort /etc/passwd",
      "cat pipe", "cat src", "diff src in", "cd out && cat key.txt", "cd /etc && cat passwd", "cd .. && ls", "cd src; cat b.txt", "cd src || cat b.txt", "cd missing && cat a.txt", "cd src && cd .. && ls",
      "cat -- /etc/passwd", "cat a.txt /etc/passwd", "cat /proc/self/environ", "cat /dev/tty", "cat src/*", "cat ./*", "grep x ./*", "sed -n 1p /etc/passwd", "sed -n 1p -i a.txt", "stat /etc", "file link.txt",
      "diff --color /etc/passwd a.txt", "tree -L 2 /", "ls --color /etc", "uniq a.txt out.txt", "sort -o x a.txt", "date -s now", "date 01010000", "date -f /etc/passwd", "hostname x", "tee x", "rg -f link.txt x",
      "rg x /etc", "rg --pre cat x", "rg -z x", "find . -delete", "find . -exec cat {} +", "find -L . -name x", "grep -R x .", "ls -L link.txt", "tail -f a.txt", "tail --pid 1 a.txt", "tree -o x", "cat a.txt > b",
      "sed 1p a.txt", "sed -n 'w x' a.txt", "sed -n '1e ls' a.txt", "sed -n -e p a.txt", "awk 1 a.txt", "xargs cat", "env", "printf -v x y", "test -f a.txt", "od -w /etc/passwd", "./ls", "/bin/ls",
    ]; // prettier-ignore
    for (const command of asking) expect(await decide(command), command).toBe("ask");
  });

  test(verifies("S-10", "is looked at in the folder in which it runs"), async () => {
    const { decide } = createSetting();
    expect(await decide("cat b.txt", {}, "src")).toBe("allow");
    expect(await decide("cat b.txt", {}, "in")).toBe("allow");
    for (const folder of ["out", "/", "..", "missing", "a.txt", ""])
      expect(await decide("cat key.txt", {}, folder), folder).toBe("ask");
  });

  test(verifies("S-06", "keeps to Read rules, whatever name the file has"), async () => {
    const { decide, root } = createSetting();
    const denials = [
      ["Read(.env)", "Read(secret/**)"],
      [`Read(${root}/.env)`, `Read(${root}/secret)`],
    ];
    for (const command of ["cat a.txt", "ls src", "grep -r x src", "cd src && cat b.txt", "pwd"]) {
      for (const [, secret = ""] of denials) {
        expect(await decide(command, { deny: [secret], root }), command).toBe("allow");
      }
    }
    for (const command of [
      "cat .env",
      "cat harmless.txt",
      "cat ./.ENV",
      "cat secret/key.txt",
      "cd secret && cat key.txt",
      "grep -r x .",
      "grep -r x",
      "rg x",
      "find .",
      "ls secret",
      "ls -R",
    ]) {
      for (const deny of denials) expect(await decide(command, { deny, root }), command).toBe("ask");
    }
  });

  test(verifies(["S-01", "S-02"], "git counts only at the root of a trusted workspace"), async () => {
    const { decide } = createSetting();
    const commands = [
      "git status", "git status -s --branch", "git log --oneline -5", "git log -n 5 -- a.txt", "git diff", "git diff --stat HEAD~1 -- src", "git show HEAD:a.txt", "git branch -a",
      "git blame -L1,5 a.txt", "git rev-parse --show-toplevel", "git remote -v", "git ls-files", "git tag -l", "git status | head -5",
    ]; // prettier-ignore
    for (const command of commands) {
      expect(await decide(command, { trusted: true }), command).toBe("allow");
      expect(await decide(command), command).toBe("ask");
      expect(await decide(command, { trusted: true }, "src"), command).toBe("ask");
      expect(await decide(`cd src && ${command}`, { trusted: true }), command).toBe("ask");
    }
    const asking = [
      "git -c core.pager=x status", "git -C . status", "git --git-dir=x status", "git diff --output=x", "git diff --ext-diff", "git diff /etc/passwd a.txt", "git diff --no-index a.txt /etc/passwd",
      "git diff --color /etc/passwd a.txt", "git diff --stat /etc/passwd", "git log --output x", "git branch new", "git branch -d x", "git tag v1", "git remote add x y", "git remote update", "git config -l",
      "git stash", "git fetch", "git status --unknown", "git show --textconv x", "git grep x", "git reflog expire", "git blame /etc/passwd", "git blame --contents /etc/passwd a.txt", "git help x",
    ]; // prettier-ignore
    for (const command of asking) expect(await decide(command, { trusted: true }), command).toBe("ask");
  });
});
