/** Applies a command's changes of its stashes to the user's list. Stashes that the user has made since stay on top. */
import type { GitStash } from "./git-state.ts";
import { type GitSetup, runGit, toReason } from "./run-git.ts";

export interface StashStates {
  /** The list that the command found, the newest one first. */
  readonly before: readonly GitStash[];
  /** The list that it left. */
  readonly after: readonly GitStash[];
  /** The list that the repository has. */
  readonly now: readonly GitStash[];
}

/** Most steps, since each one starts a process. */
const maxSteps = 200;

/** Applies the changes. Returns a sentence if it could not make the whole list. */
export async function applyStashes(repository: GitSetup, states: StashStates): Promise<string[]> {
  const { now } = states;
  const wanted = toWantedList(states);
  const isKept = new Set(wanted.map(({ id }) => id));
  const remaining = now.filter(({ id }) => isKept.has(id));
  let shared = 0;
  while (shared < remaining.length && remaining.at(-1 - shared)?.id === wanted.at(-1 - shared)?.id) shared += 1;
  const lasting = new Set(remaining.slice(remaining.length - shared).map(({ id }) => id));
  const dropped = now.flatMap(({ id }, place) => (lasting.has(id) ? [] : [place])).toReversed();
  const stored = wanted.slice(0, wanted.length - shared).toReversed();
  if (dropped.length + stored.length > maxSteps)
    return [`The list of stashes stays as it was: a command may change ${maxSteps} of them.`];
  for (const place of dropped) {
    const words = ["reflog", "delete", "--rewrite", "--updateref", `refs/stash@{${place}}`];
    const fault = await run(repository, words);
    if (fault !== undefined) return [fault];
  }
  if (dropped.length > 0 && lasting.size === 0) {
    const fault = await run(repository, ["update-ref", "-d", "refs/stash"]);
    if (fault !== undefined) return [fault];
  }
  for (const { id, message } of stored) {
    const text = Buffer.from(message, "latin1").toString().slice(0, 1000);
    const fault = await run(repository, ["update-ref", "--create-reflog", "-m", text, "refs/stash", id]);
    if (fault !== undefined) return [fault];
  }
  return [];
}

/** Returns the list to make, with each stash once. */
function toWantedList({ before, after, now }: StashStates): GitStash[] {
  const found = new Set(before.map(({ id }) => id));
  const left = new Set(after.map(({ id }) => id));
  const mine = now.filter(({ id }) => !found.has(id) && !left.has(id));
  // A stash that the repository has lost was dropped by the user.
  const present = new Set(now.map(({ id }) => id));
  const theirs = after.filter(({ id }) => present.has(id) || !found.has(id));
  return [...new Map([...mine, ...theirs].map((stash) => [stash.id, stash])).values()];
}

async function run(repository: GitSetup, words: readonly string[]): Promise<string | undefined> {
  const outcome = await runGit(repository, words);
  return outcome.exitCode === 0
    ? undefined
    : `The list of stashes is not as the command left it: git refused ${words[0]}: ${toReason(outcome)}.`;
}
