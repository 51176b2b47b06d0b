/** Why a process could not be started, in one line. */
import { statSync } from "node:fs";
import { tmpdir } from "node:os";

const reasons: Readonly<Record<string, string>> = {
  E2BIG: "it is longer than the system takes: write it into a file and run that",
  EACCES: "it may not be executed",
  EAGAIN: "there are too many processes: try again later",
  EMFILE: "too many files are open: try again later",
  ENFILE: "too many files are open: try again later",
  ENOMEM: "there is not enough memory",
  ERR_INVALID_ARG_VALUE: "it holds a NUL character: leave it out",
};

/** The system gives the same code for a missing program and a missing folder; here they differ. */
export function toStartError(error: unknown, file: string, folder: string): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const folderError = toFolderError(folder);
  if (folderError !== "") return folderError;
  if (error instanceof Error && "syscall" in error && !String(error.syscall).startsWith("spawn")) {
    const isTemporary = "path" in error && String(error.path).startsWith(tmpdir());
    if (!isTemporary) return error.message;
    return `no folder for temporary files can be made in ${tmpdir()} (${code}): set TMPDIR to one that can be written into`;
  }
  if (code === "ENOENT") return `${file} does not exist`;
  return reasons[code] ?? (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ");
}

/** What is wrong with a working directory; "" if nothing is. */
export function toFolderError(folder: string): string {
  return isFolder(folder) ? "" : `the working directory ${folder} is no folder that can be used`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
