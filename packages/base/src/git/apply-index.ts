/**
 * Applies a command's changes of its index to the user's. Git checks the paths. Sheaf copies no flag of the command:
 * entries keep only the user's own flag that leaves their files out of the working tree.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { readSmallFile } from "../files/open-file.ts";
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
  /** Paths whose entries stay without a file, as input of `git update-index --skip-worktree`. */
  readonly skipped: Buffer;
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
  if (fault !== undefined) return { ...noChange, notes: [...notes, formatFault(fault)] };
  const present = taken.filter((path) => after.has(`0 ${path}`));
  const skipped = await listSkipped(repository, present, now);
  const input = encodeEntries(taken, before, after);
  return { input, skipped: Buffer.from(skipped.map((path) => `${path}\0`).join(""), "latin1"), notes };
}

const noChange = { input: Buffer.alloc(0), skipped: Buffer.alloc(0) };

/** Lists the paths that the user's index skips, and new ones without a file in the user's sparse checkout. */
async function listSkipped(repository: GitSetup, paths: readonly string[], now: Index): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const workTree = findWorkTree(repository);
  const listed = await runGit(repository, ["ls-files", "-t", "-z"], { workTree, maxBytes: 1024 ** 3 });
  const lines = new Set(listed.stdout.toString("latin1").split("\0"));
  const setting = await runGit(repository, ["config", "--type=bool", "core.sparseCheckout"]);
  const isSparse = workTree !== undefined && setting.stdout.toString() === "true\n";
  const isMissing = (path: string): boolean =>
    !now.has(`0 ${path}`) && !existsSync(Buffer.concat([Buffer.from(`${workTree}/`), Buffer.from(path, "latin1")]));
  return paths.filter((path) => lines.has(`S ${path}`) || (isSparse && isMissing(path)));
}

/** Undefined for a submodule, whose git folder is elsewhere. The git folder of a linked working tree has its path. */
function findWorkTree({ gitFolder }: GitSetup): string | undefined {
  const linked = readSmallFile(join(gitFolder, "gitdir"), 4096)?.trimEnd();
  const git = linked === undefined ? gitFolder : resolve(gitFolder, linked);
  return basename(git) === ".git" ? dirname(git) : undefined;
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
export async function applyIndex(repository: GitSetup, plan: IndexPlan): Promise<readonly string[]> {
  const entries = await updateIndex(repository, ["--index-info"], plan.input);
  const flags = entries.length > 0 ? [] : await updateIndex(repository, ["--skip-worktree", "--stdin"], plan.skipped);
  return [...plan.notes, ...entries, ...flags];
}

/** Returns a sentence about each entry that stays. */
async function updateIndex(repository: GitSetup, mode: readonly string[], input: Buffer): Promise<readonly string[]> {
  if (input.length === 0) return [];
  // Git's cache of untracked files stays in the index.
  const words = ["-c", "core.untrackedCache=keep", "update-index", "-z", ...mode];
  for (const delay of [...lockWaits, 0]) {
    const outcome = await runGit(repository, words, { input, workTree: findWorkTree(repository) });
    if (outcome.exitCode === 0) return listIgnored(outcome.stderr);
    const isLocked = outcome.stderr.includes("index.lock");
    if (!isLocked) return [formatFault(`git refuses it (${toReason(outcome)})`)];
    if (delay > 0) await wait(delay);
  }
  const problem = `another program has locked it: wait for it to end, or remove ${repository.gitFolder}/index.lock`;
  return [formatFault(problem)];
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
