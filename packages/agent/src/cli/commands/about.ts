/** `sheaf about`: versions and folders, for bug reports. No secret and no path of a workspace. */
import { toDataFolder, toUserFiles } from "../../base/paths.ts";
import { sheafVersion } from "../../base/version.ts";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { printJson, printText } from "../standard-output.ts";

/** Prints the facts. @throws SheafError USAGE. */
export async function runAbout(parsed: ParsedArguments, { environment }: CommandIo): Promise<number> {
  const facts = {
    version: sheafVersion,
    node: process.versions.node,
    system: `${process.platform} ${process.arch}`,
    data: toDataFolder(environment),
    config: toUserFiles(environment).config,
  };
  if (toCommandFormat(parsed) === "json") return printJson(facts);
  const { version, node, system, data, config } = facts;
  const rows = [
    ["CLI Version", version],
    ["Node", node],
    ["System", system],
    ["Data", data],
    ["Configuration", config],
  ] as const;
  return printText(rows.map(([name, value]) => `${name.padEnd(14)} ${value}\n`).join(""));
}
