/** `sheaf install-alias DIR`: programs by the names of `cursor-agent`, which start this Sheaf in its profile (C30). */
import { chmodSync, lstatSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import type { ParsedArguments } from "../arguments.ts";
import { writeOutputFile } from "../output-file.ts";
import { printText } from "../standard-output.ts";
import { dialectPrograms } from "../dialects/dialect.ts";
import type { CommandIo } from "../io.ts";

const aliasNames: readonly string[] = dialectPrograms["cursor-2026"];

/** By this line a launcher of ours is known again. */
const mark = "# Starts Sheaf in the profile cursor-2026.";

/**
 * Writes one launcher a name. It names this Node and this Sheaf, so that it works wherever it is started.
 * @throws SheafError USAGE for a folder that is none, and for a file that somebody else made.
 */
export async function runInstallAlias(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [word = "", ...words] = parsed.positionals;
  const folder = resolve(io.cwd, word);
  const names = words.length > 0 ? words : aliasNames;
  const unknown = names.find((name) => !aliasNames.includes(name));
  if (unknown !== undefined) {
    throw new SheafError("USAGE", `"${unknown}" is not a name of that program: use ${aliasNames.join(" or ")}`);
  }
  checkFolder(folder);
  const files = names.map((name) => resolve(folder, name));
  for (const file of files) checkReplaceable(file, parsed.flags.overwrite ?? false);
  const text = `#!/bin/sh\n${mark}\nexec ${quote(process.execPath)} ${quote(io.program)} --compat=cursor-2026 "$@"\n`;
  for (const file of files) {
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
  if (stats.isFile() && readFileSync(file, "utf8").includes(`\n${mark}\n`)) return;
  throw new SheafError("USAGE", `${file} exists already, and Sheaf did not make it: move it away, or pass --overwrite`);
}

/** As one word of a shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
