/** What SQLite and the file system say, as errors of the closed table. */
import { SheafError, type ErrorCode } from "../base/errors.ts";

const SQLITE_CORRUPT = 11;

/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
const codes: ReadonlyMap<number, readonly [ErrorCode, string]> = new Map([
  [5, ["STORAGE_LOCKED", "another process holds it: try again"]],
  [6, ["STORAGE_LOCKED", "another process holds it: try again"]],
  [
    8,
    ["STORAGE_LOCKED", "it cannot be written: check its rights, choose another folder by SHEAF_HOME, or use --no-save"],
  ],
  [
    10,
    [
      "STORAGE_FULL",
      "the disk refused to write: free some space, choose another folder by SHEAF_HOME, or use --no-save",
    ],
  ],
  [SQLITE_CORRUPT, ["STORAGE_CORRUPT", "it is damaged: move the file away, or choose another folder by SHEAF_HOME"]],
  [13, ["STORAGE_FULL", "the disk is full: free some space, choose another folder by SHEAF_HOME, or use --no-save"]],
  [
    14,
    ["STORAGE_LOCKED", "it cannot be opened: check its rights, choose another folder by SHEAF_HOME, or use --no-save"],
  ],
  [26, ["STORAGE_CORRUPT", "it is no SQLite file: move it away, or choose another folder by SHEAF_HOME"]],
]);

const systemCodes: ReadonlyMap<string, readonly [ErrorCode, string]> = new Map([
  ["ENOSPC", codes.get(13)!],
  ["EDQUOT", codes.get(13)!],
]);

/** The primary result code: extended ones carry it in the low byte. */
function toResultCode(error: unknown): number | undefined {
  // A row that is no JSON, a number that is out of bounds: Sheaf writes none, so the file is damaged.
  if (error instanceof SyntaxError || error instanceof RangeError) return SQLITE_CORRUPT;
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

/** A failure of the store at `file` as STORAGE_LOCKED, STORAGE_FULL, STORAGE_CORRUPT or INTERNAL. */
export function toStorageError(error: unknown, file: string): SheafError {
  if (error instanceof SheafError) return error;
  const { code, message } = error as { code?: string; message?: string };
  const resultCode = toResultCode(error);
  const known = resultCode === undefined ? (systemCodes.get(code ?? "") ?? codes.get(14)) : codes.get(resultCode);
  const [kind, advice] = known ?? (["INTERNAL", "unexpected"] as const);
  return new SheafError(kind, `the store ${file} failed (${message ?? String(error)}): ${advice}`, {
    cause: error,
    source: "storage",
  });
}
