import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { listProblems } from "@sheaf/protocol/check-value";
import { describe, expect, test } from "vitest";
import { runTerminalCmdTool } from "../../src/tools/run-terminal-cmd.ts";
import type { ToolContext, ToolOutcome } from "../../src/tools/tool.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createContext, createFolder } from "./search-workspace.ts";

type Arguments = Parameters<typeof runTerminalCmdTool.run>[0];

async function run(args: Arguments, context: Partial<ToolContext> = {}, root = createFolder()): Promise<ToolOutcome> {
  return runTerminalCmdTool.run(args, createContext(root, context));
}

describe("run_terminal_cmd", () => {
  test("the result holds the output, and the effect what happened", async () => {
    const root = createFolder({ "a.txt": "x" });
    const outcome = await run({ command: "ls; echo two >&2" }, {}, root);
    expect(outcome).toEqual({
      status: "success",
      output: "a.txt\ntwo\n",
      effect: {
        kind: "command",
        command: "ls; echo two >&2",
        workingDirectory: root,
        exitCode: 0,
        signal: "",
        stdout: "a.txt\n",
        stderr: "two\n",
        timedOut: false,
        background: false,
        permissions: ["unsandboxed"],
      },
      whole: expect.objectContaining({ head: "a.txt\ntwo\n" }),
    });
  });

  test(verifies("N37", "another exit code than 0 is a success, with a note"), async () => {
    const outcome = await run({ command: "echo a; exit 3" });
    expect(outcome).toMatchObject({ status: "success", output: "a\n", note: "Exit code 3.", effect: { exitCode: 3 } });
    expect(outcome).not.toHaveProperty("error");
  });

  test.each([
    ["(echo a; exit 3) | tail -n 5", "a\nbash: exit codes in the last pipe: 3 0\n"],
    ["cd . && sh -c 'exit 2' 2>&1 | grep x | wc -l", "0\nbash: exit codes in the last pipe: 2 1 0\n"],
    ["yes | head -n 1", "y\n"],
    ["echo a | cat", "a\n"],
    ["true || echo b", ""],
    ["cat <<'X' | cat\na|b\nX", "a|b\n"],
  ])(verifies("N37", "the shell shows a failure that a pipe hides: %s"), async (command, output) => {
    expect(await run({ command })).toMatchObject({ output, effect: { command, exitCode: 0 } });
  });

  test("a pipe's own exit code stays", async () => {
    expect(await run({ command: "echo a | (cat; exit 4)" })).toMatchObject({ output: "a\n", effect: { exitCode: 4 } });
    expect(await run({ command: "echo a | cat; kill -9 $$" })).toMatchObject({ effect: { signal: "SIGKILL" } });
    expect(await run({ command: "trap 'echo mine' EXIT; false | true" })).toMatchObject({ output: "mine\n" });
  });

  test(verifies("N37", "a signal and no output are noted"), async () => {
    expect(await run({ command: "kill -9 $$" })).toMatchObject({
      note: "Ended by SIGKILL, exit code 137.",
      effect: { signal: "SIGKILL" },
    });
    expect(await run({ command: "true" })).toMatchObject({ output: "", note: "Exit code 0, no output." });
  });

  test(verifies("N36", "a cut is marked, with the bytes of the whole output"), async () => {
    const outcome = await run({ command: "head -c 1000000 /dev/zero | tr '\\0' x" });
    expect(outcome).toMatchObject({ truncated: true, bytes: 1_000_000 });
    expect(Buffer.byteLength(outcome.output)).toBeLessThanOrEqual(256 * 1024);
  });

  test(verifies("N36", "an abort gives status cancelled, with what came until then"), async () => {
    const controller = new AbortController();
    const emitOutput = (): void => controller.abort();
    const outcome = await run({ command: "echo begin; sleep 9" }, { signal: controller.signal, emitOutput });
    expect(outcome).toMatchObject({
      status: "cancelled",
      output: "begin\n",
      error: { code: "CANCELLED" },
      effect: { kind: "command" },
    });
  });

  test("live output goes out as it comes", async () => {
    const live: string[] = [];
    await run({ command: "echo a; echo b >&2" }, { emitOutput: (stream, delta) => live.push(`${stream}: ${delta}`) });
    expect(live.toSorted()).toEqual(["stderr: b\n", "stdout: a\n"]);
  });

  test.each(["", "  ", "\n\t"])("an empty command is a wrong argument: %j", async (command) => {
    expect(await run({ command })).toMatchObject({ status: "error", error: { code: "INVALID_ARGUMENTS" } });
  });

  test(verifies("S-20", "the working directory lies in the workspace"), async () => {
    const root = createFolder({ "sub dir/": "" });
    symlinkSync("/etc", join(root, "out"));
    symlinkSync("sub dir", join(root, "in"));
    for (const folder of ["..", "/etc", "out", "sub dir/../..", `${root}-twin`]) {
      const outcome = await run({ command: "pwd", working_directory: folder }, {}, root);
      expect(outcome).toMatchObject({ status: "error", error: { code: "PATH_OUTSIDE_WORKSPACE" } });
    }
    for (const folder of ["sub dir", "in", `${root}/sub dir`, "./sub dir/"]) {
      const outcome = await run({ command: "pwd", working_directory: folder }, {}, root);
      expect(outcome).toMatchObject({ output: `${root}/sub dir\n`, effect: { workingDirectory: `${root}/sub dir` } });
    }
  });

  test(verifies("N37", "a command that never starts is an error, with exit code -1"), async () => {
    const outcome = await run({ command: "true", working_directory: "nowhere" });
    expect(outcome).toMatchObject({
      status: "error",
      output: "",
      error: { code: "COMMAND_NOT_STARTED" },
      effect: { exitCode: -1 },
    });
    expect(outcome.error?.message).toMatch(/^the command was not started: .*nowhere/);
  });

  test("its schema takes what models write, and no more than the limits", () => {
    const accepts = (value: unknown): boolean => listProblems(runTerminalCmdTool.parameters, value).length === 0;
    expect(accepts({ command: "ls", timeout_ms: 600_000, is_background: false, description: "x" })).toBe(true);
    for (const timeout_ms of [0, -1, 600_001, 1.5, Number.NaN]) {
      expect(accepts({ command: "ls", timeout_ms })).toBe(false);
    }
    expect(accepts({})).toBe(false);
  });
});
