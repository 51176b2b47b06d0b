import { describe, expect, test } from "vitest";
import { completeSlashLine, parseSlashLine } from "../../../src/cli/interactive/slash-commands.ts";

describe("a line", () => {
  test.each([
    ["hello", undefined],
    ["/etc/hosts is what?", undefined],
    ["// a comment", undefined],
    ["/help", { kind: "command", name: "help", words: [] }],
    ["  /MODE  plan ", { kind: "command", name: "mode", words: ["plan"] }],
    ["/export html a.html", { kind: "command", name: "export", words: ["html", "a.html"] }],
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
