/** Paths that a person probably means: their letters in order, not all of them. */

/** Further letters of a query are ignored. UTF-16 units. */
const MAX_QUERY = 200;

/** The best ones first; equally good ones stay in their order, shorter ones first. An empty query fits every path. */
export function rankPaths(query: string, paths: readonly string[], limit: number): readonly string[] {
  const wanted = query.slice(0, MAX_QUERY).replaceAll(/\s+/g, "").toLowerCase();
  if (wanted === "") return paths.slice(0, limit);
  return paths
    .map((path) => ({ path, score: toScore(wanted, path) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score || one.path.length - other.path.length)
    .slice(0, limit)
    .map(({ path }) => path);
}

/** 0: the letters are not there. The name of the file counts more than its folders. */
function toScore(wanted: string, path: string): number {
  const lower = path.toLowerCase();
  const name = path.lastIndexOf("/") + 1;
  if (lower.slice(name).startsWith(wanted)) return 4000 - (path.length - name);
  const inName = scoreFrom(wanted, lower, name);
  return inName > 0 ? 1000 + inName : scoreFrom(wanted, lower, 0);
}

/** Letters next to each other, and letters at the start of a word, count more. */
function scoreFrom(wanted: string, lower: string, from: number): number {
  let score = 1;
  let last = from - 1;
  for (const letter of wanted) {
    const place = lower.indexOf(letter, last + 1);
    if (place === -1) return 0;
    if (place === last + 1) score += 5;
    else if (/[^\p{L}\p{N}]/u.test(lower[place - 1] ?? "/")) score += 3;
    last = place + letter.length - 1;
  }
  return score;
}
