/** A command of `cursor-agent` that Sheaf doesn't have, or has only in its profile (C30, C43). */
import { SheafError, toSheafError } from "@sheaf/base/errors";
import type { ParsedArguments } from "../arguments.ts";
import { cursorCommands } from "../dialects/cursor/arguments.ts";
import type { CommandIo } from "../io.ts";
import { printText, printJson } from "../standard-output.ts";
import { sheafVersion } from "@sheaf/base/version";
import { chooseModel, findModelName, type ModelSettings } from "@sheaf/agent/config/endpoints";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import { toCommandFormat } from "../command-flags.ts";
import { listKeyPlaces } from "../key-places.ts";
import { toModelSettings } from "../run-config.ts";

/** Prints why the command has no effect. @throws SheafError USAGE if Sheaf lacks its function. */
export async function runCursorCommand(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [word = ""] = parsed.positionals;
  if (io.dialect.statusWords?.includes(word)) {
    return runCursorStatus(parsed, io);
  }
  const { text, isMissing } = cursorCommands[word]!;
  if (isMissing) throw new SheafError("USAGE", `${text}. For the prompt "${word}" write sheaf -p -- ${word}`);
  return printText(io, `${text}.\n`);
}

/** Prints the status; a missing key isn't a failure. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runCursorStatus(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const isJson = toCommandFormat(parsed) === "json";
  const settings = toModelSettings({ model: parsed.flags.model }, io);
  const { isReady, text } = findLogin(settings);
  if (parsed.positionals[0] !== "about") {
    if (!isJson) return printText(io, isReady ? `Logged in as ${text}\n` : `Not logged in: ${text}\n`);
    return printJson(io, { isAuthenticated: isReady, status: isReady ? "authenticated" : "unauthenticated" });
  }
  const model = findModelName(settings)?.name ?? "none";
  // Sheaf has no accounts, so the provider replaces the address.
  const userEmail = isReady ? text : null;
  if (isJson) return printJson(io, { cliVersion: sheafVersion, model, userEmail });
  const rows = { "CLI Version": sheafVersion, Model: model, "User Email": userEmail ?? "Not logged in" };
  return printText(
    io,
    Object.entries(rows)
      .map(([name, value]) => `${name.padEnd(14)} ${value}\n`)
      .join(""),
  );
}

/** Looks for a run's model and key, or for any key without a chosen model. `text`: the provider, or the problem. */
function findLogin(settings: ModelSettings): { readonly isReady: boolean; readonly text: string } {
  const withKeys = listKeyPlaces(settings).map(({ provider }) => provider);
  if (!findModelName(settings) && withKeys.length > 0) return { isReady: true, text: withKeys.join(", ") };
  try {
    const choice = chooseModel(settings);
    const text =
      choice.kind === "endpoint" ? `${choice.endpoint.provider} (${choice.endpoint.displayName})` : choice.kind;
    return { isReady: true, text };
  } catch (error) {
    return { isReady: false, text: toVisibleLine(toSheafError(error).message) };
  }
}
