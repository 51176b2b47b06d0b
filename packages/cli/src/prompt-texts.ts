/** What the caller puts into the system prompt (C46). */
import { resolve } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { readOrdinaryFile } from "@sheaf/base/read-ordinary-file";
import type { FlagValues } from "./flags.ts";

/** Largest file that is read. Bytes. */
const MAX_BYTES = 256 * 1024;

export interface PromptTexts {
  /** In place of Sheaf's own instructions. */
  readonly basePrompt?: string;
  /** The end of the prompt. */
  readonly systemPrompt?: string;
}

/** @throws SheafError USAGE for a text that is empty, and a file that cannot be read. */
export function readPromptTexts(flags: FlagValues, cwd: string): PromptTexts {
  const { "system-prompt": base, "append-system-prompt": text, "append-system-prompt-file": file } = flags;
  if (base !== undefined && base.trim() === "") {
    throw new SheafError("USAGE", "--system-prompt is empty: give the text, or leave it out");
  }
  const appended = [text, file === undefined ? undefined : readTextFile(resolve(cwd, file))]
    .filter((part) => part !== undefined && part.trim() !== "")
    .join("\n\n");
  return { ...(base !== undefined && { basePrompt: base }), ...(appended !== "" && { systemPrompt: appended }) };
}

function readTextFile(file: string): string {
  const fail = (reason: string, cause?: unknown): SheafError =>
    new SheafError("USAGE", `--append-system-prompt-file ${file} ${reason}: name a text file`, { cause });
  const read = readOrdinaryFile(file, MAX_BYTES);
  if (!read.ok) throw fail(read.problem, read.cause);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(read.bytes);
  } catch (error) {
    throw fail("is not UTF-8", error);
  }
}
