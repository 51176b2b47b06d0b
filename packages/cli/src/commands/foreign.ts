/** A command of `cursor-agent` that Sheaf doesn't have, or has in its profile only (C30, C43). */
import { SheafError } from "@sheaf/base/errors";
import type { ParsedArguments } from "../arguments.ts";
import { cursorCommands, profileCommands } from "../cursor-arguments.ts";
import type { CommandIo } from "../io.ts";
import { printText } from "../standard-output.ts";
import { runCursorStatus } from "./cursor-status.ts";

/** Prints why there is nothing to do. @throws SheafError USAGE for what Sheaf cannot do. */
export async function runForeign(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [word = ""] = parsed.positionals;
  if (io.profile === "cursor-2026" && profileCommands.includes(word)) {
    return runCursorStatus(parsed, io);
  }
  const { text, isMissing } = cursorCommands[word]!;
  if (isMissing) throw new SheafError("USAGE", `${text}. For the prompt "${word}" write sheaf -p -- ${word}`);
  return printText(io, `${text}.\n`);
}
