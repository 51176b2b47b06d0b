/** A command of `cursor-agent` that Sheaf doesn't have, or has in its profile only (C30, C43). */
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

/** Prints why there is nothing to do. @throws SheafError USAGE for what Sheaf cannot do. */
export async function runForeign(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [word = ""] = parsed.positionals;
  if (io.dialect.statusWords?.includes(word)) {
    return runCursorStatus(parsed, io);
  }
  const { text, isMissing } = cursorCommands[word]!;
  if (isMissing) throw new SheafError("USAGE", `${text}. For the prompt "${word}" write sheaf -p -- ${word}`);
  return printText(io, `${text}.\n`);
}

/** Prints the answer to the word; a missing key is not a failure. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runCursorStatus(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const isJson = toCommandFormat(parsed) === "json";
  const settings = toModelSettings({ model: parsed.flags.model }, io);
  const { isReady, text } = findLogin(settings);
  if (parsed.positionals[0] !== "about") {
    if (!isJson) return printText(io, isReady ? `Logged in as ${text}\n` : `Not logged in: ${text}\n`);
    return printJson(io, { isAuthenticated: isReady, status: isReady ? "authenticated" : "unauthenticated" });
  }
  const model = findModelName(settings)?.name ?? "none";
  // Nobody has an account: the provider is named instead of an address.
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

/** True if a run would find its model and key; without a named model, whether there is any key. `text`: whom a run would ask, or why it would not. */
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
