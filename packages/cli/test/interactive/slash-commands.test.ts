import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  completeSlashLine,
  formatSlashHelp,
  listEditorCommands,
  parseSlashLine,
} from "../../src/interactive/slash-commands.ts";

describe("a line", () => {
  test.each([
    ["hello", undefined],
    ["/etc/hosts is what?", undefined],
    ["/mcp__server__prompt words", undefined],
    ["// a comment", undefined],
    ["/help", { kind: "command", name: "help", words: [] }],
    ["  /MODE  plan ", { kind: "command", name: "mode", words: ["plan"] }],
    ["/export json a.json", { kind: "command", name: "export", words: ["json", "a.json"] }],
    ["/hepl", { kind: "unknown", message: "/hepl is not a command: did you mean /help?" }],
    ["/", { kind: "unknown", message: "/ is not a command: see /help" }],
    ["/constructor", { kind: "unknown", message: "/constructor is not a command: see /help" }],
  ])("%j", (line, expected) => {
    expect(parseSlashLine(line)).toEqual(expected);
  });

  test.each([
    ["/re", ["/resume", "/revert"]],
    ["/mode p", ["/mode plan"]],
    ["hello", []],
  ])("%j is completed", (line, expected) => {
    expect(completeSlashLine(line)).toEqual(expected);
  });
});

test(verifies("C93", "own commands are prompts, are completed and listed, and never hide one of Sheaf's"), () => {
  const own = [
    { name: "review", description: "Reviews\u001B[2J it", hint: "[FOLDER]" },
    { name: "mode", description: "hidden", hint: "" },
    { name: "fix-it", description: "", hint: "" },
  ];
  const list = () => own;
  expect(parseSlashLine("/review src", list)).toBeUndefined();
  expect(parseSlashLine("/fix-it", list)).toBeUndefined();
  expect(parseSlashLine("/mode plan", list)).toMatchObject({ kind: "command", name: "mode" });
  expect(parseSlashLine("/reveiw", list)).toEqual({
    kind: "unknown",
    message: "/reveiw is not a command: did you mean /review?",
  });
  expect(completeSlashLine("/rev", list)).toEqual(["/revert", "/review"]);
  expect(completeSlashLine("/review s", list)).toEqual([]);
  const help = formatSlashHelp(own).split("\n");
  expect(help.filter((line) => line.includes("/mode "))).toHaveLength(1);
  expect(help.find((line) => line.includes("/review"))).toMatch(/^ {2}\/review \[FOLDER\] +Reviews\u241B\[2J it$/);
  expect(help).toContain("  /fix-it");
  expect(listEditorCommands(own).map(({ name }) => name)).toEqual([
    "mode",
    "model",
    "ask",
    "compact",
    "revert",
    "review",
    "fix-it",
  ]);
});
