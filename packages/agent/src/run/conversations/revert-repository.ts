/** Restores HEAD, branches, tags, the stash and the index of a repository, unless something else changed them since. */
import { applyGitState } from "@sheaf/base/git/apply-git-state";
import { type GitState, isOwnRef, readGitState } from "@sheaf/base/git/git-state";
import type { GitSetup } from "@sheaf/base/git/run-git";
import type { FileReverts } from "./revert-files.ts";

/** The changes of responses to a repository. */
export interface RepositorySpan {
  readonly repository: GitSetup;
  /** The path as the result shows it. */
  readonly filePath: string;
  readonly before: GitState;
  readonly after: GitState;
  /** True if something else changed it in between. */
  readonly isInterrupted: boolean;
  /** A part of the names of refs, for commits that lose their place. */
  readonly name: string;
}

/** Undefined if the last state equals the first. */
export function toRepositorySpan(
  changes: readonly Pick<RepositorySpan, "before" | "after">[],
  place: Pick<RepositorySpan, "repository" | "filePath" | "name">,
): RepositorySpan | undefined {
  const [first] = changes;
  const last = changes.at(-1);
  if (!first || !last || isSame(first.before, last.after)) return undefined;
  const isInterrupted = changes.some(({ before }, at) => at > 0 && !isSame(changes[at - 1]!.after, before));
  return { ...place, before: first.before, after: last.after, isInterrupted };
}

/** Plans the reverts, without any change yet. A repository that cannot be read is a conflict. */
export async function planRepositoryReverts(
  spans: readonly RepositorySpan[],
  overwrites: boolean,
): Promise<FileReverts> {
  const reverts: FileReverts["reverts"][number][] = [];
  const conflicts: FileReverts["conflicts"][number][] = [];
  for (const { filePath, repository, before, after, isInterrupted, name } of spans) {
    const now = await readGitState(repository).catch(() => undefined);
    const isUnchanged = now !== undefined && isSame(now, before);
    if (now === undefined) conflicts.push({ filePath, reason: "it is not a repository any more" });
    else if (!isUnchanged && !overwrites && (isInterrupted || !isSame(now, after))) {
      conflicts.push({ filePath, reason: "something else has changed its HEAD, branches, tags, stash or index since" });
    } else {
      const apply = async () => {
        const notes = isUnchanged
          ? []
          : await applyGitState({ repository, before: now, after: toOwn(before, now), name, hasNetwork: false });
        if (notes.length === 0) return { ok: true, value: undefined } as const;
        const message = notes.join(" ");
        return { ok: false, error: { code: "IO_ERROR", message, details: "" } } as const;
      };
      reverts.push({ filePath, action: isUnchanged ? "unchanged" : "restored", isShown: true, apply });
    }
  }
  return { reverts, conflicts };
}

function isSame(one: GitState, other: GitState): boolean {
  return toText(one) === toText(other);
}

/** The refs of remotes stay: others may fetch meanwhile. */
function toOwn(state: GitState, now: GitState): GitState {
  const others = [...now.refs].filter(([name]) => !isOwnRef(name));
  return { ...state, refs: new Map([...others, ...[...state.refs].filter(([name]) => isOwnRef(name))]) };
}

function toText({ head, refs, stashes, index }: GitState): string {
  const own = [...refs].filter(([name]) => isOwnRef(name)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([head, own, stashes, [...index]]);
}
