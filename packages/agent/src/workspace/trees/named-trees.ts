/** The working trees of the user's repositories: each has a name, a folder, and a record of its origin (C70 to C72). */
import { join, relative } from "node:path";
import { parseJson } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import { takeFileLock } from "@sheaf/base/file-lock";
import { isFolder } from "@sheaf/base/make-folder";
import { listEntryNames } from "@sheaf/base/files/list-files";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { replaceFile } from "@sheaf/base/replace-file";
import { toHash } from "@sheaf/base/files/read-file";
import { isBelow } from "@sheaf/base/files/workspace";
import { removeTree } from "@sheaf/base/files/remove-tree";
import { toTreePlace, type TreePlace } from "./working-tree.ts";

export interface TreeRecord {
  /** The root of its original repository. */
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

/** True for a name that can be part of a path, and of a branch. */
export function isTreeName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name);
}

/** The folder of all trees. */
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

/** The trees of a repository by name; without `source`, the trees of all repositories. */
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

function toRecordFile({ folder }: NamedTree): string {
  return join(folder, "tree.json");
}

/** Undefined if the tree is missing, or was never complete. */
export function readTreeRecord(tree: NamedTree): TreeRecord | undefined {
  return parseJson(readSmallFile(toRecordFile(tree), MAX_RECORD_BYTES) ?? "") as TreeRecord | undefined;
}

export function writeTreeRecord(tree: NamedTree, record: TreeRecord): void {
  replaceFile(toRecordFile(tree), `${JSON.stringify(record, undefined, 2)}\n`);
}

/** The record of a tree with files; undefined if its files are gone, or were never complete. */
export function readOpenTree(tree: NamedTree): TreeRecord | undefined {
  const record = readTreeRecord(tree);
  return record && !record.isRemoved && isFolder(tree.files) ? record : undefined;
}

/** Removes everything but the record and its lock. */
export async function removeTreeFiles({ files, index, mirrorFolder }: NamedTree): Promise<void> {
  for (const place of [files, index, mirrorFolder]) await removeTree(place);
}

/** The trees with files that no process uses: a killed run left them, or a version that made no branches. */
export function listLeftTrees(dataFolder: string): readonly NamedTree[] {
  return listTrees(dataFolder).filter((tree) => {
    const release = isFolder(tree.files) ? takeFileLock(toRecordFile(tree)) : undefined;
    release?.();
    return release !== undefined;
  });
}

/** Locks the tree for one run at a time. Returns the function that unlocks it. @throws SheafError CONVERSATION_BUSY. */
export function holdTree(tree: NamedTree): () => void {
  const release = takeFileLock(toRecordFile(tree));
  if (release) return release;
  const message = `another run uses the working tree ${tree.name}: wait for it, or name another one`;
  throw new SheafError("CONVERSATION_BUSY", message);
}
