/** What a sandbox holds is compared with what it should hold (S-30). */
import { spawn } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { toBubblewrapArguments } from "../../../src/guard/sandbox/bubblewrap.ts";
import { isHeldAsPlanned } from "../../../src/guard/sandbox/mount-check.ts";
import type { Mount } from "../../../src/guard/sandbox/mounts.ts";
import { createFolder, describeWithSandbox, sandbox } from "./sandbox-run.ts";

const children: (() => void)[] = [];
afterEach(() => {
  for (const end of children.splice(0)) end();
});

/** Its first process. */
async function openSandbox(mounts: readonly Mount[], workingDirectory: string): Promise<number> {
  const file = sandbox.state === "enabled" ? sandbox.file : "";
  const words = toBubblewrapArguments({ mounts, workingDirectory, descriptors: { status: 3 }, hasOwnNetwork: true });
  const child = spawn(file, [...words, "--", "sh", "-c", "echo; sleep 60"], {
    stdio: ["ignore", "pipe", "inherit", "pipe"],
  });
  children.push(() => child.kill("SIGKILL"));
  let status = "";
  child.stdio[3]!.on("data", (chunk: Buffer) => (status += chunk.toString()));
  await new Promise((resolve) => child.stdout!.once("data", resolve));
  return Number(/"child-pid": (\d+)/.exec(status)![1]);
}

describeWithSandbox("mounts of a sandbox", () => {
  const names = { space: "a b", backslash: "c\\040d", line: "e\nf", tab: "g\th", letter: "ü" };

  test("are found by their paths, whatever the names", async () => {
    const workspace = createFolder("workspace");
    const mounts: Mount[] = [{ path: workspace, access: "writable" }];
    for (const name of Object.values(names)) {
      for (const access of ["writable", "read-only", "hidden-folder"] as const) {
        const path = join(workspace, `${name} ${access}`);
        mkdirSync(path);
        mounts.push({ path, access });
      }
      writeFileSync(join(workspace, name), "");
      mounts.push({ path: join(workspace, name), access: "hidden-file" });
    }
    mounts.push({ path: "/tmp", access: "writable", source: createFolder("private") });
    const pid = await openSandbox(mounts, workspace);
    expect(isHeldAsPlanned(pid, mounts, workspace)).toBe(true);
    expect(isHeldAsPlanned(pid, mounts, join(workspace, "a b writable"))).toBe(false);
    expect(isHeldAsPlanned(pid, [...mounts, { path: "/var/tmp", access: "writable" }], workspace)).toBe(false);
  });

  test.each<[string, Mount["access"], (path: string) => void]>([
    ["was made anew", "read-only", (path) => (rmSync(path), writeFileSync(path, "new"))],
    ["was replaced", "hidden-file", (path) => (writeFileSync(`${path}2`, "new"), renameSync(`${path}2`, path))],
    ["was moved away", "hidden-file", (path) => renameSync(path, `${path}2`)],
    ["is gone", "hidden-file", (path) => rmSync(path)],
  ])(verifies("S-30", "are not as planned when a place %s"), async (_, access, change) => {
    const workspace = createFolder("workspace", { "sub/file": "old" });
    const path = join(workspace, "sub/file");
    const mounts: Mount[] = [
      { path: workspace, access: "writable" },
      { path, access },
    ];
    const pid = await openSandbox(mounts, workspace);
    expect(isHeldAsPlanned(pid, mounts, workspace)).toBe(true);
    change(path);
    expect(isHeldAsPlanned(pid, mounts, workspace)).toBe(false);
  });

  test(
    verifies("S-30", "are not as planned when they were made elsewhere, of something else, or can be written"),
    async () => {
      const workspace = createFolder("workspace", { "one/file": "1", "two/file": "2" });
      const [one, two] = [join(workspace, "one"), join(workspace, "two")];
      const plan: Mount[] = [
        { path: workspace, access: "writable" },
        { path: one, access: "read-only" },
      ];
      for (const mount of [
        { path: two, access: "read-only" },
        { path: one, access: "read-only", source: two },
        { path: one, access: "writable" },
        { path: one, access: "hidden-folder" },
      ] as const) {
        const pid = await openSandbox([plan[0]!, mount], workspace);
        expect(isHeldAsPlanned(pid, plan, workspace)).toBe(false);
      }
      expect(isHeldAsPlanned(1 << 30, plan, workspace)).toBe(false);
    },
  );
});
