/** `sheaf about`: versions and folders, for bug reports. No secret and no path of a workspace. */
import { toDataFolder, toUserFiles } from "../../base/paths.ts";
import { sheafVersion } from "../../base/version.ts";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import { findModelName, type ModelFlags } from "../../config/endpoints.ts";
import type { CommandIo } from "../io.ts";
import { toModelSettings } from "../run-config.ts";
import { findLogin } from "./status.ts";
import { printJson, printText } from "../standard-output.ts";

/** Prints the facts. @throws SheafError USAGE. */
export async function runAbout(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { environment } = io;
  const facts = {
    version: sheafVersion,
    node: process.versions.node,
    system: `${process.platform} ${process.arch}`,
    data: toDataFolder(environment),
    config: toUserFiles(environment).config,
  };
  const cursorFacts = io.profile === "cursor-2026" ? toCursorFacts(io) : undefined;
  if (toCommandFormat(parsed) === "json") return printJson({ ...facts, ...cursorFacts });
  const { version, node, system, data, config } = facts;
  const rows = [
    ["CLI Version", version],
    ...(cursorFacts
      ? ([
          ["Model", cursorFacts.model],
          ["User Email", cursorFacts.userEmail ?? "Not logged in"],
        ] as const)
      : []),
    ["Node", node],
    ["System", system],
    ["Data", data],
    ["Configuration", config],
  ] as const;
  return printText(rows.map(([name, value]) => `${name.padEnd(14)} ${value}\n`).join(""));
}

/** What clients of `cursor-agent` look for (C43). Nobody has an account: the provider is named instead of an address. */
function toCursorFacts(io: CommandIo) {
  const settings = toModelSettings<ModelFlags>({}, io);
  const { isReady, text } = findLogin(settings);
  return {
    cliVersion: sheafVersion,
    model: findModelName(settings)?.name ?? "none",
    userEmail: isReady ? text : null,
  };
}
