/**
 * Brings the changes of a command into the user's repository: objects, refs, HEAD, the stash and the index. Git's own
 * reader checks each of them. Sheaf copies no file of the command's repository.
 */
import { join } from "node:path";
import { SheafError, toSheafError } from "../errors.ts";
import { listEntryNames } from "../files/list-files.ts";
import { applyIndex, formatNames, planIndex } from "./apply-index.ts";
import { findRefusal, listClearing, listRefChanges, maxChanges, type RefChange, updateRefs } from "./apply-refs.ts";
import { applyStashes } from "./apply-stashes.ts";
import { applyUpstreams } from "./apply-upstreams.ts";
import {
  type GitState,
  isBranch,
  isObjectId,
  readCommonFolder,
  readGitState,
  readHead,
  readRepository,
} from "./git-state.ts";
import { checkConnected, importPack } from "./import-pack.ts";
import { askGit, type GitSetup, runGit, toReason } from "./run-git.ts";

export interface GitApplication {
  readonly repository: GitSetup;
  /** The state that the command found. */
  readonly before: GitState;
  /** The state that it left. */
  readonly after: GitState;
  /** New objects; without it the repository has them all. */
  readonly packFile?: string | undefined;
  /** A part of a ref's name, unique in the repository: `refs/sheaf/NAME/…` receives commits that lost their place. */
  readonly name: string;
  /** True if the command may have reached remotes, so that their refs may move. */
  readonly hasNetwork: boolean;
}

/** The place of a commit to which HEAD could not move. */
const detached = "refs/HEAD";

interface RefPlan {
  readonly taken: readonly RefChange[];
  /** The changes that Sheaf does not make, each with its reason. */
  readonly lost: Map<RefChange, string>;
  readonly notes: readonly string[];
  /** Branches that other working trees of the repository have checked out. */
  readonly elsewhere: ReadonlySet<string>;
}

/**
 * Applies a command's changes. Returns a sentence for each change that it could not make. The user's later changes win.
 * If git refuses an object, or does not find one, the repository stays as it was.
 */
export async function applyGitState(application: GitApplication): Promise<readonly string[]> {
  try {
    return await applyChanges(application);
  } catch (error) {
    return [`The repository stays as it was, because ${toSheafError(error).message}.`];
  }
}

async function applyChanges(application: GitApplication): Promise<string[]> {
  const { repository, before, after, packFile } = application;
  const reading = readRepository(repository);
  // It may fail while git reads the objects.
  reading.catch(() => undefined);
  const { now, remotes, plan, entries } = await importPack(repository, packFile, async (setup) => {
    const { state, isPartial, ...rest } = await reading;
    const refs = await planRefs(application, state, rest.remotes);
    const [index] = await Promise.all([
      planIndex(setup, { before: before.index, after: after.index, now: state.index }, isPartial),
      checkConnected(setup, listTips(application, refs), isPartial),
    ]);
    return { ...rest, now: state, plan: refs, entries: index };
  });
  const [moved, indexNotes] = await Promise.all([moveRefs(application, now, plan), applyIndex(repository, entries)]);
  const isRefused = (name: string): boolean =>
    [...plan.lost.keys()].some((change) => change.name === `refs/heads/${name}`);
  return [
    ...plan.notes,
    ...moved,
    ...(await applyStashes(repository, { before: before.stashes, after: after.stashes, now: now.stashes })),
    ...indexNotes,
    ...(await applyUpstreams(repository, { before, after, now, remotes, isRefused })),
  ];
}

/** Lists the new commits, and the objects of new tags. */
function listTips({ before, after }: GitApplication, { taken, lost }: RefPlan): string[] {
  const known = new Set([...before.stashes.map(({ id }) => id), before.head]);
  const tips = [...taken, ...lost.keys()].map((change) =>
    change.new === "" || change.name.startsWith("refs/tags/") ? change.new : `${change.new}^{commit}`,
  );
  const others = [...after.stashes.map(({ id }) => id), after.head].filter((id) => isObjectId(id) && !known.has(id));
  return [...tips.filter((tip) => tip !== ""), ...others.map((id) => `${id}^{commit}`)];
}

