/** Applies a command's changes of its index to the user's. Git checks the paths, and no flag is copied. */
import { setTimeout as wait } from "node:timers/promises";
import { readObjectTypes } from "./import-pack.ts";
import { type GitSetup, runGit, toReason } from "./run-git.ts";

type Index = ReadonlyMap<string, string>;

export interface IndexStates {
  /** The entries that the command found, as in `GitState`. */
  readonly before: Index;
  /** The entries that it left. */
  readonly after: Index;
  /** The entries that the repository has. */
  readonly now: Index;
}

export interface IndexPlan {
  /** Input of `git update-index`; empty without a change. */
  readonly input: Buffer;
  readonly notes: readonly string[];
}

const stages = ["0", "1", "2", "3"] as const;
const gitlink = "160000";

/** Milliseconds between tries, since the user's git or editor locks the index for a moment. */
const lockWaits = [20, 50, 100, 200, 400, 800] as const;

/** Plans changes of entries that the user has not changed. `isPartial`: a server has some objects. */
export async function planIndex(
  repository: GitSetup,
  { before, after, now }: IndexStates,
  isPartial: boolean,
): Promise<IndexPlan> {
  const changed = listChangedPaths(before, after).filter((path) => !isEqual(now, after, path));
  const kept = changed.filter((path) => !isEqual(now, before, path));
  const taken = changed.filter((path) => isEqual(now, before, path));
  const notes = kept.length === 0 ? [] : [`The index keeps ${formatNames(kept)}, which you changed meanwhile.`];
  const fault = await findFault(repository, taken, after, isPartial);
  if (fault !== undefined) return { input: Buffer.alloc(0), notes: [...notes, formatFault(fault)] };
  return { input: encodeEntries(taken, before, after), notes };
}

function formatFault(fault: string): string {
  return `The index stays as it was, because ${fault}.`;
}

/** Lists the changed paths in git's order. */
function listChangedPaths(before: Index, after: Index): string[] {
  const paths = new Set<string>();
  for (const [key, value] of after) if (before.get(key) !== value) paths.add(key.slice(2));
  for (const key of before.keys()) if (!after.has(key)) paths.add(key.slice(2));
  return [...paths].toSorted((one, other) => (one < other ? -1 : 1));
}

function isEqual(one: Index, other: Index, path: string): boolean {
  return stages.every((stage) => one.get(`${stage} ${path}`) === other.get(`${stage} ${path}`));
}

/** Returns the fault of an entry: git would accept an entry whose object is missing, or is a folder. */
async function findFault(
  repository: GitSetup,
  paths: readonly string[],
  after: Index,
  isPartial: boolean,
): Promise<string | undefined> {
  const wanted = new Map<string, string>();
  for (const path of paths) {
    for (const stage of stages) {
      const [mode = gitlink, id = ""] = after.get(`${stage} ${path}`)?.split(" ") ?? [];
      if (mode !== gitlink) wanted.set(id, path);
    }
  }
  const types = await readObjectTypes(repository, wanted.keys());
  for (const [id, path] of wanted) {
    const type = types.get(id) ?? (isPartial ? "blob" : "missing");
    if (type !== "blob") return `the content of ${formatNames([path])} is ${type === "missing" ? type : `a ${type}`}`;
  }
  return undefined;
}

function encodeEntries(paths: readonly string[], before: Index, after: Index): Buffer {
  const entries = paths.flatMap((path) =>
    stages.flatMap((stage) => {
      const value = after.get(`${stage} ${path}`);
      return value === undefined ? [] : [`${value} ${stage}\t${path}\0`];
    }),
  );
  const [value = ""] = (before.size > 0 ? before : after).values();
  const none = "0".repeat(value.slice("100644 ".length).length);
  // A merged entry replaces the others of its path. Removals start at the end, since each one moves all later entries.
  const removed = paths.filter((path) => !after.has(`0 ${path}`)).toReversed();
  return Buffer.from([...removed.map((path) => `0 ${none}\t${path}\0`), ...entries].join(""), "latin1");
}

/** Applies the plan. Returns a sentence about each entry that stays. */
export async function applyIndex(repository: GitSetup, { input, notes }: IndexPlan): Promise<readonly string[]> {
  if (input.length === 0) return notes;
  // Git's cache of untracked files stays in the index.
  const words = ["-c", "core.untrackedCache=keep", "update-index", "-z", "--index-info"];
  for (const delay of [...lockWaits, 0]) {
    const outcome = await runGit(repository, words, { input });
    if (outcome.exitCode === 0) return [...notes, ...listIgnored(outcome.stderr)];
    const isLocked = outcome.stderr.includes("index.lock");
    if (!isLocked) return [...notes, formatFault(`git refuses it (${toReason(outcome)})`)];
    if (delay > 0) await wait(delay);
  }
  const problem = `another program has locked it: wait for it to end, or remove ${repository.gitFolder}/index.lock`;
  return [...notes, formatFault(problem)];
}

/** Lists the paths that git skips: those in `.git` or outside of the working tree. */
function listIgnored(stderr: string): string[] {
  const paths = [...stderr.matchAll(/^Ignoring path (.*)$/gm)].map(([, path = ""]) =>
    Buffer.from(path).toString("latin1"),
  );
  return paths.length === 0 ? [] : [`The index stays without ${formatNames(paths)}, since git refuses such a path.`];
}

/** Formats some names, given as bytes, for a sentence. */
export function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => JSON.stringify(Buffer.from(name, "latin1").toString()));
  return names.length > shown.length ? `${shown.join(", ")} and ${names.length - shown.length} more` : shown.join(", ");
}
