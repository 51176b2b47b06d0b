/** The prompt: words of the command line, stdin, or both (C1). */
import { SheafError } from "../base/errors.ts";
import type { ParsedArguments } from "./arguments.ts";
import { readStandardInput, type InputKind } from "./standard-input.ts";

/**
 * `-` or no word: stdin to its end; behind `--` it is a word like any other. Words beside a piped stdin: both, stdin
 * first, as context.
 * @throws SheafError USAGE when there is no prompt.
 */
export async function readPrompt(
  { positionals, textStart = positionals.length }: ParsedArguments,
  input: InputKind,
  signal: AbortSignal,
): Promise<string> {
  const isInput = (word: string, index: number): boolean => word === "-" && index < textStart;
  const text = positionals
    .filter((word, index) => !isInput(word, index))
    .join(" ")
    .trim();
  const readsToEnd = text === "" || positionals.some(isInput);
  if (text === "" && input === "terminal") {
    throw new SheafError("USAGE", 'no prompt was given: write sheaf -p "your prompt", or pipe it to stdin');
  }
  const context =
    input === "none" || (input === "terminal" && !readsToEnd)
      ? ""
      : await readStandardInput(process.stdin, {
          waitsForFirstByte: readsToEnd || input === "file",
          signal,
        });
  const prompt = [context.trimEnd(), text].filter((part) => part !== "").join("\n\n");
  // A run that was cancelled while it read stdin has the log of a cancelled run.
  if (prompt.trim() === "" && !signal.aborted) {
    throw new SheafError("USAGE", 'the prompt is empty: write sheaf -p "your prompt", or pipe it to stdin');
  }
  return prompt;
}
