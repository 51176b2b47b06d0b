/** Starts the index of a store from the index of the user's repository, so that git need not read unchanged files. */
import { mkdirSync, renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readStats } from "@sheaf/base/files/repository";
import { askGit } from "@sheaf/base/git/run-git";
import { copyIndex, updateEntries } from "../trees/record-state.ts";
import { encodeModes, noModes, readModes } from "./modes.ts";
import type { UndoStore } from "./undo-store.ts";

/** Limit for a listed index: an index of a million files is smaller. Bytes. */
const MAX_BYTES = 512 * 1024 ** 2;

const SEED_MS = 60_000;

/**
 * Takes over ordinary entries whose file has the size of its object: git converts the others (line ends, filters), or
 * skips them. Without such an index, the first state reads all files. Never rejects.
 */
export async function seedIndex({ setup, top, inner, repository }: UndoStore): Promise<void> {
  const index = join(repository.gitFolder, "index");
  if (repository.root !== top || inner !== undefined || !readStats(index)?.isFile()) return;
  const folder = join(setup.gitFolder, `seed-${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const work = { workTree: top, index: join(folder, "index"), timeoutMs: SEED_MS, maxBytes: MAX_BYTES };
    copyIndex(index, work.index);
    const listed = await askGit(setup, ["ls-files", "-z", "-v", "--stage"], { ...work, purpose: "read the index" });
    const entries = listed.toString().split("\0").filter(Boolean).map(parseEntry);
    const input = entries.map(({ id }) => `${id}\n`).join("");
    const words = ["cat-file", "--batch-check=%(objectsize)"];
    const sizes = (await askGit(setup, words, { ...work, input, purpose: "read the sizes" })).toString().split("\n");
    const present = new Map<string, Stats>();
    const others: string[] = [];
    for (const [at, { path, isOrdinary }] of entries.entries()) {
      const stats = isOrdinary ? readStats(join(top, path)) : undefined;
      if (stats && String(stats.size) === sizes[at]) present.set(path, stats);
      else others.push(path);
    }
    await updateEntries(setup, ["--force-remove"], others, work);
    const modes = readModes(noModes, { present, gone: [], top, inner: "", hasFolders: true });
    writeFileSync(join(folder, "modes"), encodeModes(modes), { mode: 0o600 });
    renameSync(folder, join(setup.gitFolder, "last"));
  } catch {
    rmSync(folder, { recursive: true, force: true });
  }
}

function parseEntry(line: string) {
  const [, tag, mode, id = "0", stage, path = ""] = /^(\S) (\d+) (\w+) (\d)\t(.*)$/s.exec(line) ?? [];
  return { path, id, isOrdinary: tag === "H" && stage === "0" && mode !== "160000" };
}
