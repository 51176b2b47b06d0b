/** `sheaf --help`, `sheaf help flags`, `sheaf help COMMAND`, `sheaf COMMAND --help` (C58). */
import { SheafError } from "../../base/errors.ts";
import { sheafVersion } from "../../base/version.ts";
import type { ParsedArguments } from "../arguments.ts";
import { commandDescriptions, helpTopics, type HelpTopic } from "../command-descriptions.ts";
import { commandNames, commandUsages, type CommandName } from "../command-usages.ts";
import { toFlagHelp } from "../command-flags.ts";
import { flags, type FlagName } from "../flags.ts";
import { printText } from "../standard-output.ts";
import { commonFlags, generalFlags, promptFlags } from "../prompt-flags.ts";

const head = `sheaf ${sheafVersion}: a coding agent whose answer is a sheaf of typed documents

Usage
  sheaf [flags] [PROMPT…]     Open a conversation in this terminal
  sheaf -p [flags] PROMPT…    Answer one prompt and exit; stdin is context
  sheaf COMMAND …             Run a command

Common flags
`;

/** What most prompts need, in the order of the help. */
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
  ["Set up", ["login", "logout", "models", "doctor", "config"]],
  ["Sessions", ["ls", "show", "answer", "fork", "export", "import", "rm", "usage"]],
  ["Files", ["revert", "worktrees"]],
  ["Permissions", ["permissions", "trust", "mcp", "hooks"]],
  ["Instructions", ["skills"]],
  ["Programs", ["serve", "store", "acp", "convert", "replay", "schema", "create-chat"]],
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

Exit codes
  0 success   1 internal   2 usage   3 credentials   4 refused by the provider   5 provider unreachable
  6 unusable answer   7 budget   8 permission needed   9 storage   10 questions to answer   129, 130, 143 signals

Examples
  sheaf -p --model offline "Read README.md and create a summary in summary.txt"
  cat CHANGELOG.md | sheaf -p --model offline --output-format text "summarise this"
  sheaf -p --model scripted:run.json --output-format documents "go"
`;

const topics: Readonly<Record<HelpTopic, () => string>> = { commands: formatCommands, flags: formatAllFlags };

/** Prints the requested help. @throws SheafError USAGE for an unknown command. */
export async function runHelp({ command, positionals }: ParsedArguments): Promise<number> {
  const [word] = command === "help" ? positionals : command === "prompt" ? [] : [command];
  if (word === undefined) return printText(formatHelp());
  const topic = helpTopics.find((candidate) => candidate === word);
  if (topic) return printText(topics[topic]());
  const name = commandNames.find((candidate) => candidate === word);
  if (!name) {
    const known = [...helpTopics, ...commandNames].join(", ");
    throw new SheafError("USAGE", `there is no command "${word}": sheaf help takes one of ${known}`);
  }
  return printText(formatCommandHelp(name));
}

/** One screen: what most prompts need, and where the rest is (C58). */
export function formatHelp(): string {
  const commands = groups.map(([name, commandsOf]) => `  ${name.padEnd(13)}${commandsOf.join(", ")}\n`);
  return `${head}${formatFlags(common)}\nCommands\n${commands.join("")}${tail}`;
}

/** All commands, a line each. */
export function formatCommands(): string {
  const rows = commandNames.map((name) => {
    return [`${name} ${commandUsages[name]}`.trim(), commandDescriptions[name].summary] as const;
  });
  return `Commands\n${formatRows(rows)}`;
}

/** All flags: those of a prompt, then those of commands. */
export function formatAllFlags(): string {
  const own = [...promptFlags, ...generalFlags];
  const others = (Object.keys(flags) as FlagName[]).filter((name) => !own.includes(name));
  const otherRows = others.map((name) => [flags[name].usage, flags[name].help] as const);
  return `Flags\n${formatFlags(own)}\nFlags of commands\n${formatRows(otherRows)}${flagsTail}`;
}

function formatCommandHelp(name: CommandName): string {
  const { summary, flags: own, examples, notes = [] } = commandDescriptions[name];
  const parts = [
    `sheaf ${name} ${commandUsages[name]}`.trim(),
    `  ${summary}.`,
    ...notes.map((note) => `  ${note}`),
    "",
    "Flags",
    formatFlags([...own, ...commonFlags], name),
    "Examples",
    ...examples.map((example) => `  sheaf ${example}`),
  ];
  return `${parts.join("\n")}\n`;
}

function formatFlags(names: readonly FlagName[], command?: CommandName): string {
  return formatRows(names.map((name) => [flags[name].usage, toFlagHelp(name, command)] as const));
}

function formatRows(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join("");
}
