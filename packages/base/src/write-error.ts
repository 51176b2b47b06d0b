/** Explains why a file of the user could not be written. */
import { SheafError } from "./errors.ts";

/** Returns STORAGE_FULL or CONFIG_INVALID. `subject` is for instance "the configuration /home/me/config.json". */
export function toWriteError(subject: string, cause: unknown): SheafError {
  if (cause instanceof SheafError) return cause;
  const { code = "" } = cause as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") {
    const message = `${subject} cannot be written, the disk is full: free some space`;
    return new SheafError("STORAGE_FULL", message, { cause, source: "storage" });
  }
  const advice = "check the permissions of its folder, or set SHEAF_HOME";
  return new SheafError("CONFIG_INVALID", `${subject} cannot be written (${code}): ${advice}`, { cause });
}
