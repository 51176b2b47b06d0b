/** `sheaf create-chat`: the id of a session to begin; the first prompt with `--resume ID` makes it (C14). */
import type { ParsedArguments } from "../arguments.ts";
import { checkFlags } from "../command-flags.ts";
import { printText } from "../print-text.ts";
import { checkNoWords } from "../words.ts";

/** Prints a UUID. @throws SheafError USAGE. */
export async function runCreateChat(parsed: ParsedArguments): Promise<number> {
  checkFlags(parsed);
  checkNoWords(parsed);
  return printText(`${process.getBuiltinModule("node:crypto").randomUUID()}\n`);
}
