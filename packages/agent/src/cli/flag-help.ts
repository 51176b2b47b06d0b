/** What a flag does in one command: its help text has a part of its own for each command in which it differs. */
import { commandNames, type CommandName } from "./arguments.ts";
import { flags, type FlagName } from "./flags.ts";

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
