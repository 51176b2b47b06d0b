/** Processes, memory and disk space of a command have a limit (S-30, S-90). */
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { defaultUseLimits } from "../src/follow/sandbox-status.ts";
import { findByCommandLine } from "./processes.ts";
import { createFolder, describeWithSandbox, runHeld } from "./sandbox-run.ts";

const limits = { ...defaultUseLimits, processes: 60, memoryBytes: 200 * 1024 * 1024 };

describeWithSandbox("limits of use", () => {
  test(verifies("S-30", "a command that makes processes without end is ended as a whole"), async () => {
    const name = `bomb${process.pid}`;
    const bomb = `bomb() { bash -c 'sleep 60; : ${name}' & sleep 0.005; bomb; }; bomb; wait`;
    const outcome = await runHeld(bomb, undefined, {}, undefined, { limits });
    expect(outcome).toMatchObject({ exitCode: 137, signal: "SIGKILL", timedOut: false });
    expect(outcome.refusals).toEqual(["The command was ended: it had more than 60 processes."]);
    expect(findByCommandLine(name)).toEqual([]);
  });

  test(verifies("S-30", "a command that takes memory without end is ended, also by many processes"), async () => {
    const grow = "perl -e 'for (1..200) { push @x, \"x\" x 10_000_000; select undef, undef, undef, 0.01 } sleep 60'";
    for (const command of [grow, `for i in 1 2 3 4; do perl -e '$x = "x" x 70_000_000; sleep 60' & done; wait`]) {
      const outcome = await runHeld(command, undefined, {}, undefined, { limits });
      expect(outcome).toMatchObject({ exitCode: 137, signal: "SIGKILL" });
      expect(outcome.refusals).toEqual(["The command was ended: it used more than 200 MiB of memory."]);
    }
  });

  test.each([
    "dd if=/dev/zero of=/tmp/big bs=1M count=1000 2>&1",
    "dd if=/dev/zero of=big bs=1M count=1000 2>&1",
    // Large within a millisecond.
    "fallocate -l 400M big || dd if=/dev/zero of=big bs=1M count=400 2>&1",
  ])(verifies("S-90", "a command that fills the disk is ended: %s"), async (fill) => {
    const { bavail, bsize } = statfsSync(tmpdir());
    const folder = createFolder("workspace");
    // What others write meanwhile counts too: a few MiB more or less.
    const leftOver = 1 - (200 * 1024 * 1024) / (bavail * bsize);
    const disk = { bytes: Infinity, ofSize: 1, ofFirst: leftOver };
    const outcome = await runHeld(`${fill}; sleep 60`, folder, { timeoutMs: 50_000 }, undefined, {
      limits: { ...limits, disk },
    });
    expect(outcome).toMatchObject({ exitCode: 137, signal: "SIGKILL", timedOut: false });
    expect(outcome.refusals).toEqual([
      expect.stringMatching(/^The command was ended: the disk of .* is almost full\.$/),
    ]);
  });

  test("a command within the limits is not touched", async () => {
    const command = `for i in 1 2 3 4 5; do sleep 0.4 & done; perl -e '$x = "x" x 20_000_000; sleep 1'; wait`;
    expect(await runHeld(command, undefined, {}, undefined, { limits })).toMatchObject({ exitCode: 0, refusals: [] });
  });
});
