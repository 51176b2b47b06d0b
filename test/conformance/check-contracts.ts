/** Findings of the gate: each is a sentence with the command or the edit that mends it. */
import {
  type Clause,
  countRowWords,
  countWords,
  findDeadLinks,
  findDeadPaths,
  findNumbers,
  hashOf,
} from "./contract.ts";

/** Words of a clause, without its tables and examples. */
const maxWords = 80;

/** Words of a row of a clause's table. */
const maxRowWords = 50;

export type Requirements = Readonly<Record<string, Readonly<Record<string, readonly [title: string, looked: string]>>>>;

interface Contracts {
  readonly clauses: readonly Clause[];
  readonly requirements: Requirements;
  readonly cited: ReadonlyMap<string, readonly string[]>;
  readonly withdrawn: readonly { readonly id: string }[];
}

/** Clauses without a test, without a line in requirements.ts, with other words than those that were looked at, or too long. */
export function findOpenClauses({ clauses, requirements, cited, withdrawn }: Contracts): string[] {
  const listed = new Map(
    Object.entries(requirements).flatMap(([document, list]) =>
      Object.entries(list).map(([id, [, looked]]) => [id, { document, looked }] as const),
    ),
  );
  const gone = new Set(withdrawn.map(({ id }) => id));
  const present = new Map(clauses.map((clause) => [clause.id, clause]));
  const problems = clauses.flatMap((clause, at): string[] => {
    const { id, document } = clause;
    const entry = listed.get(id);
    if (gone.has(id)) return [`${id} is withdrawn: remove it from ${document}.md`];
    if (clauses.findIndex((other) => other.id === id) !== at) return [`${id} is in the contracts twice`];
    if (entry?.document !== document) return [`${id} has no line under ${document} in requirements.ts`];
    const tests = cited.get(id);
    const found: string[] = [];
    if (!tests) found.push(`${id} has no test: cite it in a title with verifies("${id}", …)`);
    else if (entry.looked !== hashOf(clause))
      found.push(
        `${id} has changed: compare it with ${[...new Set(tests)].join(", ")}, then run npm run list-covered -- --looked-at ${id}`,
      );
    const words = countWords(clause);
    const longestRow = Math.max(...countRowWords(clause));
    if (longestRow > maxRowWords) found.push(`${id} has a row of ${longestRow} words, ${maxRowWords} at most`);
    if (words > maxWords) found.push(`${id} has ${words} words outside of tables, ${maxWords} at most`);
    return found;
  });
  const lost = [...listed.keys()].filter((id) => !present.has(id) && !gone.has(id));
  return [...problems, ...lost.map((id) => `${id} left the contracts: give the reason in withdrawn.ts`)];
}

/** Numbers without a clause, links without a target, and titles that cite such a number. */
export function findDeadReferences(
  { clauses, cited, withdrawn }: Omit<Contracts, "requirements">,
  files: readonly { readonly path: string; readonly text: string }[],
): string[] {
  const known = new Set(clauses.map(({ id }) => id));
  const gone = new Set(withdrawn.map(({ id }) => id));
  const unknown = files.flatMap(({ path, text }) =>
    [...new Set(findNumbers(text))]
      .filter((id) => !known.has(id) && !(gone.has(id) && path === "CHANGELOG.md"))
      .map((id) => `${path}: ${id} is no clause`),
  );
  const links = files
    .filter(({ path }) => path.endsWith(".md"))
    .flatMap(({ path, text }) => findDeadLinks(path, text).map((link) => `${path}: ${link} doesn't exist`));
  const titles = [...cited].flatMap(([id, paths]) =>
    known.has(id) ? [] : paths.map((path) => `${path}: ${id} is no clause`),
  );
  const paths = files.flatMap(({ path, text }) =>
    findDeadPaths(path, text).map((target) => `${path}: ${target} doesn't exist`),
  );
  return [...unknown, ...links, ...paths, ...titles];
}
