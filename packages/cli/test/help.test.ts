/** Help and completion are made from the definitions of the commands. */
import { describe, expect, test } from "vitest";
import { commandDefinitions, commandNames, helpTopics } from "../src/command-definitions.ts";
import { formatAllFlags, formatCommands, formatHelp } from "../src/commands/help.ts";
import { completeWords } from "../src/commands/completion.ts";
import { checkCommandLine } from "../src/command-flags.ts";
import { flags, listFlags } from "../src/flags.ts";
import { parseArguments } from "../src/arguments.ts";
import { verifies } from "../../../test/support/verifies.ts";

describe("the definitions", () => {
  test.each(["prompt", ...commandNames] as const)(
    "flags of %s take values as elsewhere, and say what they do",
    (name) => {
      for (const { spellings, kind, help, ...flag } of listFlags(name)) {
        for (const spelling of spellings) expect(flags.get(spelling)).toMatchObject({ name: flag.name, kind });
        expect(help).not.toBe("");
      }
    },
  );

  test.each(commandNames)("the examples of %s are commands that it takes", (name) => {
    const { examples } = commandDefinitions[name];
    expect(examples.length).toBeGreaterThan(0);
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
    for (const spelling of flags.keys()) expect(all).toMatch(new RegExp(`^  .*${spelling}[, ]`, "m"));
  });

  test.each([help, all, formatCommands()])("fits lines of one column each, without trailing blanks", (text) => {
    expect(text).not.toMatch(/[ \t]+$/m);
    expect(text).not.toContain("undefined");
    expect(text.split("\n").filter((line) => line.length > 120)).toEqual([]);
  });

  test.each([
    ["acp", ["print", "output-format", "locale", "heartbeat", "workspace", "record", "output-schema"]],
    ["config", ["print", "output-format", "locale", "record", "output-schema"]],
  ] as const)("%s has no flag that means nothing there", (command, meaningless: readonly string[]) => {
    expect(listFlags(command).filter(({ name }) => meaningless.includes(name))).toEqual([]);
    expect(() => {
      checkCommandLine(parseArguments([command, "--locale", "de"]));
    }).toThrow(`--locale does not go with sheaf ${command}`);
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
    expect([...flags.keys()].filter((spelling) => !found.has(spelling))).toEqual([]);
  });

  test.each([
    ["--mode ", "agent plan ask debug"],
    ["serve --mode=p", "--mode=agent --mode=plan --mode=ask --mode=debug"],
    ["--workspace ", "folder"],
    ["-p --record-body ", "file"],
    ["--api-key ", ""],
    ["--print ", "file"],
    ["-p show ", "file"],
    ["show -- --mo", "file"],
    ["--resume ", "session"],
    ["help ", [...helpTopics, ...commandNames].join(" ")],
    ["export --format ", "json markdown"],
    ["store ", "check migrate vacuum copy"],
    ["mcp ", commandDefinitions.mcp.actions!.join(" ")],
    ["acp ", "login"],
    ["import ", "file"],
    ["trust ", "folder"],
    ["rm ", "session"],
    ["ls ", ""],
  ])("%j", (line, expected) => {
    expect(toWords(...line.split(" ")).join(" ")).toBe(expected);
  });
});
