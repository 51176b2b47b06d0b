/** `sheaf skills`: which skills and commands a run in this workspace has, and why a file is not used (C92). */
import { toUserFiles } from "@sheaf/base/paths";
import { findSkills, type FoundSkills } from "@sheaf/agent/config/skills";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { toConfig } from "../run-config.ts";
import { printJson, printText } from "../standard-output.ts";

/** Prints them, and reads no more files than a run. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runSkills(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags } = parsed;
  const format = toCommandFormat(parsed);
  const { workspace, findTrust } = toConfig(flags, io);
  const trusted = findTrust();
  const found = findSkills({ skillFolders: toUserFiles(io.environment).skillFolders, workspace, trusted });
  return format === "json" ? printJson(io, toFacts(found, trusted)) : printText(io, formatText(found, trusted));
}

function toFacts({ skills, unused }: FoundSkills, trusted: boolean) {
  const shown = skills.map(({ kind, name, description, source, file, isOffered }) => {
    return { kind, name, description, source, file, isOffered };
  });
  return { skills: shown, unused, trusted };
}

function formatText({ skills, unused }: FoundSkills, trusted: boolean): string {
  const rows = skills.map(({ kind, name, description, file }) => {
    const about = description.length > 100 ? `${description.slice(0, 100).toWellFormed()}…` : description;
    return `/${name} (${kind}) ${toVisibleLine(file)}\n${about === "" ? "" : `  ${about}\n`}`;
  });
  const left = unused.map(({ file, problem }) => `not used: ${toVisibleLine(file)}: ${toVisibleLine(problem)}\n`);
  const note = trusted ? "" : "Those of this repository are not read: it is not trusted (sheaf trust).\n";
  return `${rows.length === 0 ? "No skills and no commands.\n" : rows.join("")}${left.join("")}${note}`;
}
