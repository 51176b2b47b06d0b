/** Changes the user's configuration file. */
import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SheafError } from "../base/errors.ts";
import { makeFolder } from "../base/make-folder.ts";
import { parseUserConfig } from "./config-file.ts";

/**
 * Reads the file, changes its value and writes it back whole or not at all; what Sheaf does not change stays, only the
 * layout is Sheaf's. Others cannot read a new file (S-42).
 * @throws SheafError CONFIG_INVALID for a file, or a change, that is not valid: then nothing is written.
 */
export function writeUserConfig(
  file: string,
  change: (config: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): void {
  const before = readText(file);
  if (before !== undefined) parseUserConfig(before, file);
  const value = before === undefined ? {} : (JSON.parse(before.replace(/^\uFEFF/, "")) as Record<string, unknown>);
  const text = `${JSON.stringify(change(value), undefined, 2)}\n`;
  parseUserConfig(text, file);
  try {
    makeFolder(dirname(file));
    replaceFile(file, text, before === undefined ? 0o600 : statSync(file).mode & 0o777);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const message = `the configuration ${file} cannot be written (${code}): check the rights of its folder, or set SHEAF_HOME`;
    throw new SheafError("CONFIG_INVALID", message, { cause: error });
  }
}

function replaceFile(file: string, text: string, mode: number): void {
  const temporary = join(dirname(file), `.config-${randomUUID()}.tmp`);
  try {
    writeFileSync(temporary, text, { flag: "wx", mode });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function readText(file: string): string | undefined {
  try {
    // A pipe would be waited for.
    if (!statSync(file).isFile()) {
      throw new SheafError("CONFIG_INVALID", `the configuration ${file} is no file: make it a JSON file, or remove it`);
    }
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new SheafError("CONFIG_INVALID", `the configuration ${file} cannot be read (${code})`, { cause: error });
  }
}
