/** `--list-tools`: the tools that a run with these flags offers (C46). */
import { hasPageRule, toDefinitions } from "@sheaf/agent/tools/registry";
import type { ParsedArguments } from "../arguments.ts";
import { isPrintMode, type CommandIo } from "../io.ts";
import { toOutputFormat } from "../output-choice.ts";
import { checkCommandLine } from "../command-flags.ts";
import { toConfig } from "../run-config.ts";
import { printJson, printText } from "../standard-output.ts";

/** Prints them without starting a server or calling a model. @throws SheafError USAGE. */
export async function runListTools(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  checkCommandLine(parsed);
  const { flags } = parsed;
  const { mode, toolChoice, permissions } = toConfig(flags, io);
  const canFetchPages = !isPrintMode(flags, io) || hasPageRule(permissions.allow);
  const definitions = toDefinitions({ mode, hasPlan: false, choice: toolChoice, canFetchPages });
  if (flags["output-format"] !== undefined && toOutputFormat(flags, io) === "json") return printJson(io, definitions);
  const width = Math.max(...definitions.map(({ name }) => name.length));
  const rows = definitions.map(({ name, description }) => {
    const [first = ""] = description.split(/(?<=\.)\s/, 1);
    return `${name.padEnd(width)}  ${first}\n`;
  });
  return printText(io, rows.join(""));
}
