/** The words behind a command's name. */
import { SheafError } from "../base/errors.ts";
import { isUuid, type ParsedArguments } from "./arguments.ts";

/** @throws SheafError USAGE when there are words. */
export function checkNoWords({ command, positionals }: ParsedArguments): void {
  if (positionals.length === 0) return;
  throw new SheafError("USAGE", `${command} takes no words; "${positionals.join(" ")}" was given`);
}

/** The id of the conversation that the one word names, `conv_<uuid>`. @throws SheafError USAGE. */
export function toSessionWord({ command, positionals }: ParsedArguments): string {
  const [session = "", ...rest] = positionals;
  if (rest.length === 0 && isUuid(session)) return `conv_${session.toLowerCase()}`;
  throw new SheafError("USAGE", `${command} takes one session id, a UUID; "${positionals.join(" ")}" was given`);
}
