/** What commands print into (N37, R-14). */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { notLinux, skipIfMissing } from "../../../test/support/describe-where.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createPipeMaker, type PipeMaker } from "../src/follow/output-pipes.ts";
import { listOwnFolders } from "../src/hold/own-folders.ts";
import { describeBothWays } from "./sandbox-run.ts";

describeBothWays("output by name", (runCommand) => {
  test.each([
    ["echo x > /dev/stderr", "", "x\n"],
    ["echo x >> /dev/stderr", "", "x\n"],
    ["echo x > /dev/stdout", "x\n", ""],
    ["echo x > /dev/fd/2", "", "x\n"],
    ["echo x > /proc/self/fd/1", "x\n", ""],
    ["echo x | tee /dev/stderr", "x\n", "x\n"],
    ["sh -c 'echo x > /dev/stderr; echo y >&2'", "", "x\ny\n"],
    ["yes | head -n 1 >/dev/null; echo ${PIPESTATUS[0]}", "141\n", ""],
    ["exec >&-; echo x 2>/dev/null || echo closed >&2", "", "closed\n"],
  ])(verifies("N37", "%s"), async (command, stdout, stderr) => {
    expect(await runCommand(command)).toMatchObject({ exitCode: 0, stdout, stderr });
    expect(await runCommand(command, { isBackground: true })).toMatchObject({ exitCode: 0, stdout, stderr });
  });
});

describe("pipes of a command", () => {
  /** What a shell prints into new pipes, and what it got as its standard output. */
  async function printInto(command: string, maker: PipeMaker): Promise<{ text: string; kind: string }> {
    const pipes = await maker.open();
    const child = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", ...pipes.stdio] });
    let text = "";
    pipes.follow(child, (_, chunk) => (text += Buffer.from(chunk).toString()));
    await pipes.ended;
    pipes.close();
    return { text, kind: typeof pipes.stdio[0] };
  }

  async function useAll(stateFolder: string): Promise<void> {
    const maker = createPipeMaker({ stateFolder, writable: [] });
    for (let round = 0; round < 20; round += 1)
      expect(await printInto(`echo ${round}`, maker)).toEqual({ text: `${round}\n`, kind: "number" });
    (await maker.open()).close();
    maker.close();
  }

  test(verifies("R-14", "leave no descriptor and no file behind"), async () => {
    skipIfMissing(notLinux);
    const folder = mkdtempSync(join(tmpdir(), "sheaf-pipes-"));
    // The first sockets of a process open descriptors that stay.
    await useAll(folder);
    const before = readdirSync("/proc/self/fd").length;
    await useAll(folder);
    expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before);
    expect(readdirSync(join(folder, "runs"))).toEqual([]);
  });

  test("are plain ones where no FIFO can be made", async () => {
    const maker = createPipeMaker({ writable: listOwnFolders({ writable: [] }) });
    expect(await printInto("echo one; echo two >&2", maker)).toEqual({
      text: "one\ntwo\n",
      kind: "string",
    });
  });
});
