import type { HookEventName, HookResult, RunEventBody, ToolEffect } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createTerminalProjection } from "../../../src/output/terminal/terminal.ts";
import { endedEffect } from "../../tools/ended-command.ts";
import { project, runStart, toCall, toDelta, toLog, toTexts, turnEnd } from "../log.ts";

const print = (...bodies: readonly RunEventBody[]): string =>
  project(
    createTerminalProjection({ locale: "en", hasColors: false, includeThinking: false }),
    toLog(runStart, ...bodies),
  ).join("");

describe("what a person sees", () => {
  test("text as it comes, actions on separate lines, the sum at the end", () => {
    const read = toCall(
      "call_1",
      "read_file",
      { target_file: "a" },
      { status: "error", error: { code: "FILE_NOT_FOUND", message: "a is not there", details: "" } },
    );
    expect(
      print(...toTexts("I will ", "look."), ...read, turnEnd, ...toTexts("Nothing there."), turnEnd, {
        type: "run_end",
        reason: "end_turn",
      }),
    ).toBe("I will look.\n● Read file: failed (a is not there)\nNothing there.\n0.1 s · 2 turns · 30 tokens\n");
  });

  test("a command with its first lines of output, the number of the others, and its exit code", () => {
    const effect = { ...endedEffect, exitCode: 3 };
    const output = Array.from({ length: 20 }, (_, index) => `${index}\n`).join("");
    const [begin, args, result] = toCall("call_1", "run_terminal_cmd", { command: "seq 20" }, { effect });
    const shown = print(begin!, args!, toDelta(output), result!);
    expect(shown.split("\n").slice(0, 3)).toEqual(["$ seq 20", "0", "1"]);
    expect(shown).toContain("\n11\n… 8 more lines\n● Ran terminal command  (exit code 3)\n");
  });

  test("an edit with its changed lines, a long one shortened", () => {
    const patch = "--- a/a\n+++ b/a\n@@ -9,3 +9,3 @@\n one\n-two\u001B[2J\n+2\n three\n@@ -30,1 +30,1 @@\n-x\n+y\n";
    const change = { filePath: "a", path: "/w/a", content: "2", linesAdded: 2, linesRemoved: 2, bytes: 9 };
    const effect: ToolEffect = { kind: "file_edit", changes: [{ ...change, operation: "edit", patch }] };
    const shown = print(...toCall("call_1", "edit_file", {}, { effect }));
    expect(shown.split("\n").slice(1, -1)).toEqual([
      "   9  one", "  10 -two␛[2J", "  10 +2", "  11  three", "     …", "  30 -x", "  30 +y",
    ]); // prettier-ignore
    const long = `@@ -0,0 +1,60 @@\n${"+line\n".repeat(60)}`;
    const created: ToolEffect = { kind: "file_edit", changes: [{ ...change, operation: "create", patch: long }] };
    expect(print(...toCall("call_1", "write_file", {}, { effect: created }))).toContain("  … 20 more lines\n");
  });

  test(verifies("C84", "what hooks did that no other line tells, and skills by their names"), () => {
    const toHook = (event: HookEventName, did: Partial<HookResult>): RunEventBody => {
      const head = { type: "hook_result", origin: "user", command: "x", exitCode: 0, durationMs: 1 } as const;
      return { ...head, status: "success", event, ...did };
    };
    const skill: ToolEffect = { kind: "skill", name: "release", file: "notes.md" };
    const shown = print(
      toHook("PreToolUse", { decision: "block", reason: "told by the call" }),
      toHook("PreToolUse", { arguments: { target_file: "b" }, context: "c" }),
      toHook("PostToolUse", { decision: "block", reason: "format\nit\u001B[2J" }),
      toHook("PostToolUse", {
        status: "failed",
        exitCode: 3,
        notice: { code: "HOOK_FAILED", message: "PostToolUse hook (x) failed: exit code 3" },
      }),
      toHook("PostToolUse", {}),
      ...toCall("call_1", "read_skill", { name: "release" }, { effect: skill }),
    );
    expect(shown.split("\n").slice(0, -1)).toEqual([
      'Hook changed the arguments · told the model something (PreToolUse) {"target_file":"b"}',
      "Hook objected to the result (PostToolUse): format it␛[2J",
      "PostToolUse hook (x) failed: exit code 3",
      "● Read skill release  notes.md",
    ]);
  });

  test("nothing of a command's output can steer the terminal", () => {
    const [begin, args] = toCall("call_1", "run_terminal_cmd", { command: "printf '\u001B[2J'" }, {});
    // oxlint-disable-next-line no-control-regex -- these are the characters that must not pass
    expect(print(begin!, args!, toDelta("\u001B[2Jx\u0007\n"))).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/);
  });
});
