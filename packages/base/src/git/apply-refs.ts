/**
 * Moves refs of the user's repository as a command moved its own. If the user has moved one in the meantime, it stays.
 */
import { type GitSetup, runGit, toReason } from "./run-git.ts";
import { isBranch, isObjectId } from "./git-state.ts";

/** A change of a ref; a missing ref has the value `""`. */
export interface RefChange {
  readonly name: string;
  readonly old: string;
  readonly new: string;
}

type Refs = ReadonlyMap<string, string>;

/** Most refs that one command may change. */
export const maxChanges = 20_000;

/** Most refs that Sheaf tries one by one if git refuses them together. */
const maxSingle = 200;

/** Lists the differences, without the stash and without refs of git's unfinished work. */
export function listRefChanges(before: Refs, after: Refs): RefChange[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names]
    .map((name) => ({ name, old: before.get(name) ?? "", new: after.get(name) ?? "" }))
    .filter((change) => change.old !== change.new && change.name !== "refs/stash" && !isPrivate(change));
}

/**
 * True for refs that stay in the copy: git sets a remote's `HEAD` unasked, and unfinished work stays with the command.
 */
function isPrivate({ name }: RefChange): boolean {
  return /^refs\/(?:(?:bisect|rewritten|worktree|prefetch)\/|remotes\/[^/]+\/HEAD$)/.test(name);
}

/** Returns the reason why a command must not change this ref; undefined if it may. Refs of `remotes` may move. */
export function findRefusal(change: RefChange, remotes: ReadonlySet<string>): string | undefined {
  const { name } = change;
  if ([change.old, change.new].some((value) => value !== "" && !isObjectId(value))) return "is a symbolic ref";
  if (name.startsWith("refs/heads/"))
    return isBranch(name) || change.new === "" ? undefined : "is not the name of a branch";
  if (name.startsWith("refs/tags/"))
    return /^refs\/tags\/(?:-|HEAD$)/.test(name) ? "is not the name of a tag" : undefined;
  if (!name.startsWith("refs/remotes/")) return "is outside of branches and tags";
  const isKnown = [...remotes].some((remote) => name.startsWith(`refs/remotes/${remote}/`));
  return isKnown ? undefined : "belongs to a remote that the command could not reach";
}

/** Lists the deletions that make room for another ref: `a` for `a/b`, or `a/b` for `a`. */
export function listClearing(changes: readonly RefChange[]): RefChange[] {
  const set = changes.filter((change) => change.new !== "").map(({ name }) => name);
  const names = new Set(set);
  const folders = new Set(set.flatMap(listFolders));
  return changes.filter(
    (change) =>
      change.new === "" && (folders.has(change.name) || listFolders(change.name).some((folder) => names.has(folder))),
  );
}

function listFolders(name: string): string[] {
  const parts = name.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** Makes each change, if the ref still has its old value. Returns a reason for each ref that git refused. */
export async function updateRefs(
  repository: GitSetup,
  changes: readonly RefChange[],
): Promise<ReadonlyMap<string, string>> {
  if (changes.length === 0) return new Map();
  const refused = await tryChanges(repository, changes);
  if (refused === undefined) return new Map();
  if (changes.length === 1 || changes.length > maxSingle) return new Map(changes.map(({ name }) => [name, refused]));
  const reasons = new Map<string, string>();
  for (const change of changes) {
    const reason = await tryChanges(repository, [change]);
    if (reason !== undefined) reasons.set(change.name, reason);
  }
  return reasons;
}

/** Makes all changes or none. Returns the reason for none. */
async function tryChanges(repository: GitSetup, changes: readonly RefChange[]): Promise<string | undefined> {
  const none = "0".repeat(changes[0]!.new.length || changes[0]!.old.length);
  const lines = changes.map(({ name, old, new: value }) =>
    value === "" ? `delete ${name}\0${old}\0` : `update ${name}\0${value}\0${old || none}\0`,
  );
  const words = ["update-ref", "--no-deref", "--create-reflog", "-m", "sheaf: a command", "--stdin", "-z"];
  const outcome = await runGit(repository, ["-c", "core.filesRefLockTimeout=2000", ...words], {
    // If the last word is missing because Sheaf ends while it writes, git changes no ref.
    input: Buffer.from(["start\0", ...lines, "commit\0"].join(""), "latin1"),
  });
  return outcome.exitCode === 0 ? undefined : toReason(outcome);
}
