import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { IgnoreRules } from "../../src/files/ignore-rules.ts";
import { createTemporaryWorkspace } from "./temporary-workspace.ts";

describe("rules", () => {
  test("of deeper files win, and what lies in an ignored folder is ignored", async () => {
    const { workspace, root, write } = createTemporaryWorkspace();
    write(".gitignore", "*.log\nbuild/\n/only-here\n");
    write("sub/.gitignore", "!keep.log\n");
    const rules = new IgnoreRules(workspace);
    const table: readonly (readonly [string, boolean])[] = [
      ["a.txt", false],
      ["a.log", true],
      ["sub/a.log", true],
      ["sub/keep.log", false],
      ["keep.log", true],
      ["build/x", true],
      ["sub/build/x/y", true],
      ["build", false],
      ["only-here", true],
      ["sub/only-here", false],
      [".git/config", true],
      ["sub/.git", true],
      [".github/x", false],
    ];
    for (const [path, expected] of table) {
      expect(await rules.isIgnored(path, false), path).toBe(expected);
    }
    expect(await rules.isIgnored("build", true)).toBe(true);
    // Git itself says the same.
    execFileSync("git", ["init", "-q"], { cwd: root });
    const ignored = execFileSync(
      "git",
      ["check-ignore", "--no-index", ...table.map(([path]) => path).filter((path) => !path.includes(".git/"))],
      { cwd: root },
    );
    const expected = table.filter(([path, is]) => is && !path.includes(".git")).map(([path]) => path);
    expect(ignored.toString().trim().split("\n")).toEqual(expected);
  });

  test("of .sheafignore leave out more than git does, and never bring anything back", async () => {
    const { workspace, write } = createTemporaryWorkspace();
    write(".gitignore", "*.log\n");
    write(".sheafignore", "fixtures/\n*.snap\n!keep.snap\n!a.log\n");
    write("sub/.gitignore", "!b.snap\n");
    const rules = new IgnoreRules(workspace);
    const ignored = ["a.log", "b.snap", "sub/b.snap", "fixtures/x", "sub/fixtures/x"];
    const kept = ["keep.snap", "a.txt", "fixtures.txt"];
    for (const path of ignored) expect(await rules.isIgnored(path, false), path).toBe(true);
    for (const path of kept) expect(await rules.isIgnored(path, false), path).toBe(false);
  });

  test(verifies("S-20", "of a file that a link leads out to are not read"), async () => {
    const { workspace, root, outside } = createTemporaryWorkspace();
    writeFileSync(join(outside, "rules"), "*.txt\n");
    symlinkSync(join(outside, "rules"), join(root, ".gitignore"));
    expect(await new IgnoreRules(workspace).isIgnored("a.txt", false)).toBe(false);
  });

  test(verifies("S-72", "that are made to be slow are not"), async () => {
    const { workspace, write } = createTemporaryWorkspace();
    write(".gitignore", [`${"*a".repeat(30)}b`, `${"**/a".repeat(30)}/b`, `${"[a-z]*".repeat(20)}1`].join("\n"));
    const start = performance.now();
    expect(await new IgnoreRules(workspace).isIgnored("a".repeat(250), false)).toBe(false);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
