/** The tokens of `sheaf serve`: from a file of the operator, or one created once and kept (S-51). */
import { hash, randomBytes } from "node:crypto";
import { unwatchFile, watchFile } from "node:fs";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import { changePrivateFile, createDamageError, readPrivateFile, type PrivateFile } from "./private-file.ts";
import { localOwner } from "@sheaf/store/store";

/** Characters that a token must have at least: 22 of base64 are 128 bits. */
const MIN_LENGTH = 22;

/** Characters that a token may have. */
const MAX_LENGTH = 4096;

/** A token and the name of its owner in the store. */
export interface ServerToken {
  readonly token: string;
  readonly owner: string;
}

/**
 * The tokens of a file: each line is `TOKEN`, or `NAME TOKEN`; empty lines and lines with `#` are skipped. A name keeps
 * its conversations when its token changes. Conversations of the command line belong to `local`, and conversations of a
 * token without a name belong to that token.
 * @throws SheafError CONFIG_INVALID with the line, never with a token.
 */
export function readTokenFile(file: string): readonly ServerToken[] {
  const text = readPrivateFile({ ...toTarget(file, "name another one"), mayBeMounted: true });
  if (text === undefined) throw createFault(file, "does not exist: check the path after --token-file");
  const tokens = text
    .split("\n")
    .map((line, index) => [line.trim(), index + 1] as const)
    .filter(([line]) => line !== "" && !line.startsWith("#"))
    .map(([line, number]) => parseLine(line, number, file));
  const owners = new Map<string, string>();
  for (const { token, owner } of tokens) {
    if ((owners.get(token) ?? owner) !== owner) {
      throw createFault(
        file,
        `gives ${toName(owners.get(token)!)} and ${toName(owner)} the same token: create one for each`,
      );
    }
    owners.set(token, owner);
  }
  if (tokens.length > 0) return tokens;
  throw createFault(file, "contains no token: write one per line, for instance from openssl rand -hex 32");
}

/** Interval at which a file of tokens is checked. Milliseconds. */
const WATCH_MS = 1000;

/** Reads the file again whenever it changes, until `end`. A fault leaves the tokens as they are. */
export function watchTokenFile(
  file: string,
  take: (tokens: readonly ServerToken[]) => void,
  tellFault: (error: SheafError) => void,
): { end(): void } {
  const read = (): void => {
    try {
      take(readTokenFile(file));
    } catch (error) {
      tellFault(toSheafError(error));
    }
  };
  watchFile(file, { interval: WATCH_MS, persistent: false }, read);
  return { end: () => unwatchFile(file, read) };
}

function parseLine(line: string, number: number, file: string): ServerToken {
  const words = line.split(/\s+/);
  const [name, token] = words.length === 1 ? [undefined, words[0]!] : [words[0]!, words[1]!];
  if (words.length > 2) throw createFault(file, `is not valid at line ${number}: expected TOKEN, or NAME TOKEN`);
  if (!isToken(token)) {
    const range = `${MIN_LENGTH} to ${MAX_LENGTH}`;
    throw createFault(file, `is not valid at line ${number}: a token has ${range} printable characters`);
  }
  if (name !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/.test(name)) {
    throw createFault(file, `is not valid at line ${number}: a name has letters, digits, points, dashes and @ only`);
  }
  return { token, owner: name === undefined || name === localOwner ? (name ?? toHashOwner(token)) : `user:${name}` };
}

/** The name of an owner in the file. */
function toName(owner: string): string {
  return owner.startsWith("token:") ? "a line without a name" : owner.replace(/^user:/, "");
}

function toHashOwner(token: string): string {
  return `token:${hash("sha256", token, "hex").slice(0, 32)}`;
}

/**
 * The token at `file`, 256 bits; created at the first call (S-42).
 * @throws SheafError CONFIG_INVALID, STORAGE_FULL, STORAGE_LOCKED.
 */
export function ensureServerToken(file: string): string {
  const target = toTarget(file, "remove it, and a new token is created");
  const made = `${randomBytes(32).toString("base64url")}\n`;
  const token = changePrivateFile(target, (text = made) => text).after!.trim();
  if (isToken(token)) return token;
  throw createDamageError(target);
}

function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text) && text.length >= MIN_LENGTH && text.length <= MAX_LENGTH;
}

function toTarget(file: string, remedy: string): PrivateFile {
  return { file, subject: "the file of tokens", remedy, exposure: ", and replace its tokens" };
}

function createFault(file: string, problem: string): SheafError {
  return new SheafError("CONFIG_INVALID", `the file of tokens ${file} ${problem}`);
}
