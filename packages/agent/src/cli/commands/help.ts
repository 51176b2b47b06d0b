/** `sheaf --help`, `sheaf help COMMAND`, `sheaf COMMAND --help`. */
import { SheafError } from "../../base/errors.ts";
import { sheafVersion } from "../../base/version.ts";
import type { ParsedArguments } from "../arguments.ts";
import { commandDescriptions, commandNames, type CommandName } from "../command-descriptions.ts";
import { toFlagHelp } from "../command-flags.ts";
import { flags, type Flag, type FlagName } from "../flags.ts";
import { printText } from "../standard-output.ts";
import { commonFlags, generalFlags, promptFlags } from "../prompt-flags.ts";

const head = `sheaf ${sheafVersion}: a coding agent whose answer is a sheaf of typed documents

Usage
  sheaf [flags] [PROMPT…]       open a conversation in this terminal
  sheaf -p [flags] PROMPT…      answer one prompt and exit
  COMMAND | sheaf -p [flags]    take the prompt, or context for it, from stdin
  sheaf COMMAND …               one of the commands below; sheaf help COMMAND describes it

`;

const tail = `
With a prompt, stdin is context. A pipe that stays silent for 3 s is skipped, with a notice; the word "-" waits for it.

Models
  anthropic/ID, openai/ID, openai-chat/ID, google/ID, openrouter/ID: key from the environment, --api-key or sheaf login
  ollama/ID, lmstudio/ID, llamacpp/ID, vllm/ID, openai-compatible/ID with --base-url; offline; scripted:FILE

Exit codes
  0 success   1 internal   2 usage   3 credentials   4 refused by the provider   5 provider unreachable
  6 unusable answer   7 budget   8 permission needed   9 storage   10 questions to answer   129, 130, 143 signals

Examples
  sheaf -p --model offline "Read README.md and create a summary in summary.txt"
  git diff | sheaf -p --model offline --output-format text "summarise this"
  sheaf -p --model scripted:run.json --output-format documents "go"
`;

/** Prints the requested help. @throws SheafError USAGE for an unknown command. */
export async function runHelp({ command, positionals }: ParsedArguments): Promise<number> {
  const [word] = command === "help" ? positionals : command === "prompt" ? [] : [command];
  if (word === undefined) return printText(formatHelp());
  const name = commandNames.find((candidate) => candidate === word);
  if (!name) {
    throw new SheafError("USAGE", `there is no command "${word}": the commands are ${commandNames.join(", ")}`);
  }
  return printText(formatCommandHelp(name));
}

/** All commands, and the flags of a prompt. */
export function formatHelp(): string {
  const commands = commandNames.map((name) => {
    const { usage, summary } = commandDescriptions[name];
    return [`${name} ${usage}`.trim(), summary] as const;
  });
  const common = [...promptFlags, ...generalFlags];
  const others = (Object.keys(flags) as FlagName[]).filter((name) => !common.includes(name));
  const parts = [
    "Commands",
    formatRows(commands),
    "Flags",
    formatRows(common.map((flag) => [toSpelling(flag), toFlagHelp(flag)] as const)),
    "Flags of commands",
    formatFlags(others),
  ];
  return `${head}${parts.join("\n")}${tail}`;
}

function formatCommandHelp(name: CommandName): string {
  const { usage, summary, flags: own, examples, notes = [] } = commandDescriptions[name];
  const parts = [
    `sheaf ${name} ${usage}`.trim(),
    `  ${summary}.`,
    ...notes.map((note) => `  ${note}`),
    "",
    "Flags",
    formatRows([...own, ...commonFlags].map((flag) => [toSpelling(flag), toFlagHelp(flag, name)] as const)),
    "Examples",
    ...examples.map((example) => `  sheaf ${example}`),
  ];
  return `${parts.join("\n")}\n`;
}

function formatFlags(names: readonly FlagName[]): string {
  return formatRows(names.map((name) => [toSpelling(name), flags[name].help] as const));
}

function toSpelling(name: FlagName): string {
  const { aliases = [], placeholder }: Flag = flags[name];
  const spelling = [...aliases, `--${name}`].join(", ");
  return placeholder ? `${spelling} ${placeholder}` : spelling;
}

function formatRows(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join("");
}
