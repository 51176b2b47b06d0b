/** Commands change and make nothing that git's configuration names (S-80). */
import { chmodSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { chooseRows } from "../../../test/support/depth.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createRepository, git } from "./git-user.ts";
import { describeWithSandbox, runHeld } from "./sandbox-run.ts";

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
  )(verifies("S-80", "by %s = %s cannot be changed by commands, and not be made by them"), async (key, value, file) => {
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
  });
});

describeWithSandbox("the configuration of a repository that a command made", () => {
  test(verifies(["S-78", "S-80"], "gets none of the user's files moved away"), async () => {
    const workspace = createRepository("repository", { "src/main.ts": "own" });
    const { refusals } = await runHeld(
      "git init -q n; git -C n config core.fsmonitor $PWD/src/main.ts; git -C n config core.hooksPath $PWD/src",
      workspace,
    );
    expect(refusals).toEqual([
      expect.stringContaining('"n/.git" is protected'),
      expect.stringContaining('made "n/.git" again'),
    ]);
    expect(readFileSync(join(workspace, "src/main.ts"), "utf8")).toBe("own");
  });
});

describeWithSandbox("a link in the folder of hooks", () => {
  test(verifies("S-80", "leads a hook to a script of the workspace, which commands cannot change"), async () => {
    const workspace = createRepository("repository", { "scripts/check.sh": "#!/bin/sh\n" });
    chmodSync(join(workspace, "scripts/check.sh"), 0o755);
    symlinkSync("../../scripts/check.sh", join(workspace, ".git/hooks/pre-commit"));
    const command =
      "echo 'touch evil' >> scripts/check.sh; mv scripts s2; mkdir scripts; cp s2/check.sh scripts; cat s2/check.sh";
    expect((await runHeld(command, workspace)).stdout).toBe("#!/bin/sh\n");
  });
});
