/** Finds similar names for a name that does not exist, for "did you mean". */

/** UTF-16 units. Longer names are not compared, since the cost grows with the square. */
const MAX_LENGTH = 100;

/**
 * Returns up to three candidates with at most a third of the letters wrong, or with another ending only; nearest first.
 */
export function findNearest(name: string, candidates: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  return candidates
    .map((candidate) => ({ candidate, distance: toDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ distance }) => distance < Infinity)
    .toSorted((one, other) => one.distance - other.distance || (one.candidate < other.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** Returns the candidate that is one slip away: a letter left out, added, replaced, or swapped with the next. */
export function findSlip(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const isNear = (candidate: string): boolean => Math.abs(name.length - candidate.length) <= 1;
  return candidates.find((candidate) => isNear(candidate) && countEdits(name, candidate) === 1);
}

function toDistance(wanted: string, candidate: string): number {
  if (wanted.length > MAX_LENGTH || candidate.length > MAX_LENGTH) return Infinity;
  const most = Math.ceil(Math.max(wanted.length, candidate.length) / 3);
  const hasSameStem = toStem(wanted) === toStem(candidate);
  if (!hasSameStem && Math.abs(wanted.length - candidate.length) > most) return Infinity;
  const edits = countEdits(wanted, candidate);
  return edits <= most || hasSameStem ? edits : Infinity;
}

function toStem(name: string): string {
  return name.replace(/\.[^.]*$/, "");
}

/** Counts letters left out, added, replaced, or swapped with the next. */
function countEdits(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const replaced = row[j - 1]! + (isSame ? 0 : 1);
      const swapped = i > 1 && isSwapped ? before[j - 2]! + 1 : Infinity;
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, replaced, swapped));
    }
    before = row;
    row = next;
  }
  return row[other.length]!;
}
