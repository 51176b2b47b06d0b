/** The branches of a conversation: its responses form a tree, and readers see one way through it (C250). */
import type { ResponseRecord } from "./store.ts";

export interface Branches {
  /** Lists responses that follow the one at a place, or the start (0), oldest first. */
  listVersions(parent: number): readonly ResponseRecord[];
  /** Lists the responses up to this one. Returns undefined if the response, or one before it, is unknown. */
  listBranch(responseId: string): readonly ResponseRecord[] | undefined;
  /** Finds the end of the branch, by the newest response at each fork. */
  findEnd(start: ResponseRecord): ResponseRecord;
}

/** @param all responses of one conversation, in order */
export function createBranches(all: readonly ResponseRecord[]): Branches {
  const parents = new Map<ResponseRecord, number | undefined>();
  let shown = 0;
  for (const response of all) {
    const { position, parent, reverted } = response;
    // An earlier Sheaf stored no parents, so the place of a hidden response is unknown.
    parents.set(response, parent ?? (reverted ? undefined : shown));
    if (!reverted) shown = position;
  }
  const versions = Map.groupBy(all, (response) => parents.get(response));
  const listVersions = (parent: number): readonly ResponseRecord[] => versions.get(parent) ?? [];
  return {
    listVersions,
    listBranch(responseId) {
      const way: ResponseRecord[] = [];
      for (let next = all.find(({ id }) => id === responseId); next; next = all[parents.get(next)! - 1]) {
        if (parents.get(next) === undefined) return undefined;
        way.unshift(next);
      }
      return way.length === 0 ? undefined : way;
    },
    findEnd(start) {
      let end = start;
      for (let next: typeof end | undefined = start; next; next = listVersions(next.position).at(-1)) end = next;
      return end;
    },
  };
}
