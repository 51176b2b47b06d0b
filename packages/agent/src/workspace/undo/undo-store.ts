/** The store of a folder's states: Sheaf's own bare repository, one for each folder. */
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseJson } from "@sheaf/protocol/check-value";
import { makeFolder } from "@sheaf/base/make-folder";
import { replaceFile } from "@sheaf/base/replace-file";
import { listEntryNames } from "@sheaf/base/files/list-files";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { toHash } from "@sheaf/base/files/read-file";
import { findRepository, type Repository } from "@sheaf/base/files/repository";
import { type GitSetup, runGit } from "@sheaf/base/git/run-git";
import { seedIndex } from "./seed-index.ts";
import { openMirror } from "../trees/mirror.ts";
import {
  listSizes,
  makeRoom,
  sortByAge,
  sumSizes,
  toIdName,
  toStateRefs,
  toUndoFolder,
} from "../conversation-folders.ts";

/** Limit for all stores; above it, Sheaf removes the least recently used ones. Bytes. */
const MAX_TOTAL_BYTES = 2 * 1024 ** 3;

/** Limit for one store; above it, the oldest conversations lose their states. Bytes. */
const MAX_STORE_BYTES = 1024 ** 3;

const MAX_RECORD_BYTES = 64 * 1024;

/** Another process may be making a state, so git keeps new objects. */
const GC_WORDS = ["-c", "gc.auto=2000", "-c", "gc.packRefs=false", "gc", "-q", "--no-detach", "--prune=2.hours.ago"];

const GC_MS = 10 * 60_000;

/** A folder with a store. */
export interface StoredFolder {
  /** The folder by its path in conversations: absolute, no link. */
  readonly root: string;
  /** The root of its repository, or `root`: ignore rules above the folder apply. */
  readonly top: string;
}

export interface UndoStore extends StoredFolder {
  readonly setup: GitSetup;
  /** The part of `top` that the states have; undefined: all. */
  readonly inner: string | undefined;
  /** The user's repository, if the folder is in one. */
  readonly repository: Repository;
}

export function toStateRef(conversationId: string, responseId: string): string {
  return `${toStateRefs(conversationId)}/${toIdName(responseId)}`;
}

/** The folder with the index of a running response. */
export function toRunFolder(gitFolder: string, responseId: string): string {
  return join(gitFolder, "runs", toIdName(responseId));
}

/** The store of a folder, made if it is not there. @throws SheafError INTERNAL, an error of the file system. */
export async function openUndoStore(
  dataFolder: string,
  root: string,
  git: Omit<GitSetup, "gitFolder">,
): Promise<UndoStore> {
  const repository = findRepository(root);
  const top = repository.git === "folder" || repository.git === "file" ? repository.root : root;
  const folder = join(toUndoFolder(dataFolder), toHash(Buffer.from(`${root}\0${top}`)).slice(0, 32));
  const setup = { ...git, gitFolder: folder };
  const inner = relative(top, root) || undefined;
  const isNew = !existsSync(folder);
  makeFolder(toUndoFolder(dataFolder));
  await openMirror(setup);
  const hasObjects = top === repository.root && repository.git !== "none";
  const objects = hasObjects && (await hasSameObjects({ ...git, gitFolder: repository.commonFolder }));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text, { mode: 0o600 });
  for (const name of ["objects/info", "info"]) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  write("objects/info/alternates", objects ? `${repository.commonFolder}/objects\n` : "");
  // Bytes stay as they are, under any attributes of the folder itself.
  write("info/attributes", "* !text !eol !crlf !ident !filter !working-tree-encoding\n");
  if (isNew) replaceFile(join(folder, "folder.json"), `${JSON.stringify({ root, top })}\n`);
  const used = new Date();
  utimesSync(folder, used, used);
  if (isNew) void makeRoom(folder, MAX_TOTAL_BYTES).catch(() => undefined);
  const store = { root, top, setup, inner, repository };
  if (!existsSync(join(folder, "last"))) await seedIndex(store);
  return store;
}

/** Objects named by SHA-256 are of no use to a store of SHA-1. */
async function hasSameObjects(repository: GitSetup): Promise<boolean> {
  const { exitCode, stdout } = await runGit(repository, ["rev-parse", "--show-object-format"]);
  return exitCode === 0 && stdout.toString().trim() === "sha1";
}

/** The existing stores, without the program of git. */
export function listUndoStores(dataFolder: string): readonly (StoredFolder & { readonly gitFolder: string })[] {
  const all = toUndoFolder(dataFolder);
  return listEntryNames(all).flatMap((name) => {
    const gitFolder = join(all, name);
    const known = parseJson(readSmallFile(join(gitFolder, "folder.json"), MAX_RECORD_BYTES) ?? "") as
      | StoredFolder
      | undefined;
    return known ? [{ ...known, gitFolder }] : [];
  });
}

/** Packs objects that have become many, and forgets the oldest conversations if they take too much. Never rejects. */
export async function tidyStore({ setup }: Pick<UndoStore, "setup">): Promise<void> {
  await runGit(setup, GC_WORDS.toSpliced(-2, 0, "--auto"), { timeoutMs: GC_MS }).catch(() => undefined);
  const folder = join(setup.gitFolder, "refs/sheaf");
  const oldest = sortByAge(listEntryNames(folder).map((name) => join(folder, name)));
  if (oldest.length < 2 || sumSizes(listSizes(setup.gitFolder)) <= MAX_STORE_BYTES) return;
  for (const conversation of oldest.slice(0, Math.ceil(oldest.length / 2)))
    await rm(conversation, { recursive: true, force: true });
  await runGit(setup, GC_WORDS, { timeoutMs: GC_MS }).catch(() => undefined);
}
