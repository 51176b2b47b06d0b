/** Flags of commands that are no prompt: what a command does not know is a usage error, never ignored (C20). */
import { SheafError } from "../base/errors.ts";
import type { ParsedArguments } from "./arguments.ts";
import { checkCommandWords } from "./command-words.ts";
import { commandDescriptions } from "./command-descriptions.ts";
import { commandNames, type CommandName } from "./command-usages.ts";
import { flags, type FlagName } from "./flags.ts";
import { promptFlags } from "./prompt-flags.ts";
import type { CliProfile } from "../output/projection.ts";

/** Flags that go with every command: a launcher may put a profile before all of them. */
const general: ReadonlySet<FlagName> = new Set(["verbose", "compat"]);

/** Commands before which clients of `cursor-agent` write flags of a prompt. */
const cursorCommands: ReadonlySet<CommandName> = new Set(["models", "mcp", "create-chat", "ls", "acp"]);

/**
 * In the profile `cursor-2026` the flags of a prompt also go with the commands of that program (C45).
 * @throws SheafError USAGE that names the first flag that is not the command's, or the words of one that takes none.
 */
export function checkCommandLine(
  { command, flags: given, positionals, textStart }: ParsedArguments,
  profile: CliProfile = "sheaf",
): void {
  if (command === "prompt" || command === "foreign") return;
  const { flags: known } = commandDescriptions[command];
  const isCursorCommand = profile === "cursor-2026" && cursorCommands.has(command);
  const isKnown = (name: FlagName): boolean =>
    general.has(name) || known.includes(name) || (isCursorCommand && promptFlags.includes(name));
  const other = (Object.keys(given) as FlagName[]).find((name) => !isKnown(name));
  if (other !== undefined) {
    const list = known.length === 0 ? "it takes none" : `it takes ${known.map((name) => `--${name}`).join(", ")}`;
    const advice =
      command === "login" && other === "api-key" ? "type the key at its prompt, or pipe it to stdin" : list;
    throw new SheafError("USAGE", `--${other} does not go with sheaf ${command}: ${advice}`);
  }
  if (textStart !== 0) checkCommandWords(command, positionals);
}

/** The value of `--format`. @throws SheafError USAGE for an unknown one. */
export function toCommandFormat(parsed: ParsedArguments): "text" | "json" {
  const { format = "text", json } = parsed.flags;
  if (json) return "json";
  if (format === "text" || format === "json") return format;
  throw new SheafError("USAGE", `--format "${format}" is unknown: use text or json`);
}

/** The one word, which names a session. @throws SheafError USAGE. */
export function toSessionWord({ command, positionals }: ParsedArguments): string {
  const [session, ...rest] = positionals;
  if (session && rest.length === 0) return session;
  throw new SheafError("USAGE", `${command} takes one session id; "${positionals.join(" ")}" was given`);
}

/** Words that name a session, and maybe a response of it. @throws SheafError USAGE. */
export function toResponseWords({ command, positionals }: ParsedArguments): {
  readonly session: string;
  readonly response: string | undefined;
} {
  const [session, response, ...rest] = positionals;
  if (session && rest.length === 0) return { session, response };
  throw new SheafError(
    "USAGE",
    `${command} takes a session id, and maybe a response id; "${positionals.join(" ")}" was given`,
  );
}

/** The part about this command, else what holds for all others; `command` undefined: for a prompt. */
export function toFlagHelp(flag: FlagName, command?: CommandName): string {
  const parts = flags[flag].help.split("; ");
  const own = parts.filter((part) => command !== undefined && toOwner(part) === command);
  if (own.length > 0) return own.map((part) => part.replace(/^[\w-]+:? /, "")).join("; ");
  return parts.filter((part) => toOwner(part) === undefined).join("; ");
}

/** `serve` of `serve: address to listen on`, `mcp` of `mcp add: address of a server`. */
function toOwner(part: string): CommandName | undefined {
  return commandNames.find((name) => part.startsWith(name) && /^( \w+)?: /.test(part.slice(name.length)));
}
