/** `sheaf --help`, `sheaf help flags`, `sheaf help COMMAND`, `sheaf COMMAND --help` (C58). */
import { SheafError } from "@sheaf/base/errors";
import { sheafVersion } from "@sheaf/base/version";
import type { ParsedArguments } from "../arguments.ts";
import { commandDefinitions, commandNames, helpTopics, type CommandName } from "../command-definitions.ts";
import type { CommandIo } from "../io.ts";
import { listFlags, type Flag, type FlagName } from "../flags.ts";
import { printText } from "../standard-output.ts";

const head = `sheaf ${sheafVersion}: a coding agent whose answer is a sheaf of typed documents

Usage
  sheaf [flags] [PROMPT…]     Open a conversation in this terminal
  sheaf -p [flags] PROMPT…    Answer one prompt and exit; stdin is context
  sheaf COMMAND …             Run a command

Common flags
`;

/** Flags of most prompts, in the order of the help. */
const common: readonly FlagName[] = [
  "print",
  "model",
  "output-format",
  "mode",
  "force",
  "allow",
  "workspace",
  "resume",
  "continue",
  "output-schema",
  "max-cost-usd",
  "timeout",
];

const groups: readonly (readonly [string, readonly CommandName[]])[] = [
  ["Set up", ["demo", "login", "logout", "models", "doctor", "config"]],
  ["Sessions", ["ls", "show", "diff", "answer", "fork", "export", "import", "rm", "usage"]],
  ["Files", ["blame", "revert"]],
  ["Permissions", ["permissions", "trust", "mcp", "hooks"]],
  ["Instructions", ["skills"]],
  ["Programs", ["serve", "store", "acp", "convert", "test", "review", "schema", "create-chat"]],
  ["Shell", ["completion", "install-alias", "help"]],
];

const tail = `
More help
  sheaf help flags            All flags, the models, and the exit codes
  sheaf help commands         All commands, a line each
  sheaf help COMMAND          One command, with its flags and examples
`;

const flagsTail = `
With a prompt, stdin is context. A pipe that stays silent for 3 s is skipped, with a notice; the word "-" waits for it.

Models
  anthropic/ID, openai/ID, openai-chat/ID, google/ID, openrouter/ID: key from the environment, --api-key or sheaf login
  ollama/ID, lmstudio/ID, llamacpp/ID, vllm/ID, openai-compatible/ID with --base-url; offline; scripted:FILE
  SHEAF_MODEL, or "model" in your configuration, applies without --model.

Exit codes
  0 success   1 internal   2 usage   3 credentials   4 refused by the provider   5 provider unreachable
  6 unusable answer   7 budget   8 permission needed   9 storage   10 questions to answer   11 a check failed
  129 to 143 signals

Examples
  sheaf -p --model offline "Read README.md and create a summary in summary.txt"
  cat CHANGELOG.md | sheaf -p --model offline --output-format text "summarise this"
  sheaf -p --model scripted:run.json --output-format documents "go"
`;

const topics = { commands: formatCommands, flags: formatAllFlags } as const;

/** Prints the requested help. @throws SheafError USAGE for an unknown command. */
export async function runHelp({ command, positionals }: ParsedArguments, io: CommandIo): Promise<number> {
  const [word] = command === "help" ? positionals : command === "prompt" ? [] : [command];
  if (word === undefined) return printText(io, formatHelp());
  const topic = helpTopics.find((candidate) => candidate === word);
  if (topic) return printText(io, topics[topic]());
  const name = commandNames.find((candidate) => candidate === word);
  if (!name) {
    throw new SheafError("USAGE", `there is no command "${word}": run sheaf help commands to list them`);
  }
  return printText(io, formatCommandHelp(name));
}

/** Returns one screen of help: the most frequent flags, and the commands for more (C58). */
export function formatHelp(): string {
  const commands = groups.map(([name, commandsOf]) => `  ${name.padEnd(13)}${commandsOf.join(", ")}\n`);
  const flags = common.map((name) => listFlags("prompt").find((flag) => flag.name === name)!);
  return `${head}${formatFlags(flags)}\nCommands\n${commands.join("")}${tail}`;
}

/** Returns all commands, a line each. */
export function formatCommands(): string {
  const rows = commandNames.map((name) => [toUsage(name), commandDefinitions[name].summary] as const);
  return `Commands\n${formatRows(rows)}`;
}

/** Returns the flags of a prompt, then the other flags of each command. */
export function formatAllFlags(): string {
  const own = listFlags("prompt");
  const others = commandNames.flatMap((command) => {
    const flags = listFlags(command).filter(({ name }) => !own.some((flag) => flag.name === name));
    return flags.length === 0 ? [] : [`\nFlags of sheaf ${command}\n${formatFlags(flags)}`];
  });
  return `Flags\n${formatFlags(own)}${others.join("")}${flagsTail}`;
}

function formatCommandHelp(name: CommandName): string {
  const { summary, examples, notes = [] } = commandDefinitions[name];
  const parts = [
    `sheaf ${toUsage(name)}`,
    `  ${summary}.`,
    ...notes.map((note) => `  ${note}`),
    "",
    "Flags",
    formatFlags(listFlags(name)),
    "Examples",
    ...examples.map((example) => `  sheaf ${example}`),
  ];
  return `${parts.join("\n")}\n`;
}

function toUsage(name: CommandName): string {
  return `${name} ${commandDefinitions[name].usage ?? ""}`.trim();
}

function formatFlags(flags: readonly Flag[]): string {
  return formatRows(flags.map(({ usage, help }) => [usage, help]));
}

function formatRows(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join("");
}
