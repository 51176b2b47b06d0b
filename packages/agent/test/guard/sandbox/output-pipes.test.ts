/** What commands print into (N37, R-14). */
import { spawn } from "node:child_process";
import { fstatSync, readdirSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createOutputPipes, type OutputPipes } from "../../../src/guard/sandbox/output-pipes.ts";
import { runCommand as runPlain } from "./run-command.ts";
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

const toInode = (descriptor: number | "pipe"): number => fstatSync(Number(descriptor)).ino;

describe("pipes of a run", () => {
  let outputs: OutputPipes | undefined;
  const temporary = process.env.TMPDIR;
  afterEach(() => {
    outputs?.close();
    if (temporary === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = temporary;
  });

  /** What a shell prints into new pipes, and what it got as its standard output. */
  async function printInto(pipes: OutputPipes, command: string): Promise<{ text: string; kind: string }> {
    const own = pipes.open();
    const child = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", ...own.stdio] });
    let text = "";
    own.follow(child, (_, chunk) => (text += Buffer.from(chunk).toString()));
    await own.ended;
    own.close();
    return { text, kind: typeof own.stdio[0] };
  }

  test.skipIf(process.platform !== "linux")(
    verifies("R-14", "are used again when they were read to the end, and none is left open"),
    async () => {
      outputs = createOutputPipes();
      await printInto(outputs, "true");
      const before = readdirSync("/proc/self/fd").length;
      for (let round = 0; round < 20; round += 1)
        expect(await printInto(outputs, `echo ${round}`)).toEqual({ text: `${round}\n`, kind: "number" });
      expect(readdirSync("/proc/self/fd")).toHaveLength(before);
      outputs.close();
      expect(readdirSync("/proc/self/fd").length).toBeLessThan(before);
    },
  );

  test.skipIf(process.platform !== "linux")(
    verifies("R-13", "are not used again while somebody may still write"),
    async () => {
      outputs = createOutputPipes();
      const first = outputs.open();
      const held = first.stdio.map(toInode);
      const child = spawn("/bin/sleep", ["60"], { stdio: ["ignore", ...first.stdio] });
      first.follow(child, () => undefined);
      first.close();
      await first.ended;
      const others = Array.from({ length: 8 }, () => outputs!.open());
      const inodes = others.flatMap(({ stdio }) => stdio.map(toInode));
      for (const inode of held) expect(inodes).not.toContain(inode);
      for (const pipes of others) pipes.close();
      child.kill("SIGKILL");
    },
  );

  test("are plain ones where no FIFO can be made", async () => {
    process.env.TMPDIR = "/no/such/folder";
    outputs = createOutputPipes();
    expect(await printInto(outputs, "echo one; echo two >&2")).toEqual({ text: "one\ntwo\n", kind: "string" });
    expect(await runPlain("echo one; echo two >&2")).toMatchObject({ stdout: "one\n", stderr: "two\n", exitCode: 0 });
  });

  test("that no process got are closed", async () => {
    outputs = createOutputPipes();
    outputs.open().close();
    expect(await printInto(outputs, "echo x")).toMatchObject({ text: "x\n" });
  });
});
