/** `sheaf completion bash|zsh|fish`: a script for the shell, made from the tables of commands and flags. */
import { SheafError } from "../../base/errors.ts";
import type { ParsedArguments } from "../arguments.ts";
import { formatBashCompletion } from "../completion/bash.ts";
import { toCompletionTable } from "../completion/completion-table.ts";
import { formatFishCompletion } from "../completion/fish.ts";
import { formatZshCompletion } from "../completion/zsh.ts";
import { printText } from "../standard-output.ts";

const shells = { bash: formatBashCompletion, zsh: formatZshCompletion, fish: formatFishCompletion } as const;

/** Prints the script. @throws SheafError USAGE for an unknown shell. */
export async function runCompletion(parsed: ParsedArguments): Promise<number> {
  const [word = "", ...rest] = parsed.positionals;
  if (rest.length > 0 || !Object.hasOwn(shells, word)) {
    const names = Object.keys(shells).join(", ");
    throw new SheafError(
      "USAGE",
      `completion takes one shell; "${parsed.positionals.join(" ")}" was given: use one of ${names}`,
    );
  }
  return printText(shells[word as keyof typeof shells](toCompletionTable()));
}
