/** Words that may be a command or a prompt. */
import { describe, expect, test } from "vitest";
import { parseArguments } from "../src/arguments.ts";
import { checkCommandLine } from "../src/command-flags.ts";
import { commandNames } from "../src/command-definitions.ts";
import { runCursorCommand } from "../src/commands/cursor-command.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createMemoryPorts } from "../../../test/support/memory-ports.ts";
import { sheafDialect } from "../src/dialects/sheaf/sheaf.ts";

const id = "c6b62c6f-7ead-4fd6-9922-e952131177ff";
const parse = (line: string) => {
  const parsed = parseArguments(line.split(" "));
  checkCommandLine(parsed);
  return parsed;
};
const io = { environment: {}, cwd: "/", dialect: sheafDialect, ...createMemoryPorts() } as const;
const usage = (message: string): unknown =>
  expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) as string });

describe("a first word that is nearly a command", () => {
  test.each([
    ["sesions", "sheaf ls?"],
    ["sessions", "sheaf ls?"],
    ["list", "sheaf ls?"],
    ["udpate", "sheaf update?"],
    ["vesion", "sheaf version?"],
    ["resmue", "sheaf resume?"],
    ["shwo c6b62c6f", "sheaf show c6b62c6f?"],
    [`exprot ${id} --output x.json`, `sheaf export ${id}?`],
    ["comletion bash", "sheaf completion bash?"],
    ["mpc list", "sheaf mcp list?"],
    ["lgoin anthropic", "sheaf login anthropic?"],
  ])(verifies(["C20", "C32"], "%s costs nothing, and the message has both ways to write it"), (line, command) => {
    const words = line.replace(/ --.*/, "");
    expect(() => parse(line)).toThrow(
      usage(`did you mean ${command} For the prompt "${words}" write sheaf -p -- ${words}`),
    );
    expect(parse(`-p ${words}`)).toMatchObject({ command: "prompt", positionals: words.split(" ") });
    expect(parse(`-p -- ${words}`)).toMatchObject({ command: "prompt", positionals: words.split(" ") });
  });

  test.each([
    "hello",
    "how does it work",
    "server crashes at the start",
    "list all files",
    "update the readme",
    "upgrade to Node 24",
    "resume the work",
    "rule out the cache",
    "version it",
    "help",
    "imports are slow here",
  ])(verifies("C32", "%s is what it says"), (line) => {
    expect(parse(line)).toMatchObject(line === "help" ? { command: "help" } : { command: "prompt", flags: {} });
  });
});

describe("a command before words that do not fit", () => {
  test.each([
    ["show me the bug", 'show takes SESSION, but got "me the bug".'],
    ["export the table as csv", 'export takes SESSION, but got "the table as csv".'],
    ["fork the repository", "fork takes SESSION [RESPONSE]"],
    ["rm all of it", "rm takes SESSION…"],
    ["ls now", 'ls takes no words, but got "now".'],
    ["import the data from csv", "import takes FILE"],
    ["help me with this", "help takes [COMMAND]"],
    ["serve the page", "serve takes no words"],
    ["answer the question", "answer takes SESSION"],
    ["permissions are wrong", "permissions takes explain | check"],
  ])(verifies(["C20", "C32"], "%s is no prompt by accident, and the message has both ways"), (line, message) => {
    const check = () => {
      checkCommandLine(parseArguments(line.split(" ")));
    };
    expect(check).toThrow(usage(message));
    expect(check).toThrow(usage(`For the prompt "${line}" write sheaf -p -- ${line}`));
  });

  test("a key in the wrong place is not repeated", () => {
    expect(() => parse("login anthropic CANARY")).not.toThrow(/CANARY/);
  });

  test.each([
    `show ${id}`,
    `fork ${id} b1f7`,
    `rm c6b6 ${id} conv_${id}`,
    `answer ${id} a=b c=d`,
    "permissions check",
    "schema events",
    "completion zsh",
    "help",
    "install-alias bin --as agent",
    "mcp add files -- npx -y x",
  ])("%s fits", (line) => {
    expect(parse(line).command).toBe(line.split(" ")[0]);
  });
});

describe("commands of cursor-agent", () => {
  test(verifies(["C14", "C30", "C32"], "resume is --resume; version is --version"), () => {
    expect(parse("resume")).toMatchObject({ command: "prompt", flags: { resume: "" }, positionals: [] });
    expect(parse(`resume ${id} go on`)).toMatchObject({ flags: { resume: id }, positionals: ["go", "on"] });
    expect(parse("resume -p go")).toMatchObject({ flags: { resume: "", print: true }, positionals: ["go"] });
    expect(parse("-p resume")).toMatchObject({ flags: { print: true }, positionals: ["resume"] });
    expect(parse("version")).toMatchObject({ flags: { version: true } });
  });

  test.each(["update", "upgrade", "install-shell-integration", "uninstall-shell-integration", "generate-rule", "rule"])(
    verifies(["C30", "C32"], "%s alone is not needed; it is no prompt"),
    (word) => {
      expect(parse(word)).toMatchObject({ command: "foreign", positionals: [word] });
      expect(parse(`agent ${word}`)).toMatchObject({ command: "prompt", positionals: [word] });
    },
  );

  test.each(["persist", "plugin", "worker", "bedrock", "status", "whoami", "about"])(
    verifies(["C20", "C30", "C32"], "%s alone is a usage error that says what to write"),
    async (word) => {
      await expect(runCursorCommand(parse(word), io)).rejects.toThrow(usage(`write sheaf -p -- ${word}`));
    },
  );

  test("none of them has the name of a command", () => {
    for (const name of commandNames) expect(parseArguments([name]).command).toBe(name);
  });
});