async function planRefs(
  { repository, before, after, hasNetwork }: GitApplication,
  now: GitState,
  remotes: ReadonlySet<string>,
): Promise<RefPlan> {
  const changes = listRefChanges(before.refs, after.refs).filter(
    ({ name, new: value }) => (now.refs.get(name) ?? "") !== value,
  );
  if (changes.length > maxChanges) {
    throw new SheafError("INTERNAL", `a command changed ${changes.length} refs; at most ${maxChanges} are possible`);
  }
  const isBranchMoved = after.head !== before.head || changes.some(({ name }) => name.startsWith("refs/heads/"));
  const elsewhere = isBranchMoved ? await listBranchesElsewhere(repository, now.head) : new Set<string>();
  const refused = new Map<string, string[]>();
  const lost = new Map<RefChange, string>();
  const taken: RefChange[] = [];
  for (const change of changes) {
    const { name, old } = change;
    const refusal = findRefusal(change, hasNetwork ? remotes : new Set());
    if (refusal !== undefined) refused.set(refusal, [...(refused.get(refusal) ?? []), name]);
    else if ((now.refs.get(name) ?? "") !== old) lost.set(change, "has changed meanwhile");
    else if (elsewhere.has(name)) lost.set(change, "is checked out in another working tree");
    else taken.push(change);
  }
  const notes = [...refused].map(([reason, names]) => {
    const stays = names.length === 1 ? "stays as it was, because it" : "stay as they were, because each";
    return `${formatNames(names)} ${stays} ${reason}.`;
  });
  return { taken, lost, notes, elsewhere };
}

/** The common folder has files of each linked working tree, so most repositories cost one look. */
async function listBranchesElsewhere(repository: GitSetup, own: string): Promise<Set<string>> {
  if (listEntryNames(join(readCommonFolder(repository.gitFolder), "worktrees")).length === 0) return new Set();
  const words = ["worktree", "list", "--porcelain"];
  const list = (await askGit(repository, words, { purpose: "list the working trees" })).toString("latin1");
  const branches = [...list.matchAll(/^branch (refs\/.+)$/gm)].map(([, branch = ""]) => branch);
  const mine = branches.indexOf(own);
  return new Set(branches.filter((_, place) => place !== mine));
}

/** Moves the refs. Deletions wait for HEAD, which thus always has an existing branch. */
async function moveRefs(application: GitApplication, now: GitState, plan: RefPlan): Promise<string[]> {
  const { repository } = application;
  const { taken, lost } = plan;
  const clearing = new Set(listClearing(taken));
  const run = async (changes: readonly RefChange[]): Promise<void> => {
    const reasons = await updateRefs(repository, changes);
    // An earlier import, whose end Sheaf did not see, may have made the same change.
    const made = reasons.size === 0 ? undefined : (await readGitState(repository)).refs;
    for (const change of changes) {
      const reason = reasons.get(change.name);
      if (reason !== undefined && (made?.get(change.name) ?? "") !== change.new)
        lost.set(change, `stays, since git refuses the change (${reason})`);
    }
  };
  await run([...clearing]);
  await run(taken.filter((change) => change.new !== ""));
  const headNotes = await moveHead(application, now, plan);
  await run(taken.filter((change) => change.new === "" && !clearing.has(change)));
  return [...headNotes, ...(await keepLost(application, lost))];
}

async function moveHead(
  { repository, before, after }: GitApplication,
  now: GitState,
  plan: RefPlan,
): Promise<string[]> {
  const { head } = after;
  if (before.head === head || now.head === head) return [];
  const stay = (reason: string): string[] => {
    if (isObjectId(head)) plan.lost.set({ name: detached, old: "", new: head }, reason);
    return isObjectId(head) ? [] : [`HEAD stays at ${formatNames([now.head])}, because ${reason}.`];
  };
  if (now.head !== before.head || (await readHead(repository)) !== before.head) return stay("has changed meanwhile");
  if (plan.elsewhere.has(head)) return stay(`${formatNames([head])} is checked out in another working tree`);
  if (!isObjectId(head) && !isBranch(head)) return stay(`${JSON.stringify(head)} is not the name of a branch`);
  const isLost = [...plan.lost.keys()].some(({ name }) => name === head);
  if (isLost && !now.refs.has(head)) return stay(`${formatNames([head])} could not be made`);
  const text = Buffer.from(head, "latin1").toString();
  const words = isObjectId(head)
    ? ["update-ref", "--no-deref", "-m", "sheaf: a command", "HEAD", head]
    : ["symbolic-ref", "-m", "sheaf: a command", "HEAD", text];
  const outcome = await runGit(repository, words);
  return outcome.exitCode === 0 ? [] : stay(`git refuses it (${toReason(outcome)})`);
}

/** Stores commits that lost their place under Sheaf's own refs. */
async function keepLost({ repository, name }: GitApplication, lost: RefPlan["lost"]): Promise<string[]> {
  const kept = [...lost.keys()].filter((change) => change.new !== "");
  const toKept = (change: RefChange): string => `refs/sheaf/${name}/${change.name.slice("refs/".length)}`;
  const reasons = await updateRefs(
    repository,
    kept.map((change) => ({ name: toKept(change), old: "", new: change.new })),
  );
  return [...lost].map(([change, reason]) => {
    const start = `${change.name === detached ? "HEAD" : formatNames([change.name])} ${reason}`;
    if (change.new === "") return `${start}, so it was not deleted.`;
    const refused = reasons.get(toKept(change));
    if (refused !== undefined) return `${start}, and the command's commit ${change.new} has no name: ${refused}.`;
    return `${start}, so the command's commit is at ${formatNames([toKept(change)])}.`;
  });
}
