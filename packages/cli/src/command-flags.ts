/** Flags of commands: an unknown flag is always a usage error (C20). */
import { quoteValue, SheafError } from "@sheaf/base/errors";
import type { ParsedArguments } from "./arguments.ts";
import { checkCommandWords } from "./command-words.ts";
import { commandNames, type CommandName } from "./command-definitions.ts";
import { listFlags, type FlagName } from "./flags.ts";
import type { CliDialect } from "./dialects/dialect.ts";

/**
 * Checks flags and words. In some dialects, a prompt's flags are allowed for other commands (C45).
 * @throws SheafError USAGE for the first wrong flag, with the commands that have it, or for the words of the command.
 */
export function checkCommandLine(
  { command, flags: given, positionals, textStart }: ParsedArguments,
  { promptFlagCommands }: Pick<CliDialect, "promptFlagCommands"> = {},
): void {
  if (command === "foreign") return;
  const mayBePrompt = command !== "prompt" && promptFlagCommands?.has(command) === true;
  // A launcher can put --compat before every command.
  const isKnown = (name: FlagName): boolean =>
    name === "compat" || takesFlag(command, name) || (mayBePrompt && takesFlag("prompt", name));
  const other = (Object.keys(given) as FlagName[]).find((name) => !isKnown(name));
  if (other !== undefined) {
    const place = toPlace(command);
    throw new SheafError("USAGE", `--${other} does not go with ${place}: ${adviseOnFlag(command, other)}`);
  }
  // `sheaf completion -- WORD…` has the words of another command line.
  if (command !== "prompt" && !(command === "completion" && textStart === 0)) checkCommandWords(command, positionals);
}

function takesFlag(command: CommandName | "prompt", name: FlagName): boolean {
  return listFlags(command).some((flag) => flag.name === name);
}

function toPlace(command: CommandName | "prompt"): string {
  return command === "prompt" ? "a prompt" : `sheaf ${command}`;
}

function adviseOnFlag(command: CommandName | "prompt", name: FlagName): string {
  if (command === "prompt" && (name === "format" || name === "json")) return "use --output-format";
  if (command === "login" && name === "api-key") return "type the key at its prompt, or pipe it to stdin";
  const owners = (["prompt", ...commandNames] as const).filter((owner) => takesFlag(owner, name)).map(toPlace);
  const list = owners.length > 2 ? `${owners.slice(0, 2).join(", ")} and others` : owners.join(" and ");
  return `it belongs to ${list} (see sheaf help ${command === "prompt" ? "flags" : command})`;
}

/** Returns the value of `--format`. @throws SheafError USAGE for an unknown one. */
export function toCommandFormat(parsed: ParsedArguments): "text" | "json" {
  const { format = "text", json } = parsed.flags;
  return json ? "json" : chooseWord("--format", format, ["text", "json"], "text or json");
}

/** Returns the value of a flag that takes one of a few words. @throws SheafError USAGE for any other value. */
export function chooseWord<Word extends string>(
  flag: string,
  value: string,
  words: readonly Word[],
  advice = `one of ${words.join(", ")}`,
): Word {
  const word = words.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  throw new SheafError("USAGE", `${flag} ${quoteValue(value)} is unknown: use ${advice}`);
}

/** Returns a flag's whole number. `rule`: follows "is not". @throws SheafError USAGE for any other value. */
export function readNumberFlag(
  flag: FlagName,
  value: string | undefined,
  [least, most]: readonly [least: number, most: number],
  rule = `a whole number from ${least} to ${most}`,
): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value);
  throw new SheafError("USAGE", `--${flag} ${quoteValue(value)} is not ${rule}`);
}
