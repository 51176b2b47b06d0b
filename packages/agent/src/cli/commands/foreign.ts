/** A command of `cursor-agent` that Sheaf needs no own for (C30). */
import { SheafError } from "../../base/errors.ts";
import type { ParsedArguments } from "../arguments.ts";
import { foreignCommands } from "../foreign-commands.ts";
import { printText } from "../standard-output.ts";

/** Prints why there is nothing to do. @throws SheafError USAGE for what Sheaf cannot do. */
export async function runForeign({ positionals: [word = ""] }: ParsedArguments): Promise<number> {
  const { text, isMissing } = foreignCommands[word]!;
  if (isMissing) throw new SheafError("USAGE", `${text}. For the prompt "${word}" write sheaf -p -- ${word}`);
  return printText(`${text}.\n`);
}
