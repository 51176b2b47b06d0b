/** Finds the repositories inside another one from its index, without starting git (S-82). */
import { listEntryNames } from "../files/list-files.ts";
import { readSmallBytesIn } from "../files/open-file.ts";

/** Most bytes of an index: with a million files it is smaller. */
const maxBytes = 256 * 1024 * 1024;

/** Size of an entry in front of its object's name, and the place of its mode. Bytes. */
const statBytes = 40;
const modeAt = 24;

/** Modes of another repository, and of a folder whose entries the index omits. */
const gitlink = 0o160000;
const sparseFolder = 0o040000;

/**
 * Returns the paths of the index at which git looks for another repository, relative to the root. Undefined if an index
 * cannot be read. `hashBytes` is 20, or 32 in a repository with SHA-256.
 */
export function listGitlinks(gitFolder: string, hashBytes: 20 | 32): string[] | undefined {
  const paths: string[] = [];
  for (const name of listEntryNames(gitFolder)) {
    if (name !== "index" && !name.startsWith("sharedindex.")) continue;
    const bytes = readSmallBytesIn(gitFolder, name, maxBytes);
    const found = bytes && findEntries(bytes, hashBytes);
    if (!found) return undefined;
    paths.push(...found);
  }
  return paths;
}

/** Finds the paths of such entries in versions 2 to 4 of the format, as in git's `index-format` documentation. */
function findEntries(bytes: Buffer, hashBytes: number): string[] | undefined {
  if (bytes.length < 12 || bytes.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const [version, count] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)];
  if (version < 2 || version > 4) return undefined;
  const found: string[] = [];
  let path = Buffer.alloc(0);
  let at = 12;
  for (let entry = 0; entry < count; entry += 1) {
    const flagsAt = at + statBytes + hashBytes;
    if (flagsAt + 2 > bytes.length) return undefined;
    const mode = bytes.readUInt32BE(at + modeAt);
    let nameAt = flagsAt + (bytes.readUInt16BE(flagsAt) & 0x4000 ? 4 : 2);
    let kept = 0;
    if (version === 4) {
      const stripped = readNumber(bytes, nameAt);
      nameAt = stripped.end;
      kept = path.length - stripped.value;
    }
    const end = bytes.indexOf(0, nameAt);
    if (end < 0 || kept < 0) return undefined;
    if (version === 4) path = Buffer.concat([path.subarray(0, kept), bytes.subarray(nameAt, end)]);
    if (mode === gitlink || mode === sparseFolder)
      found.push((version === 4 ? path : bytes.subarray(nameAt, end)).toString());
    // Older versions pad an entry to a multiple of eight.
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
  return found;
}

/** Reads a number: seven bits a byte, plus one for each further byte, so that no number has two forms. */
function readNumber(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let at = start;
  let byte = bytes[at] ?? 0;
  let value = byte & 0x7f;
  while (byte & 0x80) {
    at += 1;
    byte = bytes[at] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, end: at + 1 };
}
