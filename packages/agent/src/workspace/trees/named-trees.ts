/** The working trees of the user's repositories: each has a name, a folder, and a record of where it comes from (C70 to C72). */
import { randomUUID } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseJson } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import { isFolder, makeFolder } from "@sheaf/base/make-folder";
import { moveToFreeName } from "@sheaf/base/files/atomic-write";
import { getFaultCode } from "@sheaf/base/files/file-error";
import { listEntryNames } from "@sheaf/base/files/list-files";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { isAlive } from "@sheaf/base/process-numbers";
import { replaceFile, writeNewFile } from "@sheaf/base/replace-file";
import { toHash } from "@sheaf/base/files/read-file";
import { isBelow } from "@sheaf/base/files/workspace";
import { removeTree, toTreePlace, type TreePlace } from "./working-tree.ts";

export interface TreeRecord {
  /** The root of the repository that it comes from. */
  readonly source: string;
  /** The last commit of its branch, or the commit that it started with: other changes become the next commit. */
  readonly base: string;
  /** The branch of the tree that has this commit; undefined: it made no branch yet. */
  readonly branch?: string | undefined;
  /** Its files are gone; the record stays, by which its sessions find the branch again (C72). */
  readonly isRemoved?: boolean | undefined;
}

export interface NamedTree extends TreePlace {
  readonly name: string;
  /** The bare repository in which Sheaf makes its commits. */
  readonly mirrorFolder: string;
}

const MAX_RECORD_BYTES = 64 * 1024;

/** What a name may be: part of a path, and of a branch. */
export function isTreeName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name);
}

/** Where all of them are. */
function toTreesFolder(dataFolder: string): string {
  return join(dataFolder, "worktrees");
}

/** `source`: the root of the user's repository. */
export function toNamedTree(dataFolder: string, source: string, name: string): NamedTree {
  return toTree(join(toTreesFolder(dataFolder), toHash(Buffer.from(source)).slice(0, 16)), name);
}

function toTree(folder: string, name: string): NamedTree {
  const place = toTreePlace(join(folder, "trees", name));
  return { ...place, name, mirrorFolder: join(place.folder, "mirror.git") };
}

/** The tree that a folder is in, and the path in it; undefined for one outside of all trees. */
export function findTreeOf(dataFolder: string, folder: string): { tree: NamedTree; inner: string } | undefined {
  const [key, trees, name, files, ...inner] = relative(toTreesFolder(dataFolder), folder).split("/");
  if (!/^[0-9a-f]{16}$/.test(key ?? "") || trees !== "trees" || files !== "files") return undefined;
  if (!isTreeName(name ?? "") || inner.includes("..")) return undefined;
  const tree = toTree(join(toTreesFolder(dataFolder), key!), name!);
  return isBelow(folder, tree.files) ? { tree, inner: inner.join("/") } : undefined;
}

/** The trees of a repository by name; those of all repositories without one. */
export function listTrees(dataFolder: string, source?: string): readonly NamedTree[] {
  const all = toTreesFolder(dataFolder);
  const folders =
    source === undefined
      ? listEntryNames(all).map((key) => join(all, key))
      : [join(all, toHash(Buffer.from(source)).slice(0, 16))];
  return folders.flatMap((folder) =>
    listEntryNames(join(folder, "trees"))
      .filter(isTreeName)
      .toSorted()
      .map((name) => toTree(folder, name)),
  );
}

/** Undefined: there was no such tree, or it was never complete. */
export function readTreeRecord({ folder }: NamedTree): TreeRecord | undefined {
  return parseJson(readSmallFile(join(folder, "tree.json"), MAX_RECORD_BYTES) ?? "") as TreeRecord | undefined;
}

export function writeTreeRecord({ folder }: NamedTree, record: TreeRecord): void {
  replaceFile(join(folder, "tree.json"), `${JSON.stringify(record, undefined, 2)}\n`);
}

/** Returns the record of a tree whose files are there; undefined: they were removed, or never complete. */
export function readOpenTree(tree: NamedTree): TreeRecord | undefined {
  const record = readTreeRecord(tree);
  return record && !record.isRemoved && isFolder(tree.files) ? record : undefined;
}

/** Removes everything but the record, and the lock of this process. */
export async function removeTreeFiles({ files, index, mirrorFolder }: NamedTree): Promise<void> {
  for (const place of [files, index, mirrorFolder]) await removeTree(place);
}

/** The process that a lock names; 0: none. */
function readHolder(file: string): number {
  return Number(readSmallFile(file, MAX_RECORD_BYTES) ?? "") || 0;
}

function isHeldBy(holder: number): boolean {
  return holder > 0 && isAlive(holder);
}

/** The trees with files that no process uses: a killed run left them, or a version that made no branches. */
export function listLeftTrees(dataFolder: string): readonly NamedTree[] {
  const isLeft = ({ folder, files }: NamedTree): boolean => isFolder(files) && !isHeldBy(readHolder(toLock(folder)));
  return listTrees(dataFolder).filter(isLeft);
}

function toLock(folder: string): string {
  return join(folder, "lock");
}

/** Locks the tree for one process at a time; gives what releases it. @throws SheafError CONVERSATION_BUSY. */
export function holdTree({ folder, name }: NamedTree): () => Promise<void> {
  makeFolder(folder);
  const file = toLock(folder);
  const own = `${file}-${randomUUID()}`;
  // A lock says whose it is from its first moment: one without a number would count as left behind.
  writeNewFile(own, String(process.pid));
  try {
    for (let tries = 0; ; tries += 1) {
      try {
        moveToFreeName(own, file);
        return () => rm(file, { force: true });
      } catch (error) {
        if (getFaultCode(error) !== "EEXIST" || tries > 2) throw error;
        const holder = readHolder(file);
        if (isHeldBy(holder)) {
          const message = `the working tree ${name} is used by process ${holder}: wait for it, or name another one`;
          throw new SheafError("CONVERSATION_BUSY", message, { cause: error });
        }
        takeAway(file, holder);
      }
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/** Removes the lock of a dead process, unless somebody else was faster. */
function takeAway(file: string, holder: number): void {
  const left = `${file}-${randomUUID()}`;
  try {
    renameSync(file, left);
    if (readHolder(left) !== holder) moveToFreeName(left, file);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes(getFaultCode(error))) throw error;
  } finally {
    rmSync(left, { force: true });
  }
}
