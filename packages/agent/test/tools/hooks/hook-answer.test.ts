import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { toHookAnswer } from "../../../src/tools/hooks/hook-answer.ts";
import { toHookNote } from "../../../src/tools/hooks/hooks.ts";
import { endedCommand } from "../ended-command.ts";

type Outcome = Partial<typeof endedCommand>;
const answer = (event: Parameters<typeof toHookAnswer>[0], outcome: Outcome, tool?: string) =>
  toHookAnswer(event, { ...endedCommand, ...outcome }, tool);
const json = (value: unknown): Outcome => ({ stdout: JSON.stringify(value) });

describe("answers of hooks", () => {
  test(verifies("C83", "exit code 2 blocks with stderr as the reason; another one only warns"), () => {
    for (const event of ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"] as const) {
      expect(answer(event, { exitCode: 2, stderr: "no\n", stdout: "ignored" })).toEqual({
        status: "success",
        exitCode: 2,
        decision: "block",
        reason: "no",
      });
      expect(answer(event, { exitCode: 1, stderr: "broken" })).toEqual({
        status: "failed",
        exitCode: 1,
        message: "exit code 1: broken",
      });
    }
    expect(answer("SessionStart", { exitCode: 2, stderr: "no" })).toMatchObject({ status: "failed" });
    expect(answer("SessionStart", { exitCode: 2, stderr: "no" })).not.toHaveProperty("decision");
  });

  test(verifies("S-190", "one that did not start gives no reason that names files; the user learns it"), () => {
    expect(answer("PreToolUse", { exitCode: -1, startError: "/home/op/bin/bash does not exist" })).toEqual({
      status: "failed",
      exitCode: -1,
      decision: "block",
      reason: "it did not run (sheaf hooks test has the reason)",
      message: "it did not run: /home/op/bin/bash does not exist",
    });
  });

  test(
    verifies(["S-140", "S-190"], "a command that is missing gives a reason without files; the user learns its stderr"),
    () => {
      expect(answer("PreToolUse", { exitCode: 127, stderr: "bash: /home/op/guard: No such file\n" })).toEqual({
        status: "failed",
        exitCode: 127,
        decision: "block",
        reason: "it did not run: its command was not found (exit code 127)",
        message: "it did not run: its command was not found (exit code 127): bash: /home/op/guard: No such file",
      });
      expect(answer("PreToolUse", { exitCode: 143, signal: "SIGTERM" })).toMatchObject({
        reason: "it did not run to its end: SIGTERM ended it (exit code 143)",
      });
    },
  );

  test(verifies("S-140", "an exit code of its own only warns"), () => {
    for (const exitCode of [1, 3, 124, 125, 128, 255]) {
      expect(answer("PreToolUse", { exitCode })).toEqual({
        status: "failed",
        exitCode,
        message: `exit code ${exitCode}`,
      });
    }
  });

  test(verifies("C83", "plain output is for the model at a prompt, and for nobody at a call"), () => {
    expect(answer("UserPromptSubmit", { stdout: "It is Monday.\n" })).toMatchObject({ context: "It is Monday." });
    expect(answer("PreToolUse", { stdout: "checked" })).toEqual({ status: "success", exitCode: 0 });
  });

  test(verifies("C83", "JSON denies, asks, changes arguments, adds context, ends"), () => {
    const specific = { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "not here" };
    expect(answer("PreToolUse", json({ hookSpecificOutput: specific }))).toMatchObject({
      decision: "block",
      reason: "not here",
    });
    const updatedInput = { file_path: "/w/b.txt", content: "x" };
    const changing = { hookSpecificOutput: { permissionDecision: "ask", updatedInput, additionalContext: "c" } };
    expect(answer("PreToolUse", json({ ...changing, systemMessage: "hello" }), "write_file")).toEqual({
      status: "success",
      exitCode: 0,
      decision: "ask",
      reason: "",
      arguments: { target_file: "/w/b.txt", content: "x" },
      context: "c",
      message: "hello",
    });
    expect(answer("PostToolUse", json({ decision: "block", reason: "lint" }))).toMatchObject({
      decision: "block",
      reason: "lint",
    });
    expect(answer("Stop", json({ continue: false, stopReason: "enough", decision: "block" }))).toMatchObject({
      decision: "end",
      reason: "enough",
    });
    expect(answer("PostToolUse", json(changing), "write_file")).not.toHaveProperty("arguments");
  });

  test(verifies("S-137", "allow and approve decide nothing"), () => {
    for (const value of [{ decision: "approve" }, { hookSpecificOutput: { permissionDecision: "allow" } }]) {
      expect(answer("PreToolUse", json(value))).toEqual({ status: "success", exitCode: 0 });
    }
  });

  test.each<[string, Outcome]>([
    ["no start", { exitCode: -1, startError: "no shell" }],
    ["a refusal of the sandbox", { exitCode: -1, refusal: "no sandbox" }],
    ["the time limit", { exitCode: 124, timedOut: true }],
    ["a command that is not found", { exitCode: 127, stderr: "bash: guard: not found" }],
    ["a command that is not executable", { exitCode: 126, stderr: "bash: guard: Permission denied" }],
    ["a signal", { exitCode: 137, signal: "SIGKILL" }],
    ["a signal that the shell reports", { exitCode: 139, stderr: "Segmentation fault" }],
    ["half an answer", { stdout: '{"decision":' }],
    ["an unknown decision", json({ hookSpecificOutput: { permissionDecision: "defer" } })],
    ["a decision that is no word", json({ decision: 5 })],
    ["an answer for another event", json({ hookSpecificOutput: { hookEventName: "Stop" } })],
  ])(verifies("S-140", "%s refuses before a call and at a prompt, and nowhere else"), (_, outcome) => {
    for (const event of ["PreToolUse", "UserPromptSubmit"] as const) {
      expect(answer(event, outcome)).toMatchObject({ status: "failed", decision: "block" });
    }
    expect(answer("PostToolUse", outcome)).not.toHaveProperty("decision");
  });

  test(verifies("S-139", "what reaches the model and the user is bounded, without controls, and fenced"), () => {
    const long = `${"x".repeat(30_000)}\u001B[31m`;
    const said = answer("PostToolUse", json({ hookSpecificOutput: { additionalContext: long }, systemMessage: long }));
    expect(said.context!.length).toBeLessThan(10_100);
    expect(said.message!.length).toBeLessThan(2100);
    expect(said.context).not.toContain("\u001B");
    const origin = "user" as const;
    const result = { type: "hook_result", event: "PostToolUse", origin, command: "c", durationMs: 1 } as const;
    const note = toHookNote([{ ...result, ...answer("PostToolUse", json({ decision: "block", reason: "```\nend" })) }]);
    expect(note).toBe("A PostToolUse hook objects:\n````\n```\nend\n````");
  });
});
