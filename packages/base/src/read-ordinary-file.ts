/** Reads a file of any kind, which the user named or which is at a place where others write as well. */
import { readFileSync, statSync } from "node:fs";

/** The bytes of a file, or its problem, which follows the name of the file. `isMissing`: the file does not exist. */
export type OrdinaryFile =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly problem: string; readonly isMissing: boolean; readonly cause?: unknown };

export function readOrdinaryFile(file: string, maxBytes: number): OrdinaryFile {
  const fail = (problem: string): OrdinaryFile => ({ ok: false, problem, isMissing: false });
  try {
    const stats = statSync(file);
    // Reading a pipe would block.
    if (!stats.isFile()) return fail("is not a file");
    if (stats.size > maxBytes) return fail(`is larger than ${maxBytes} bytes`);
    return { ok: true, bytes: readFileSync(file) };
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    return { ok: false, problem: isMissing ? "does not exist" : `cannot be read (${code})`, isMissing, cause };
  }
}
