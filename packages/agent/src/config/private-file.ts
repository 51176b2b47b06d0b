/** Files that are the user's alone: 0600 in a folder of the user's own, written whole or not at all (S-42). */
import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { makeFolder } from "@sheaf/base/make-folder";
import { replaceFile } from "@sheaf/base/replace-file";
import { changeFile, type TextChange, withFileLock } from "@sheaf/base/file-lock";
import { toWriteError } from "@sheaf/base/write-error";

export interface PrivateFile {
  readonly file: string;
  /** Words for messages, for instance "the file of keys". */
  readonly subject: string;
  /** The way to fix a damaged file: "remove it and run sheaf login". */
  readonly remedy: string;
  /** Further advice if others could read it, as the end of a sentence. */
  readonly exposure?: string;
  /** Root may own it, through a link and for the group of this process, as a volume of Kubernetes does. */
  readonly mayBeMounted?: boolean;
}

/** Permissions of the group and of all others. */
const OTHERS = 0o077;
const GROUP_READS = 0o040;

/**
 * The text of the file; undefined if it does not exist.
 * @throws SheafError CONFIG_INVALID if others can read the file, if it belongs to someone else, or if it is damaged.
 */
export function readPrivateFile(target: PrivateFile): string | undefined {
  try {
    // Refuses a link to a file elsewhere, and does not block on a pipe.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const descriptor = openSync(target.file, O_RDONLY | O_NONBLOCK | (target.mayBeMounted ? 0 : O_NOFOLLOW));
    try {
      checkPrivate(target, descriptor);
      return readFileSync(descriptor, "utf8");
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const problem = code === "ELOOP" ? "is a link" : `cannot be read (${code})`;
    throw createFault(target, `${problem}: check it, or ${target.remedy}`, error);
  }
}

function checkPrivate(target: PrivateFile, descriptor: number): void {
  const stat = fstatSync(descriptor);
  if (!stat.isFile()) throw createFault(target, `is not a file: ${target.remedy}`);
  if (process.platform === "win32") return;
  const user = process.getuid?.();
  const isMounted = target.mayBeMounted === true && stat.uid === 0 && user !== 0;
  if (user !== undefined && stat.uid !== user && !isMounted) {
    throw createFault(target, `belongs to another user (${stat.uid}): ${target.remedy}`);
  }
  const others = isMounted && stat.gid === process.getgid?.() ? OTHERS & ~GROUP_READS : OTHERS;
  if ((stat.mode & others) !== 0) {
    const mode = (stat.mode & 0o777).toString(8).padStart(4, "0");
    throw createFault(target, `can be opened by others (mode ${mode}): run chmod 600 on it${target.exposure ?? ""}`);
  }
}

/** The error for invalid content. It has no cause, because a parser's message may quote the text (S-41). */
export function createDamageError(target: PrivateFile): SheafError {
  return createFault(target, `is damaged: ${target.remedy}`);
}

/**
 * Replaces the text; undefined removes the file.
 * @throws SheafError STORAGE_FULL, or CONFIG_INVALID when the folder cannot be written.
 */
export function writePrivateFile(target: PrivateFile, text: string | undefined): void {
  const { file } = target;
  try {
    if (text === undefined) {
      rmSync(file, { force: true });
      return;
    }
    makeFolder(dirname(file));
    replaceFile(file, text);
  } catch (error) {
    throw toWriteError(`${target.subject} ${file}`, error);
  }
}

/**
 * Changes the text under its lock. `change` gets undefined for a missing file, and returns undefined to remove it.
 * May call it twice. @throws SheafError as `readPrivateFile`, `writePrivateFile`, `changeFile` and `change`.
 */
export function changePrivateFile(
  target: PrivateFile,
  change: (text: string | undefined) => string | undefined,
): TextChange {
  const plan = (): TextChange => {
    const before = readPrivateFile(target);
    return { before, after: change(before) };
  };
  return changeFile(target.file, plan, (text) => writePrivateFile(target, text));
}

/** Adds to the end, in one write. @throws SheafError STORAGE_FULL, STORAGE_LOCKED, CONFIG_INVALID, as above. */
export function appendPrivateFile(target: PrivateFile, text: string): void {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
  // The lock keeps the text from a process that replaces the file at the same time.
  withFileLock(target.file, () => {
    try {
      const descriptor = openSync(target.file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
      try {
        checkPrivate(target, descriptor);
        writeSync(descriptor, text);
      } finally {
        closeSync(descriptor);
      }
    } catch (error) {
      throw toWriteError(`${target.subject} ${target.file}`, error);
    }
  });
}

function createFault({ file, subject }: PrivateFile, problem: string, cause?: unknown): SheafError {
  return new SheafError("CONFIG_INVALID", `${subject} ${file} ${problem}`, { cause });
}
