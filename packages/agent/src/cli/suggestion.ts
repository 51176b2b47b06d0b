/** The nearest of some names, for "did you mean". */

/** The candidate with at most a third of its letters wrong; undefined if none is near. */
export function findNearest(word: string, candidates: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Infinity;
  for (const candidate of candidates) {
    const distance = countEdits(word.toLowerCase(), candidate.toLowerCase());
    if (distance < least && distance <= Math.ceil(candidate.length / 3)) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

/** Levenshtein distance; words are short. */
function countEdits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, substitution));
    }
    row = next;
  }
  return row[b.length]!;
}
