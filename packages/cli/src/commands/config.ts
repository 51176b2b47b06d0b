/** `sheaf config explain` prints each setting of a run with its source. */
import { createConfig } from "@sheaf/agent/config/config";
import { explainSettings, type ExplainedSetting } from "@sheaf/agent/config/explain";
import { SheafError } from "@sheaf/base/errors";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { printJson, printText } from "../standard-output.ts";
import { readConfigFile, toRawSettings } from "../run-config.ts";

/** Prints the settings that a run with the same flags has. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runConfig(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { environment, cwd } = io;
  if (parsed.positionals.join(" ") !== "explain") {
    throw new SheafError("USAGE", "config takes only the word explain: write sheaf config explain");
  }
  const { file: configFile, found } = readConfigFile(io);
  const raw = toRawSettings(parsed.flags);
  const { storeFile, workspace } = createConfig(raw, environment, cwd, found);
  const settings = explainSettings(raw, environment, found.settings, { configFile, storeFile, workspace });
  const isJson = toCommandFormat(parsed) === "json";
  return isJson ? printJson(io, settings) : printText(io, formatText(settings));
}

function formatText(settings: readonly ExplainedSetting[]): string {
  const width = Math.max(...settings.map(({ name }) => name.length));
  const lines = settings.map(({ name, value, source }) => {
    const shown = value === null ? "none" : toVisibleLine(String(value));
    return `${name.padEnd(width)}  ${shown}  (${source})\n`;
  });
  return lines.join("");
}
