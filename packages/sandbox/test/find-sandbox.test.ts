/** Whether there is a sandbox is found out truthfully, and not anew for each run (S-31). */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adviseOnNamespaces, findSandbox } from "../src/find/find-sandbox.ts";
import { openProbeMemory } from "../src/find/probe-memory.ts";
import type { Sandbox } from "../src/sandbox.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox } from "./sandbox-run.ts";

function find(options: Partial<Parameters<typeof findSandbox>[0]> = {}): Promise<Sandbox> {
  const workspace = createFolder("workspace");
  return findSandbox({
    setting: "enabled",
    workspace,
    environment,
    memory: undefined,
    now: () => 1000,
    ...options,
  });
}

describe("without one", () => {
  test(verifies("S-31", "switched off it is disabled, and nothing is tried"), async () => {
    const dataFolder = createFolder("data");
    expect(await find({ setting: "disabled", memory: { folder: dataFolder, isReadOnly: false } })).toEqual({
      state: "disabled",
    });
    expect(readdirSync(dataFolder)).toEqual([]);
  });

  test(verifies("S-31", "the whole file system as workspace cannot be held"), async () => {
    const sandbox = await find({ workspace: "/" });
    expect(sandbox).toMatchObject({
      state: "unavailable",
      reason: expect.stringMatching(/whole file system.*--sandbox disabled/),
    });
  });
});

describe("on other systems", () => {
  test(verifies("S-31", "macOS has its own one, and nothing stands in for it"), async () => {
    const sandbox = await find({ platform: "darwin" });
    if (existsSync("/usr/bin/sandbox-exec")) expect(sandbox).toMatchObject({ state: "enabled", kind: "seatbelt" });
    else expect(sandbox).toMatchObject({ state: "unavailable", problem: "/usr/bin/sandbox-exec is missing" });
  });

  test(verifies("S-31", "Windows has none, and the reason says where there is one"), async () => {
    const sandbox = await find({ platform: "win32" });
    expect(sandbox).toMatchObject({ state: "unavailable", reason: expect.stringMatching(/none for win32 yet.*WSL/) });
  });
});

describe("what to do where namespaces are forbidden", () => {
  const advise = (files: Readonly<Record<string, string>>, problem = "Permission denied"): string =>
    adviseOnNamespaces(problem, (path) => files[path]);

  const mask = "2 1 0:50 / /proc/acpi ro - tmpfs tmpfs ro\n";
  const docker = {
    "/proc/self/mountinfo": `${mask}3 1 8:1 /docker/containers/f/hosts /etc/hosts rw - ext4 /dev/a rw\n`,
  };
  const pod = { "/proc/self/mountinfo": `${mask}3 1 8:1 /kubelet/pods/f/etc-hosts /etc/hosts rw - ext4 /dev/a rw\n` };

  test.each([
    [
      { "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n" },
      "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ],
    [{ "/proc/sys/kernel/unprivileged_userns_clone": "0\n" }, "sudo sysctl kernel.unprivileged_userns_clone=1"],
    [{ "/proc/sys/user/max_user_namespaces": "0\n" }, "sudo sysctl user.max_user_namespaces=15000"],
    [
      { ...docker, "/proc/self/status": "Name:\tnode\nSeccomp:\t2\nSeccomp_filters:\t1\n" },
      "start this container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined (in a devcontainer",
    ],
    [{ ...docker, "/proc/self/attr/current": "docker-default (enforce)\n" }, "--security-opt apparmor=unconfined"],
    [
      { ...pod, "/proc/self/status": "Seccomp:\t2\n" },
      "give this pod seccompProfile Unconfined, procMount Unmasked (with hostUsers false)",
    ],
    [
      { ...docker, "/proc/sys/kernel/unprivileged_userns_clone": "0" },
      "run sudo sysctl kernel.unprivileged_userns_clone=1 on the machine of this container",
    ],
    [{ "/proc/self/status": "Seccomp:\t2\n", "/proc/self/mountinfo": "" }, "user namespaces (see sheaf help doctor)"],
    [{ "/proc/sys/user/max_user_namespaces": "broken" }, "user namespaces (see sheaf help doctor)"],
  ])(verifies("S-31", "%j: %s"), (files, advice) => {
    expect(advise(files)).toContain(advice);
    expect(advise(files)).not.toContain("\n");
  });

  test(verifies("S-31", "where they are used up, the limit is named that the machine does not show"), () => {
    const files = { "/proc/sys/user/max_user_namespaces": "2147483647\n" };
    expect(advise(files, "Creating new namespace failed (ENOSPC)")).toContain("sysctl user.max_user_namespaces=15000");
  });
});

describeWithSandbox("with one", () => {
  test("that it works is remembered, readable for this user alone", async () => {
    const dataFolder = createFolder("data");
    const memory = { folder: dataFolder, isReadOnly: false };
    expect(await find({ memory })).toMatchObject({ state: "enabled", kind: "bubblewrap" });
    expect(statSync(join(dataFolder, "sandbox-probe.json")).mode & 0o777).toBe(0o600);
    const file = "/usr/bin/bwrap";
    const isKnown = (now: number, program = file): boolean => openProbeMemory(memory, program, now).isKnown;
    expect([isKnown(1000), isKnown(3_000_000), isKnown(4_000_000), isKnown(999)]).toEqual([true, true, false, false]);
    const other = join(createFolder("programs", { bwrap: "#!/bin/sh\n" }), "bwrap");
    expect(isKnown(1000, other)).toBe(false);
    writeFileSync(join(dataFolder, "sandbox-probe.json"), "{");
    expect(isKnown(1000)).toBe(false);
  });

  test("what is remembered is believed where nothing may be written, and nothing is written", async () => {
    const folder = createFolder("data");
    const memory = { folder, isReadOnly: true };
    expect(await find({ memory })).toMatchObject({ state: "enabled" });
    expect(readdirSync(folder)).toEqual([]);
    await find({ memory: { folder, isReadOnly: false } });
    // A trial would fail there.
    const workspace = join(folder, "missing");
    expect(await find({ memory, workspace })).toMatchObject({ state: "enabled" });
    expect(await find({ workspace })).toMatchObject({ state: "unavailable" });
  });

  test("where nothing can be kept, it is tried each time", async () => {
    expect(await find({ memory: { folder: "/etc/hostname/nowhere", isReadOnly: false } })).toMatchObject({
      state: "enabled",
    });
  });

  test(verifies(["S-05", "S-31"], "a program of the workspace is never taken for it"), async () => {
    const workspace = createFolder("workspace", { "bin/bwrap": "#!/bin/sh\ntouch ran\n" });
    chmodSync(join(workspace, "bin/bwrap"), 0o755);
    mkdirSync(join(workspace, "sub"));
    const sandbox = await find({ workspace, environment: { ...environment, PATH: `${workspace}/bin:/usr/bin` } });
    expect(sandbox).toMatchObject({ state: "enabled", file: "/usr/bin/bwrap" });
    expect(existsSync(join(workspace, "ran"))).toBe(false);
    expect(readFileSync(join(workspace, "bin/bwrap"), "utf8")).toContain("touch");
  });
});
