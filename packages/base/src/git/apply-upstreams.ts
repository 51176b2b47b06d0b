/** Sets the upstreams of branches in the user's configuration, and no other setting. */
import { formatNames } from "./apply-index.ts";
import { isBranch, type GitState, type GitUpstream } from "./git-state.ts";
import { type GitSetup, runGit, toReason } from "./run-git.ts";

export interface UpstreamStates {
  readonly before: GitState;
  readonly after: GitState;
  readonly now: GitState;
  /** Names of remotes in the user's configuration. */
  readonly remotes: ReadonlySet<string>;
  /** True for the short name of a branch that could not change. */
  readonly isRefused: (name: string) => boolean;
}

/** Most branches, since each one starts up to two processes. */
const maxBranches = 100;

/** Sets the upstreams, after the refs have moved. Returns a sentence for each upstream that it could not set. */
export async function applyUpstreams(repository: GitSetup, states: UpstreamStates): Promise<string[]> {
  const { before, after, now, remotes, isRefused } = states;
  const names = [...new Set([...before.branches.keys(), ...after.branches.keys()])].filter(
    (name) => !isRefused(name) && !isSame(before.branches.get(name), after.branches.get(name)),
  );
  if (names.length > maxBranches)
    return [`No upstream of a branch was set: a command may change ${maxBranches} of them.`];
  const notes: string[] = [];
  for (const name of names) {
    const wanted = after.branches.get(name);
    const isThere = after.refs.has(`refs/heads/${name}`) || after.head === `refs/heads/${name}`;
    // Settings of a branch that never existed stay in the command's repository.
    if (!isBranch(`refs/heads/${name}`) || (!isThere && wanted) || isSame(wanted, now.branches.get(name))) continue;
    const problem = !isSame(before.branches.get(name), now.branches.get(name))
      ? "you changed it meanwhile"
      : findProblem(wanted, remotes);
    const fault = problem ?? (await writeUpstream(repository, name, isThere ? (wanted ?? {}) : undefined));
    if (fault !== undefined) notes.push(`The upstream of ${formatNames([name])} stays as it was, because ${fault}.`);
  }
  return notes;
}

function isSame(one: GitUpstream | undefined, other: GitUpstream | undefined): boolean {
  return one?.remote === other?.remote && one?.merge === other?.merge;
}

/** Returns the reason why an upstream is impossible. The remote `.` is the repository itself. */
function findProblem({ remote, merge }: GitUpstream = {}, remotes: ReadonlySet<string>): string | undefined {
  if (remote !== undefined && remote !== "." && !remotes.has(remote))
    return `your configuration has no remote ${formatNames([remote])}`;
  if (merge !== undefined && !isBranch(merge)) return `${formatNames([merge])} is not the name of a branch`;
  return undefined;
}

/** Sets one upstream; undefined removes all settings of the branch, as git does. Returns the reason if git refuses. */
async function writeUpstream(
  repository: GitSetup,
  name: string,
  upstream: GitUpstream | undefined,
): Promise<string | undefined> {
  const branch = `branch.${toText(name)}`;
  const steps =
    upstream === undefined
      ? [["--remove-section", branch]]
      : (["remote", "merge"] as const).map((key) => {
          const value = upstream[key];
          return value === undefined
            ? ["--unset-all", `${branch}.${key}`]
            : ["--replace-all", `${branch}.${key}`, toText(value)];
        });
  for (const words of steps) {
    const outcome = await runGit(repository, ["config", "--local", ...words]);
    // Git ends with 5 if it has found no setting to remove.
    if (outcome.exitCode !== 0 && outcome.exitCode !== 5) return `git refuses it: ${toReason(outcome)}`;
  }
  return undefined;
}

function toText(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString();
}
