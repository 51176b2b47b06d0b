import { describe, expect, test } from "vitest";
import { parseArguments } from "../src/arguments.ts";
import { verifies } from "../../../test/support/verifies.ts";

const id = "c6b62c6f-7ead-4fd6-9922-e952131177ff";

describe("words", () => {
  test.each([
    [["-p", "a", "b"], { command: "prompt", flags: { print: true }, positionals: ["a", "b"] }],
    [["a", "--print", "b"], { command: "prompt", flags: { print: true }, positionals: ["a", "b"] }],
    [["--output-format=json"], { command: "prompt", flags: { "output-format": "json" }, positionals: [] }],
    [["--output-format", "json", "x"], { flags: { "output-format": "json" }, positionals: ["x"] }],
    [["--model", "-", "x"], { flags: { model: "-" }, positionals: ["x"] }],
    [["-", "x"], { positionals: ["-", "x"] }],
    [["-p", "--", "-x", "--y"], { flags: { print: true }, positionals: ["-x", "--y"] }],
    [["--allow", "Shell(a)", "--allow=Shell(b)"], { flags: { allow: ["Shell(a)", "Shell(b)"] } }],
    [["-pf", "x"], { flags: { print: true, force: true }, positionals: ["x"] }],
    [["-fpm", "offline", "x"], { flags: { print: true, force: true, model: "offline" }, positionals: ["x"] }],
    [["a", "-", "--", "-"], { positionals: ["a", "-", "-"], textStart: 2 }],
    [["-H", "A: 1", "--header=B: 2", "x"], { flags: { header: ["A: 1", "B: 2"] }, positionals: ["x"] }],
    [["login", "anthropic"], { command: "login", positionals: ["anthropic"] }],
    [["models", "--format", "json"], { command: "models", flags: { format: "json" } }],
    [["-f", "x"], { flags: { force: true } }],
    [["--yolo", "x"], { flags: { force: true } }],
    [["--resume", id, "x"], { flags: { resume: id }, positionals: ["x"] }],
    [["--resume", "x"], { flags: { resume: "x" }, positionals: [] }],
    [["--resume", "null", "go", "on"], { flags: { resume: "null" }, positionals: ["go", "on"] }],
    [["--resume", "--", "go", "on"], { flags: { resume: "" }, positionals: ["go", "on"] }],
    [["--resume", "-"], { flags: { resume: "" }, positionals: ["-"] }],
    [["--resume", "-f", "x"], { flags: { resume: "", force: true }, positionals: ["x"] }],
    [[`--resume=${id}`], { flags: { resume: id } }],
    [["--resume"], { flags: { resume: "" } }],
    [["schema", "events"], { command: "schema", positionals: ["events"] }],
    [["show", id], { command: "show", positionals: [id] }],
    [["--verbose", "show", id], { command: "show", positionals: [id] }],
    [["-p", "show", "me"], { command: "prompt", positionals: ["show", "me"] }],
    [["-p", "export", "it"], { command: "prompt", positionals: ["export", "it"] }],
    [["tell", "serve"], { command: "prompt", positionals: ["tell", "serve"] }],
    [["--", "show"], { command: "prompt", positionals: ["show"] }],
    [["tell", "show"], { command: "prompt", positionals: ["tell", "show"] }],
    [["agent", "hello"], { command: "prompt", positionals: ["hello"] }],
    [["agent", "show"], { command: "prompt", positionals: ["show"] }],
    [["-p", "stats"], { command: "prompt", positionals: ["stats"] }],
    [["agent", "stats"], { command: "prompt", positionals: ["stats"] }],
    [["hello"], { command: "prompt", positionals: ["hello"] }],
    [[], { command: "prompt", positionals: [], flags: {} }],
  ] as const)(verifies(["C1", "C14"], "%j"), (words, expected) => {
    expect(parseArguments(words)).toMatchObject(expected);
  });

  test.each([
    [["--nope"], "unknown flag --nope"],
    [["--modle", "x"], "did you mean --mode or --model?"],
    [
      ["--disallowedTools", "x"],
      "unknown flag --disallowedTools: --exclude-tools leaves tools out, --deny refuses calls",
    ],
    [["--no-force"], "unknown flag --no-force: see sheaf help flags"],
    [["--no-sav"], "did you mean --no-save?"],
    [["-x"], "unknown flag -x"],
    [["-px"], "unknown flag -px"],
    [["-mp", "offline"], "unknown flag -mp"],
    [["shwo"], "did you mean sheaf show?"],
    [["stats"], 'For the prompt "stats" write sheaf -p -- stats'],
    [["--model"], "--model needs a value"],
    [["--model", "--force"], "--model needs a value"],
    [["--print=1"], "--print takes no value"],
    [["-p", "--resume", "", "x"], "--resume is empty"],
    [["-p", "--resume=", "x"], "--resume is empty"],
  ])(verifies("C20", "%j is a usage error"), (words, message) => {
    expect(() => parseArguments(words)).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) as string }),
    );
  });
});
