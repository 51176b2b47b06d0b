/** Changes entries of the user's index as a command changed its own. Git checks the paths, and no flag comes along. */
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

const stages = ["0", "1", "2", "3"] as const;
const gitlink = "160000";

/** Milliseconds. The user's git or editor locks the index for a moment. */
const lockWaits = [20, 50, 100, 200, 400, 800] as const;

/** Gives sentences about entries that stayed as they were. `isPartial`: the repository lacks objects that a server has. */
export async function applyIndex(repository: GitSetup, states: IndexStates, isPartial: boolean): Promise<string[]> {
  const { before, after, now } = states;
  const changed = listChangedPaths(before, after).filter((path) => !isEqual(now, after, path));
  const kept = changed.filter((path) => !isEqual(now, before, path));
  const taken = changed.filter((path) => isEqual(now, before, path));
  const notes = kept.length === 0 ? [] : [`The index keeps ${formatNames(kept)}, which you changed meanwhile.`];
  if (taken.length === 0) return notes;
  const fault =
    (await findFault(repository, taken, after, isPartial)) ?? (await writeEntries(repository, taken, after));
  return fault === undefined ? notes : [...notes, `The index stays as it was, because ${fault}.`];
}

/** In the order of git. */
function listChangedPaths(before: Index, after: Index): string[] {
  const paths = new Set<string>();
  for (const [key, value] of after) if (before.get(key) !== value) paths.add(key.slice(2));
  for (const key of before.keys()) if (!after.has(key)) paths.add(key.slice(2));
  return [...paths].toSorted((one, other) => (one < other ? -1 : 1));
}

function isEqual(one: Index, other: Index, path: string): boolean {
  return stages.every((stage) => one.get(`${stage} ${path}`) === other.get(`${stage} ${path}`));
}

/** Git itself would accept an entry whose object is missing, or is a folder. */
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
    if (type !== "blob")
      return `the content of ${formatNames([path])} is ${type === "missing" ? "missing" : `a ${type}`}`;
  }
  return undefined;
}

/** Gives git's reason if it refused. It takes all entries or none. */
async function writeEntries(repository: GitSetup, paths: readonly string[], after: Index): Promise<string | undefined> {
  const entries = paths.map((path) =>
    stages.flatMap((stage) => {
      const value = after.get(`${stage} ${path}`);
      return value === undefined ? [] : [`${value} ${stage}\t${path}\0`];
    }),
  );
  const none = "0".repeat(40);
  // A merged entry replaces the others of its path. Removals start at the end, since each one moves all later entries.
  const removed = paths.filter((path) => !after.has(`0 ${path}`)).toReversed();
  const input = Buffer.from([...removed.map((path) => `0 ${none}\t${path}\0`), ...entries.flat()].join(""), "latin1");
  // Git's own cache of untracked files stays in the index.
  const words = ["-c", "core.untrackedCache=keep", "update-index", "-z", "--index-info"];
  for (const delay of [...lockWaits, 0]) {
    const outcome = await runGit(repository, words, { input });
    if (outcome.exitCode === 0) return undefined;
    if (!/index\.lock/.test(outcome.stderr)) return `git refuses it: ${toReason(outcome)}`;
    if (delay === 0) return "another program has locked it: close that program, or remove a lock that is left over";
    await wait(delay);
  }
  return undefined;
}

/** Some names of bytes, for a sentence. */
export function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => JSON.stringify(Buffer.from(name, "latin1").toString()));
  return names.length > shown.length ? `${shown.join(", ")} and ${names.length - shown.length} more` : shown.join(", ");
}
