/** Turns errors of the file system into tool errors, and into results that carry them. */
import type { ToolError } from "@sheaf/protocol";

/** The result of an operation on files; an expected failure is a value. */
export type FileResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: ToolError };

interface FaultKind {
  readonly code: string;
  /** The problem and the remedy, as text after the path. */
  readonly text: string;
}

const ioFault: FaultKind = { code: "IO_ERROR", text: "could not be used" };

/** Kinds by the file system's code, or by Sheaf's for faults without one. */
const kinds: Readonly<Record<string, FaultKind>> = {
  ENOENT: { code: "FILE_NOT_FOUND", text: "does not exist: look for it with list_dir or glob_search" },
  ENOTDIR: { code: "NOT_A_DIRECTORY", text: "is below something that is not a folder: check the path with list_dir" },
  EISDIR: { code: "IS_A_DIRECTORY", text: "is a folder: name a file in it; list_dir shows them" },
  EEXIST: { code: "FILE_EXISTS", text: "exists already: choose another name, or delete it first" },
  EACCES: { code: "PERMISSION_DENIED", text: "may not be used by this user: change its permissions, or leave it" },
  EPERM: { code: "PERMISSION_DENIED", text: "may not be changed by this user: change its permissions, or leave it" },
  EROFS: { code: "READ_ONLY", text: "is on a read-only file system: write somewhere else" },
  ENOSPC: { code: "DISK_FULL", text: "was not written, the disk is full: free some space and try again" },
  EDQUOT: { code: "DISK_FULL", text: "was not written, the quota is used up: free some space and try again" },
  ELOOP: {
    code: "PATH_INVALID",
    text: "contains a link that leads in a circle or has just appeared: check it with list_dir",
  },
  ENAMETOOLONG: { code: "PATH_INVALID", text: "has a name that is too long: name a shorter one" },
  EMFILE: { code: "TOO_MANY_OPEN_FILES", text: "cannot be opened, too many files are open: try again" },
  ENFILE: { code: "TOO_MANY_OPEN_FILES", text: "cannot be opened, too many files are open: try again" },
  EXDEV: { code: "OTHER_FILE_SYSTEM", text: "is on another file system: use run_terminal_cmd with mv" },
  ENXIO: { code: "NOT_A_FILE", text: "is not an ordinary file: only ordinary files can be used" },
  NOT_A_FILE: { code: "NOT_A_FILE", text: "is a pipe, socket or device: only ordinary files can be used" },
  BINARY_FILE: { code: "BINARY_FILE", text: "is a binary file: use run_terminal_cmd with a program that knows it" },
  FILE_TOO_LARGE: { code: "FILE_TOO_LARGE", text: "is too large for this tool: use grep_search or run_terminal_cmd" },
  STALE_FILE: { code: "STALE_FILE", text: "has changed on disk in the meantime: read it again, then repeat the call" },
};

/** Creates an error with a code, for a fault that the file system does not report. */
export function createFileFault(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

/** Returns the code of a thrown value, or "". */
export function getFaultCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Turns a thrown value into a tool error about `path`, in one line. */
export function toFileError(error: unknown, path: string): ToolError {
  const code = getFaultCode(error);
  const kind = kinds[code] ?? ioFault;
  const reason = kind === ioFault ? ` (${error instanceof Error ? error.message : String(error)}): try again` : "";
  return { code: kind.code, message: `${path} ${kind.text}${reason}`, details: "" };
}

/** Runs `work`, and turns errors of the file system into values. */
export async function runFileWork<Value>(path: string, work: () => Promise<Value>): Promise<FileResult<Value>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: toFileError(error, path) };
  }
}
