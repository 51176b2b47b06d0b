/** What commands see of a server's secrets, whatever path they try and whatever becomes of the files meanwhile. */
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { listSecretFolders, type ServerSecret } from "../src/hold/server-secrets.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox, runHeld } from "./sandbox-run.ts";

const toSecret = (path: string, kind: ServerSecret["kind"] = "file"): ServerSecret => ({
  name: "a secret",
  path,
  kind,
});

/** With commands that write the workspace alone. */
const hide = (secrets: readonly ServerSecret[], workspace: string): string[] =>
  listSecretFolders(secrets, { writable: new Map([[workspace, "the workspace"]]), environment });

describeWithSandbox("secrets of a server", () => {
  test(verifies("S-241", "are on no path of a command"), async () => {
    const folder = createFolder("server", { "keys/tokens": "CANARY-TOKEN", "trees/other/file": "CANARY-TREE" });
    const workspace = createFolder("workspace");
    symlinkSync(join(folder, "keys/tokens"), join(workspace, "link"));
    symlinkSync(folder, join(workspace, "folder"));
    const hidden = hide([toSecret(join(folder, "keys/tokens")), toSecret(join(folder, "trees"), "folder")], workspace);
    const command = `
      for path in ${folder}/keys/tokens link folder/keys/tokens ${folder}/keys/../keys/tokens; do
        for root in "" /proc/self/root /proc/1/root /proc/self/cwd/; do cat "$root$path"; cp "$root$path" copy; ln "$root$path" hard; done
      done
      ls -AR ${folder}; grep -r CANARY ${folder} folder/ .; cat copy hard
      mv ${folder}/keys ${folder}/moved; umount ${folder}/keys; mkdir -p ${folder}/keys/x; echo new > ${folder}/keys/tokens
      (cd ${folder}/trees && ls -A; cat other/file)`;
    const { output, exitCode } = await runHeld(command, workspace, {}, environment, { hidden });
    expect(output).not.toContain("CANARY");
    expect(output).toContain("No such file or directory");
    expect(exitCode).not.toBe(0);
    const open = await runHeld(command, workspace);
    expect(open.output.match(/CANARY-(TOKEN|TREE)/g)!.length).toBeGreaterThan(10);
  });

  test(verifies("S-241", "stay hidden from a command that runs while a new file takes their name"), async () => {
    const folder = createFolder("server", { tokens: "CANARY-OLD", "tokens.new": "CANARY-NEW" });
    const workspace = createFolder("workspace");
    const hidden = hide([toSecret(join(folder, "tokens"))], workspace);
    const command = `touch ready; until [ -e replaced ]; do sleep 0.02; done; cat ${folder}/tokens; ls -A ${folder}`;
    const running = runHeld(command, workspace, {}, environment, { hidden });
    await expect.poll(() => existsSync(join(workspace, "ready"))).toBe(true);
    renameSync(join(folder, "tokens.new"), join(folder, "tokens"));
    writeFileSync(join(workspace, "replaced"), "");
    expect(await running).toMatchObject({ stdout: "", exitCode: 0 });
  });

  test(verifies("S-241", "may be around a workspace, of which its commands see what is theirs"), async () => {
    const folder = createFolder("server", { tokens: "CANARY-TOKEN", "app/file": "own", "docs/file": "CANARY-DOCS" });
    const hidden = hide([toSecret(join(folder, "tokens"))], join(folder, "app"));
    const command = "cat file ../tokens ../docs/file; ls ..; echo new > file";
    const { stdout, output } = await runHeld(command, join(folder, "app"), {}, environment, { hidden });
    expect(stdout).toBe("ownapp\n");
    expect(output).not.toContain("CANARY");
  });
});

test(verifies(["S-241", "S-242"], "a place that is mounted elsewhere too is hidden there, or the start fails"), () => {
  const folder = createFolder("server", { "keys/tokens": "x", "trees/one/files/x": "x" });
  const others = createFolder("others");
  for (const name of ["all", "covered"]) mkdirSync(join(others, name));
  // Stands for what the kernel shows at the other mount.
  symlinkSync(join(folder, "keys"), join(others, "all/keys"));
  symlinkSync(join(folder, "trees/one"), join(others, "tree"));
  const toEntry = (root: string, device = "8:1") => [{ device, root, type: "ext4", isWritable: true }];
  const table = new Map([
    ["/", toEntry("/", "8:2")],
    [folder, toEntry("/srv")],
    [join(others, "all"), toEntry("/srv")],
    [join(others, "covered"), toEntry("/srv")],
    [join(others, "foreign"), toEntry("/srv", "8:3")],
    [join(others, "tree"), toEntry("/srv/trees/one")],
  ]);
  const secrets = [toSecret(join(folder, "keys/tokens")), toSecret(join(folder, "trees"), "folder")];
  const list = (workspace: string): string[] =>
    listSecretFolders(secrets, { writable: new Map([[workspace, "the workspace"]]), environment, table });
  expect(list("/nowhere")).toEqual([
    join(folder, "keys"),
    join(others, "all/keys"),
    join(folder, "trees"),
    join(others, "tree"),
  ]);
  expect(() => list(join(others, "all"))).toThrow(
    /^a secret .*keys\/tokens cannot be hidden .*\/all\/keys\/tokens is in the workspace/,
  );
});
