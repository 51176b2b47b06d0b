/** Which clauses the tests cite. */
import { globSync } from "node:fs";
import { join } from "node:path";
import { inProcessChecks } from "../kit/kit-profile.ts";
import { deepFiles, removeDeepTests } from "../support/depth.ts";
import { readTests } from "../support/repository-files.ts";

const root = join(import.meta.dirname, "../..");

interface CitedClauses {
  /** Files by clause. */
  readonly cited: Map<string, string[]>;
  /** Clauses that a test cites which every run has; the others are proven each night alone. */
  readonly always: ReadonlySet<string>;
}

/**
 * Reads the titles of tests that run: `verifies("C7", …)` or `verifies(["N29", "N30"], …)`. The checks of the suite name
 * their clauses themselves; one test runs them all.
 */
export function readCitedClauses(): CitedClauses {
  const suite = "packages/conformance/test/suite.test.ts";
  const checked = inProcessChecks.flatMap(({ clauses }) => clauses).filter((clause) => !clause.startsWith("§"));
  const cited = new Map(checked.map((clause) => [clause, [suite]]));
  const always = new Set(checked);
  const deep = new Set(globSync([...deepFiles], { cwd: root }));
  const tests = readTests().filter(({ path }) => path.startsWith("packages/") || path.endsWith(".test.ts"));
  for (const { path, text: whole } of tests) {
    const text = whole
      .replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
      .replaceAll(/\b(test|it|describe)\.(skip|todo)\([^\n]*/g, "");
    for (const clause of readClauses(text)) cited.set(clause, [...(cited.get(clause) ?? []), path]);
    if (!deep.has(path)) for (const clause of readClauses(removeDeepTests(text))) always.add(clause);
  }
  return { cited, always };
}

function readClauses(text: string): string[] {
  return [...text.matchAll(/\bverifies\(\s*(?:"([^"]+)"|\[([^\]]*)\])/g)].flatMap(([, single, several]) =>
    single ? [single] : [...several!.matchAll(/"([^"]+)"/g)].map(([, clause]) => clause!),
  );
}
