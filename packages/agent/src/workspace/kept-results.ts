/** Results of tools that are too long for the model: whole, in files that it opens by name (N57). */
import { randomUUID } from "node:crypto";
import { closeSync, constants, openSync, rmSync, statSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "@sheaf/base/make-folder";
import { listSizes, makeRoom, sumSizes, toResultsFolder } from "./conversation-folders.ts";
import { createWorkspace, type Workspace } from "@sheaf/base/files/workspace";

/** Limit of one file. Bytes. */
const maxFileBytes = 16 * 1024 * 1024;

const prefix = "sheaf-output";
const namePattern = /^(?:\.\/)?sheaf-output\/[\da-f]{8}\.txt$/;
const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export interface KeptResults {
  /** A new file, empty; undefined if it cannot be created. */
  create(): KeptFile | undefined;
  /** Finds a kept result by its name: `found` has the file. Undefined for any other name. */
  find(name: string): { readonly found: Workspace | undefined } | undefined;
  /** Closes the results at the end of the run. Older ones make room, and temporary ones go. Never rejects. */
  settle(): Promise<void>;
}

/** A file that grows to its end. */
export interface KeptFile {
  /** The model's name for the file. */
  readonly name: string;
  /** False once the file is full or cannot be written: the text is then not in it. */
  append(bytes: Uint8Array): boolean;
  end(): void;
}

interface ResultLimits {
  readonly fileBytes: number;
  readonly conversationBytes: number;
  readonly conversationFiles: number;
  readonly totalBytes: number;
}

const defaultLimits: ResultLimits = {
  fileBytes: maxFileBytes,
  conversationBytes: 256 * 1024 * 1024,
  conversationFiles: 1000,
  totalBytes: 1024 * 1024 * 1024,
};

/** The folder of the files: a stored conversation's, or a temporary one. */
export type ResultPlace =
  | { readonly dataFolder: string; readonly conversationId: string }
  | { readonly makeTemporary: () => string };

/**
 * Folders 0700, files 0600 (S-42), created with the first result. The oldest of the conversation go when there are too
 * many, and the oldest conversations when all together are too large.
 */
export function createKeptResults(place: ResultPlace, limits: ResultLimits = defaultLimits): KeptResults {
  let root = "dataFolder" in place ? toResultsFolder(place.dataFolder, place.conversationId) : undefined;
  const open = new Set<number>();
  let isFirst = true;
  let room: Promise<void> | undefined;

  const openRoot = (): string => {
    root ??= "makeTemporary" in place ? place.makeTemporary() : "";
    makeFolder(join(root, prefix));
    if (isFirst && "dataFolder" in place) room = makeRoom(root, limits.totalBytes).catch(() => undefined);
    isFirst = false;
    return root;
  };

  return {
    create() {
      try {
        const name = `${prefix}/${randomUUID().slice(0, 8)}.txt`;
        const folder = openRoot();
        removeOldest(join(folder, prefix), limits);
        const descriptor = openSync(join(folder, name), flags, 0o600);
        open.add(descriptor);
        const append = createAppend(descriptor, limits.fileBytes);
        const end = (): void => void (open.delete(descriptor) && closeSync(descriptor));
        // The number of a closed descriptor may be another file's.
        return { name, append: (bytes) => open.has(descriptor) && append(bytes), end };
      } catch {
        // The caller shortens the result anyway, and its note mentions the lost rest.
        return undefined;
      }
    },
    find(name) {
      if (!namePattern.test(name)) return undefined;
      const isThere = root !== undefined && statSync(join(root, name), { throwIfNoEntry: false })?.isFile() === true;
      return { found: isThere ? createWorkspace(root!) : undefined };
    },
    async settle() {
      await room;
      for (const descriptor of open) closeSync(descriptor);
      open.clear();
      if (root !== undefined && "makeTemporary" in place) rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Drops pieces that cannot be written at once: a file has the first part of its text, without gaps. */
function createAppend(descriptor: number, maxBytes: number): KeptFile["append"] {
  let free = maxBytes;
  return (bytes) => {
    free -= bytes.length;
    if (free < 0) return false;
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
      return true;
    } catch {
      // The disk is full, for instance.
      free = 0;
      return false;
    }
  };
}

/** Makes room for a new file: if there are too many, the oldest go. */
function removeOldest(folder: string, { conversationBytes, conversationFiles, fileBytes }: ResultLimits): void {
  const sizes = listSizes(folder);
  let total = sumSizes(sizes);
  let count = sizes.length;
  if (total + fileBytes <= conversationBytes && count < conversationFiles) return;
  const toTime = ([name]: readonly [string, number]): number =>
    statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  for (const [name, bytes] of sizes.toSorted((one, other) => toTime(one) - toTime(other))) {
    if (total + fileBytes <= conversationBytes && count < conversationFiles) return;
    unlinkSync(join(folder, name));
    total -= bytes;
    count -= 1;
  }
}
