import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseArguments } from "../src/arguments.ts";
import { readPromptTexts, toAllowRules, toToolChoice } from "../src/run-config.ts";
import { isChosen, toDefinitions } from "@sheaf/agent/tools/registry";
import { verifies } from "../../../test/support/verifies.ts";

const folder = mkdtempSync(join(tmpdir(), "sheaf-choice-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const toFlags = (...words: readonly string[]) => parseArguments(["-p", ...words, "go"]).flags;
const usage = (text: string): unknown =>
  expect.objectContaining({ code: "USAGE", message: expect.stringContaining(text) as string });

describe("the choice of tools", () => {
  const list = (...words: readonly string[]): readonly string[] =>
    toDefinitions({ mode: "agent", hasPlan: false, choice: toToolChoice(toFlags(...words)) }).map(({ name }) => name);

  test.each([
    ["--tools=read_file,grep_search", "read_file grep_search"],
    ["--tools=read_file list_dir", "read_file list_dir"],
    ["--tools=read_*", "read_file read_terminal"],
    ["--tools=", ""],
  ])(verifies("C46", "%s"), (flag, names) => {
    expect(list(flag).join(" ")).toBe(names);
  });

  test(verifies("C46", "without what is excluded; a mode still decides first"), () => {
    expect(list("--exclude-tools", "run_terminal_cmd")).toEqual(list().filter((name) => name !== "run_terminal_cmd"));
    expect(list("--tools=read_file list_dir", "--exclude-tools=list_dir")).toEqual(["read_file"]);
    const choice = toToolChoice(toFlags("--tools", "write_file,read_file"));
    expect(toDefinitions({ mode: "ask", hasPlan: false, choice }).map(({ name }) => name)).toEqual(["read_file"]);
    expect(isChosen("mcp__math__add", toToolChoice(toFlags("--tools", "mcp__math__*")))).toBe(true);
  });

  test.each(["--tools", "--exclude-tools", "--allowed-tools"])(
    verifies(["C20", "C46"], "%s with a name that no tool has is a usage error"),
    (flag) => {
      const choose = () => [toToolChoice(toFlags(flag, "read_fil")), toAllowRules(toFlags(flag, "read_fil"))];
      expect(choose).toThrow(usage(`${flag}: the tool "read_fil" is unknown: did you mean read_file`));
    },
  );

  test(verifies("C46", "rules in one list, with commas of their own"), () => {
    const words = "Shell(npm test), Read(src/{a,b}),run_terminal_cmd mcp__math__add,read_file,mcp__math__*";
    expect(toAllowRules(toFlags("--allowed-tools", words))).toEqual([
      "Shell(npm test)",
      "Read(src/{a,b})",
      "Shell(*)",
      "Mcp(math:add)",
      "Mcp(math:*)",
    ]);
    expect(toAllowRules(toFlags())).toEqual([]);
  });
});

describe("texts of the system prompt", () => {
  test(verifies("C46", "the file follows the text; nothing given is nothing"), () => {
    writeFileSync(join(folder, "more.md"), "From a file.");
    const words = ["--append-system-prompt", "Be brief.", "--append-system-prompt-file", "more.md"];
    expect(readPromptTexts(toFlags(...words, "--system-prompt=You review."), folder)).toEqual({
      basePrompt: "You review.",
      systemPrompt: "Be brief.\n\nFrom a file.",
    });
    expect(readPromptTexts(toFlags("--append-system-prompt", " "), folder)).toEqual({});
  });

  test.each([
    ["--system-prompt= ", "--system-prompt is empty"],
    ["--append-system-prompt-file=none.md", "none.md does not exist"],
    ["--append-system-prompt-file=dir", "is not a file"],
    ["--append-system-prompt-file=large", "is larger than"],
    ["--append-system-prompt-file=latin", "not UTF-8"],
  ])(verifies(["C20", "C46"], "%s is a usage error"), (word, message) => {
    mkdirSync(join(folder, "dir"), { recursive: true });
    writeFileSync(join(folder, "large"), "a".repeat(300 * 1024));
    writeFileSync(join(folder, "latin"), Buffer.from([0xe4, 0x20]));
    expect(() => readPromptTexts(toFlags(word), folder)).toThrow(usage(message));
  });
});
