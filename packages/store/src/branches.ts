/** The branches of a conversation: its responses form a tree, and readers see one way through it (C250). */
import type { ResponseRecord } from "./store.ts";

/** Place of the response before; undefined: an earlier Sheaf hid it. */
function findParent(all: readonly ResponseRecord[], { position, parent, reverted }: ResponseRecord) {
  if (parent !== null || reverted) return parent ?? undefined;
  return all.findLast((other) => !other.reverted && other.position < position)?.position ?? 0;
}

/** Responses of a conversation that follow the one at a place, or its start (0), oldest first. */
export function listVersions(all: readonly ResponseRecord[], parent: number): readonly ResponseRecord[] {
  return all.filter((response) => findParent(all, response) === parent);
}

/** The responses that lead to one of them, which comes last. Undefined: it is unknown, or the way to it. */
export function listBranch(all: readonly ResponseRecord[], responseId: string): readonly ResponseRecord[] | undefined {
  const way: ResponseRecord[] = [];
  for (let next = all.find(({ id }) => id === responseId); next;) {
    const parent = findParent(all, next);
    if (parent === undefined) return undefined;
    way.unshift(next);
    next = all.find(({ position }) => position === parent);
  }
  return way.length === 0 ? undefined : way;
}

/** The newest response after the last one of a branch, and so on to its end. */
export function findBranchEnd(all: readonly ResponseRecord[], start: ResponseRecord): ResponseRecord {
  let end = start;
  for (let next: typeof end | undefined = start; next; next = listVersions(all, next.position).at(-1)) end = next;
  return end;
}
