/** What Sheaf keeps of each conversation in files of the user's data folder: a folder each, the oldest go first. */
import { readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as passEventLoop } from "node:timers/promises";
import { toHash } from "@sheaf/base/files/read-file";

/** `checkpoints`: contents before tools changed them. `results`: what tools returned, where it was too long (N57). */
const kinds = ["checkpoints", "results"] as const;

/** Ids of conversations may come from clients; only plain ones become names. */
export function toConversationFolder(dataFolder: string, kind: (typeof kinds)[number], conversationId: string): string {
  const isPlain = /^[A-Za-z0-9_-]{1,100}$/.test(conversationId);
  return join(dataFolder, kind, isPlain ? conversationId : toHash(Buffer.from(conversationId)));
}

export async function removeConversationFiles(dataFolder: string, conversationId: string): Promise<void> {
  for (const kind of kinds) {
    await rm(toConversationFolder(dataFolder, kind, conversationId), { recursive: true, force: true });
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
  const toChangeTime = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const oldestFirst = [...sizes].map(([path, bytes]) => ({ path, bytes, changedAt: toChangeTime(path) }));
  for (const { path, bytes } of oldestFirst.toSorted((one, other) => one.changedAt - other.changedAt)) {
    if (total <= totalBytes) return;
    await rm(path, { recursive: true, force: true });
    total -= bytes;
  }
}
