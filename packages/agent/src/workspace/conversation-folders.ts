/** Files of each conversation in the user's data folder: a folder for each, of which the oldest go first. */
import { readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as passEventLoop } from "node:timers/promises";
import { listEntryNames } from "@sheaf/base/files/list-files";
import { toHash } from "@sheaf/base/files/read-file";

/** Clients may choose ids of conversations; only plain ones become names. */
export function toIdName(id: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(id) ? id : toHash(Buffer.from(id));
}

/** The folder with long results of a conversation (N57). */
export function toResultsFolder(dataFolder: string, conversationId: string): string {
  return join(dataFolder, "results", toIdName(conversationId));
}

/** The folder with the names of a conversation's states, in a store. */
export function toStateRefs(conversationId: string): string {
  return `refs/sheaf/${toIdName(conversationId)}`;
}

/** The stores of states, one for each folder. */
export function toUndoFolder(dataFolder: string): string {
  return join(dataFolder, "undo");
}

/** Git removes the contents of states that have no names any more when it tidies their store. */
export async function removeConversationFiles(dataFolder: string, conversationId: string): Promise<void> {
  const stores = toUndoFolder(dataFolder);
  const states = listEntryNames(stores).map((name) => join(stores, name, toStateRefs(conversationId)));
  for (const folder of [toResultsFolder(dataFolder, conversationId), ...states]) {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every entry below a folder. Empty for a folder that cannot be read, or that another process has removed. */
export function listSizes(folder: string): [name: string, bytes: number][] {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return names.map((name) => [name, statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0]);
  } catch {
    return [];
  }
}

export function sumSizes(sizes: Iterable<readonly [name: string, bytes: number]>): number {
  return [...sizes].reduce((sum, [, bytes]) => sum + bytes, 0);
}

/** Sorts paths, the oldest first. */
export function sortByAge(paths: readonly string[]): string[] {
  const times = new Map(paths.map((path) => [path, statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0]));
  return paths.toSorted((one, other) => times.get(one)! - times.get(other)!);
}

/** Removes the conversations that were changed longest ago until the others fit. */
export async function makeRoom(own: string, totalBytes: number): Promise<void> {
  const folder = dirname(own);
  const sizes = new Map<string, number>();
  for (const name of readdirSync(folder)) {
    await passEventLoop();
    const path = join(folder, name);
    if (path !== own) sizes.set(path, sumSizes(listSizes(path)));
  }
  let total = sumSizes(sizes);
  if (total <= totalBytes) return;
  for (const path of sortByAge([...sizes.keys()])) {
    if (total <= totalBytes) return;
    await rm(path, { recursive: true, force: true });
    total -= sizes.get(path)!;
  }
}
