import { describe, expect, test } from "vitest";
import { type ProgramOutcome, type ProgramRequest, runProgram } from "../src/programs.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { findByCommandLine } from "./processes.ts";

interface Run extends ProgramOutcome {
  readonly stdout: string;
}

async function run(file: string, args: readonly string[], request: Partial<ProgramRequest> = {}): Promise<Run> {
  let stdout = "";
  const outcome = await runProgram({
    file,
    args,
    cwd: "/tmp",
    environment: {},
    signal: new AbortController().signal,
    maxStderrBytes: 100,
    onStdout: (chunk) => {
      stdout += Buffer.from(chunk).toString();
      return true;
    },
    ...request,
  });
  return { ...outcome, stdout };
}

describe("helper programs", () => {
  test("output and exit code", async () => {
    const outcome = await run("/bin/sh", ["-c", "echo a; echo b >&2; exit 3"]);
    expect(outcome).toEqual({
      exitCode: 3,
      stdout: "a\n",
      stderr: "b\n",
      stopped: false,
      cancelled: false,
      startError: "",
    });
  });

  test(verifies("S-40", "only the given environment, and no input"), async () => {
    const { stdout } = await run("/usr/bin/env", [], { environment: { A: "1", B: undefined } });
    expect(stdout).toBe("A=1\n");
    expect((await run("/bin/cat", [])).stdout).toBe("");
  });

  test("arguments are given as they are", async () => {
    expect((await run("/bin/echo", ["$(id)", "*", "a b", "-n"])).stdout).toBe("$(id) * a b -n\n");
  });

  test("stderr is bounded", async () => {
    const { stderr } = await run("/bin/sh", ["-c", "head -c 1000000 /dev/zero | tr '\\0' x >&2"]);
    expect(stderr).toBe("x".repeat(100));
  });

  test("it is killed when its reader has enough", async () => {
    const outcome = await run("/usr/bin/yes", ["enough-8471"], { onStdout: () => false });
    expect(outcome).toMatchObject({ exitCode: -1, stopped: true, cancelled: false });
    expect(findByCommandLine("enough-8471")).toEqual([]);
  });

  test("it is killed on an abort", async () => {
    const signal = AbortSignal.timeout(100);
    expect(await run("/bin/sleep", ["9.8471"], { signal })).toMatchObject({
      exitCode: -1,
      stopped: false,
      cancelled: true,
    });
    expect(findByCommandLine("9.8471")).toEqual([]);
    expect(await run("/bin/sleep", ["9"], { signal })).toMatchObject({ exitCode: -1, cancelled: true });
  });

  test("what cannot be started is a value", async () => {
    expect((await run("/no/such/program", [])).startError).toBe("/no/such/program does not exist");
    expect((await run("/bin/echo", ["a\0b"])).startError).toContain("NUL");
    expect((await run("/etc/passwd", [])).startError).toContain("is not executable");
    expect((await run("/bin/echo", [], { cwd: "/no/such" })).startError).toContain("/no/such is not a usable folder");
  });
});
