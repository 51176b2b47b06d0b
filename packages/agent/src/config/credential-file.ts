/** The file of keys that `sheaf login` writes: 0600 in a folder that is the user's own, whole or not at all (S-42). */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { SheafError } from "../errors.ts";
import { isKeyText } from "./key-text.ts";

/** Keys by provider. */
export type Credentials = ReadonlyMap<string, string>;

/** Rights of the group and of all others. */
const OTHERS = 0o077;

/**
 * The keys at `file`; none if there is no file.
 * @throws SheafError CONFIG_INVALID when others can read the file, when it is someone else's, or when it is no such file.
 */
export function readCredentials(file: string): Credentials {
  let text: string;
  try {
    // Neither a link to a file elsewhere nor a pipe that would be waited for.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      checkPrivate(file, descriptor);
      text = readFileSync(descriptor, "utf8");
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return new Map();
    const problem = code === "ELOOP" ? "is a link" : `cannot be read (${code})`;
    throw createFault(file, `${problem}: check it, or remove it and run sheaf login`, error);
  }
  return parseCredentials(text, file);
}

function checkPrivate(file: string, descriptor: number): void {
  const stat = fstatSync(descriptor);
  if (!stat.isFile()) throw createFault(file, "is no file: remove it and run sheaf login");
  if (process.platform === "win32") return;
  const user = process.getuid?.();
  if (user !== undefined && stat.uid !== user) {
    throw createFault(file, `belongs to another user (${stat.uid}): remove it and run sheaf login`);
  }
  if ((stat.mode & OTHERS) !== 0) {
    const mode = (stat.mode & 0o777).toString(8).padStart(4, "0");
    throw createFault(
      file,
      `can be opened by others (mode ${mode}): run chmod 600 on it, and replace its keys if others may have read them`,
    );
  }
}

/** The cause is left out: what `JSON.parse` says quotes the text (S-41). */
function parseCredentials(text: string, file: string): Credentials {
  const createDamage = (): SheafError => createFault(file, "is damaged: remove it and run sheaf login");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw createDamage();
  }
  const keys: unknown = isObject(value) && value.version === 1 ? value.keys : undefined;
  if (!isObject(keys)) throw createDamage();
  const entries = Object.entries(keys);
  if (!entries.every((entry): entry is [string, string] => typeof entry[1] === "string" && isKeyText(entry[1]))) {
    throw createDamage();
  }
  return new Map(entries);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Puts these keys in the place of the old ones; without a key the file goes.
 * @throws SheafError STORAGE_FULL, or CONFIG_INVALID when the folder cannot be written.
 */
export function writeCredentials(file: string, credentials: Credentials): void {
  try {
    if (credentials.size === 0) {
      rmSync(file, { force: true });
      return;
    }
    makePrivateFolder(dirname(file));
    const keys = Object.fromEntries([...credentials].toSorted(([one], [other]) => (one < other ? -1 : 1)));
    replaceFile(file, `${JSON.stringify({ version: 1, keys }, undefined, 2)}\n`);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOSPC" || code === "EDQUOT") {
      throw new SheafError("STORAGE_FULL", `the keys ${file} cannot be written, the disk is full: free some space`, {
        cause: error,
        source: "storage",
      });
    }
    throw createFault(file, `cannot be written (${code}): check the rights of its folder, or set SHEAF_HOME`, error);
  }
}

/** A folder that others can open is closed to them: it is Sheaf's own. */
function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform !== "win32" && (statSync(folder).mode & OTHERS) !== 0) chmodSync(folder, 0o700);
}

function replaceFile(file: string, text: string): void {
  const temporary = join(dirname(file), `.credentials-${randomBytes(16).toString("hex")}.tmp`);
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const descriptor = openSync(temporary, flags, 0o600);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function createFault(file: string, problem: string, cause?: unknown): SheafError {
  return new SheafError("CONFIG_INVALID", `the file of keys ${file} ${problem}`, { cause });
}
