/** Whether there is a sandbox is found out truthfully, and not anew for each run (S-31). */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findSandbox } from "../../src/sandbox/find-sandbox.ts";
import { openProbeMemory } from "../../src/sandbox/probe-memory.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox } from "./sandbox-run.ts";

function find(options: Partial<Parameters<typeof findSandbox>[0]> = {}): Promise<Sandbox> {
  const workspace = createFolder("workspace");
  return findSandbox({
    setting: "enabled",
    workspace,
    environment,
    dataFolder: undefined,
    now: () => 1000,
    ...options,
  });
}

describe("without one", () => {
  test(verifies("S-31", "switched off it is disabled, and nothing is tried"), async () => {
    const dataFolder = createFolder("data");
    expect(await find({ setting: "disabled", dataFolder })).toEqual({ state: "disabled" });
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

describeWithSandbox("with one", () => {
  test("that it works is remembered, readable for this user alone", async () => {
    const dataFolder = createFolder("data");
    expect(await find({ dataFolder })).toMatchObject({ state: "enabled", kind: "bubblewrap" });
    expect(statSync(join(dataFolder, "sandbox-probe.json")).mode & 0o777).toBe(0o600);
    const file = "/usr/bin/bwrap";
    const isKnown = (now: number, program = file): boolean => openProbeMemory(dataFolder, program, now).isKnown;
    expect([isKnown(1000), isKnown(3_000_000), isKnown(4_000_000), isKnown(999)]).toEqual([true, true, false, false]);
    const other = join(createFolder("programs", { bwrap: "#!/bin/sh\n" }), "bwrap");
    expect(isKnown(1000, other)).toBe(false);
    writeFileSync(join(dataFolder, "sandbox-probe.json"), "{");
    expect(isKnown(1000)).toBe(false);
  });

  test("where nothing can be kept, it is tried each time", async () => {
    expect(await find({ dataFolder: "/etc/hostname/nowhere" })).toMatchObject({ state: "enabled" });
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
