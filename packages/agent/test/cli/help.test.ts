/** Help and completion are made from one table of commands and one of flags, which must fit together. */
import { describe, expect, test } from "vitest";
import { commandDescriptions, helpTopics } from "../../src/cli/command-descriptions.ts";
import { commandNames } from "../../src/cli/command-usages.ts";
import { formatAllFlags, formatCommands, formatHelp } from "../../src/cli/commands/help.ts";
import { completeWords } from "../../src/cli/complete-words.ts";
import { checkCommandLine, toFlagHelp } from "../../src/cli/command-flags.ts";
import { flags, type FlagName } from "../../src/cli/flags.ts";
import { commonFlags, generalFlags, promptFlags } from "../../src/cli/prompt-flags.ts";
import { parseArguments } from "../../src/cli/arguments.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const flagNames = Object.keys(flags) as FlagName[];

describe("the tables", () => {
  test.each(flagNames)("--%s goes with a prompt or with a command", (name) => {
    const owners = commandNames.filter((command) => commandDescriptions[command].flags.includes(name));
    expect([...promptFlags, ...generalFlags].includes(name) || owners.length > 0).toBe(true);
  });

  test("no flag has two names, no spelling two flags", () => {
    const spellings = flagNames.flatMap((name) => flags[name].spellings);
    expect(new Set(spellings).size).toBe(spellings.length);
  });

  test.each(commandNames)("the examples of %s are commands that it takes", (name) => {
    const { examples, flags: own } = commandDescriptions[name];
    expect(examples.length).toBeGreaterThan(0);
    expect(new Set(own).size).toBe(own.length);
    for (const example of examples) {
      // As far as the shell's redirection.
      const words = example.replace(/ [<>].*$/, "").match(/"[^"]*"|'[^']*'|\S+/g)!;
      const parsed = parseArguments(words.map((word) => word.replaceAll(/["']/g, "")));
      expect(parsed.command).toBe(name);
      expect(() => checkCommandLine(parsed)).not.toThrow();
    }
  });
});

describe("the help", () => {
  const help = formatHelp();
  const all = formatAllFlags();

  test(verifies("C58", "is one screen: common flags first, then every command, then where the rest is"), () => {
    const lines = help.split("\n");
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(help.indexOf("Common flags")).toBeLessThan(help.indexOf("Commands"));
    const words = new Set(help.slice(help.indexOf("Commands")).match(/[a-z][a-z-]+/g));
    expect(commandNames.filter((name) => !words.has(name))).toEqual([]);
    for (const topic of [...helpTopics, "COMMAND"]) expect(help).toContain(`\n  sheaf help ${topic} `);
  });

  test(verifies("C58", "its topics name every command, every flag and every other spelling"), () => {
    for (const name of commandNames) expect(formatCommands()).toContain(`\n  ${name} `);
    for (const name of flagNames) expect(all).toContain(`\n  ${flags[name].usage} `);
  });

  test.each([help, all, formatCommands()])("fits lines of one column each, without trailing blanks", (text) => {
    expect(text).not.toMatch(/[ \t]+$/m);
    expect(text).not.toContain("undefined");
    expect(text.split("\n").filter((line) => line.length > 120)).toEqual([]);
  });

  test.each([
    ["header", undefined, /^Header of each model request/],
    ["header", "mcp", /^add: header of each request to the server/],
    ["force", undefined, /^Run every command/],
    ["force", "models", /^Run every command/],
  ] as const)("--%s, of the command %s", (flag, command, expected) => {
    const text = toFlagHelp(flag, command);
    expect(text).toMatch(expected);
    expect(text).not.toMatch(/\bmcp add:/);
  });

  test.each([
    ["acp", ["print", "output-format", "locale", "heartbeat", "workspace", "record", "output-schema"]],
    ["config", ["print", "output-format", "locale", "record", "output-schema"]],
  ] as const)("%s has no flag that means nothing there", (command, meaningless) => {
    const { flags: own } = commandDescriptions[command];
    expect(own.filter((flag) => (meaningless as readonly string[]).includes(flag))).toEqual([]);
    expect(() => {
      checkCommandLine(parseArguments([command, "--locale", "de"]));
    }).toThrow(`--locale does not go with sheaf ${command}`);
  });

  test.each(commandNames)("each flag of %s says what it does there", (name) => {
    for (const flag of [...commandDescriptions[name].flags, ...commonFlags])
      expect(toFlagHelp(flag, name)).not.toBe("");
  });
});

describe("completion", () => {
  const toWords = (...words: readonly string[]): readonly string[] => {
    const completion = completeWords(words);
    return completion.kind === "words" ? completion.rows.map(([word]) => word) : [completion.kind];
  };

  test("has every command, and every spelling of every flag", () => {
    expect(toWords("")).toEqual([...commandNames]);
    const found = new Set(["", ...commandNames].flatMap((command) => toWords(...(command ? [command] : []), "-")));
    expect(flagNames.flatMap((name) => flags[name].spellings).filter((spelling) => !found.has(spelling))).toEqual([]);
  });

  test.each([
    [
      ["--mode", ""],
      ["agent", "plan", "ask", "debug"],
    ],
    [
      ["serve", "--mode=p"],
      ["--mode=agent", "--mode=plan", "--mode=ask", "--mode=debug"],
    ],
    [["--workspace", ""], ["folder"]],
    [["-p", "--record", ""], ["file"]],
    [["--api-key", ""], []],
    [["--print", ""], ["file"]],
    [["-p", "show", ""], ["file"]],
    [["show", "--", "--mo"], ["file"]],
    [["--resume", ""], ["session"]],
    [
      ["help", ""],
      [...helpTopics, ...commandNames],
    ],
    [["import", ""], ["file"]],
    [["trust", ""], ["folder"]],
    [["rm", ""], ["session"]],
    [["ls", ""], []],
  ])("%j", (words, expected) => {
    expect(toWords(...words)).toEqual(expected);
  });
});
