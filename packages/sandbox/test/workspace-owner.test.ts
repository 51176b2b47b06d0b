/** Root in a workspace of another user (S-30, S-34). */
import { chmodSync, chownSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { notRoot, skipIfMissing } from "../../../test/support/describe-where.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import { createFolder, describeWithSandbox, runHeld } from "./sandbox-run.ts";

const owner = 4711;
const other = 4712;

/** A checkout from outside: root may write it only by its rights. */
function createForeignWorkspace(): string {
  const workspace = createFolder("foreign", { "file.txt": "old\n", "sub/file.txt": "old\n" });
  for (const name of ["", "file.txt", "sub", "sub/file.txt"]) chownSync(join(workspace, name), owner, owner);
  return workspace;
}

describeWithSandbox("a workspace of another user", () => {
  test.each([
    { title: "alone", request: {}, allow: [] },
    { title: "in the background", request: { isBackground: true }, allow: [] },
    { title: "with a network", request: {}, allow: ["Network(example.org)"] },
  ])(verifies("S-30", "root's commands write it, $title"), async ({ request, allow }) => {
    skipIfMissing(notRoot);
    const workspace = createForeignWorkspace();
    const network = createCommandNetwork({ allow, deny: [] });
    const command = "echo new > file.txt && rm sub/file.txt && mkdir sub/more && echo x > new.txt && echo done";
    const outcome = await runHeld(command, workspace, request, undefined, { network });
    expect(outcome).toMatchObject({ exitCode: 0, output: "done\n" });
    expect(readFileSync(join(workspace, "file.txt"), "utf8")).toBe("new\n");
    expect(readdirSync(join(workspace, "sub"))).toEqual(["more"]);
  });

  test(
    verifies(["S-30", "S-34"], "and they have no right over files of anybody else, and none more over the system"),
    async () => {
      skipIfMissing(notRoot);
      const workspace = createForeignWorkspace();
      const stranger = createFolder("stranger", { "secret.txt": "CANARY-OTHER" });
      chownSync(join(stranger, "secret.txt"), other, other);
      chmodSync(join(stranger, "secret.txt"), 0o600);
      const home = createFolder("home", { ".ssh/key": "CANARY-KEY", "outside.txt": "old" });
      mkdirSync(join(workspace, "inner"));
      writeFileSync(join(workspace, "inner/locked.txt"), "CANARY-LOCKED");
      chownSync(join(workspace, "inner/locked.txt"), other, other);
      chmodSync(join(workspace, "inner/locked.txt"), 0o600);
      const command = [
        `cat ${stranger}/secret.txt ${home}/.ssh/key inner/locked.txt /etc/shadow`,
        `echo new > ${home}/outside.txt`,
        "chown 0:0 file.txt; mount -t tmpfs none sub; unshare -U true; mknod disk b 254 0",
        "ls -l /proc/self/fd | grep -e '->' | grep -vc /dev/null",
        "grep CapBnd /proc/self/status",
      ].join("\n");
      const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home };
      const { stdout, stderr } = await runHeld(command, workspace, {}, environment);
      // Its output, its errors, and the folder that is listed; CAP_DAC_OVERRIDE alone.
      expect(stdout).toBe("3\nCapBnd:\t0000000000000002\n");
      expect(stderr).not.toContain("CANARY");
      expect(stderr).toMatch(/chown: .*not permitted/);
      expect(stderr).toMatch(/Read-only file system/);
      expect(readFileSync(join(home, "outside.txt"), "utf8")).toBe("old");
      expect(readdirSync(workspace).toSorted()).toEqual(["file.txt", "inner", "sub"]);
    },
  );
});
