/** `sheaf install-alias DIR`: programs by the names of other agents, which start this Sheaf in their dialect (C30). */
import { chmodSync, lstatSync, readFileSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { toRealPlace } from "@sheaf/base/files/repository";
import type { ParsedArguments } from "../arguments.ts";
import { chooseWord } from "../command-flags.ts";
import { writeOutputFile } from "../output-file.ts";
import { printText } from "../standard-output.ts";
import { dialectPrograms } from "../dialects/dialect.ts";
import type { CommandIo } from "../io.ts";

const dialects = new Map(
  Object.entries(dialectPrograms).flatMap(([dialect, names]) => names.map((name): [string, string] => [name, dialect])),
);

/** Matches the line by which Sheaf recognizes its launchers. */
const mark = /^# Starts Sheaf in the \S+ \S+\.$/m;

/**
 * Writes one launcher for each name. It contains the paths of this Node and this Sheaf, so it works anywhere.
 * @throws SheafError USAGE if the folder isn't one, or if a file exists that Sheaf didn't write.
 */
export async function runInstallAlias(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const folder = resolve(io.cwd, parsed.positionals[0] ?? "");
  const names = parsed.flags.as ?? dialectPrograms["cursor-2026"];
  for (const name of names) chooseWord("--as", name, [...dialects.keys()]);
  checkFolder(folder);
  const files = names.map((name) => resolve(folder, name));
  for (const file of files) {
    if (toRealPlace(file) === toRealPlace(io.program))
      throw new SheafError("USAGE", `${file} is the program that you run: choose another folder`);
    checkReplaceable(file, parsed.flags.overwrite ?? false);
  }
  for (const file of files) {
    const dialect = dialects.get(basename(file))!;
    const start = `exec ${quote(process.execPath)} ${quote(io.program)} --compat=${dialect} "$@"`;
    const text = `#!/bin/sh\n# Starts Sheaf in the profile ${dialect}.\n${start}\n`;
    rmSync(file, { force: true });
    writeOutputFile(file, text, { mode: 0o755 });
    chmodSync(file, 0o755);
  }
  return printText(io, files.map((file) => `${file}\n`).join(""));
}

function checkFolder(folder: string): void {
  const stats = lstatSync(join(folder, "."), { throwIfNoEntry: false });
  if (!stats?.isDirectory()) throw new SheafError("USAGE", `${folder} is not a folder: create it first`);
}

function checkReplaceable(file: string, overwrites: boolean): void {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (!stats || overwrites) return;
  if (stats.isFile() && mark.test(readFileSync(file, "utf8"))) return;
  throw new SheafError("USAGE", `${file} exists already, and Sheaf did not make it: move it away, or pass --overwrite`);
}

/** Quotes a text as one word of a shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
