/** Which clauses the tests cite. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inProcessChecks } from "../kit/kit-profile.ts";

const root = join(import.meta.dirname, "../..");

/**
 * Files by clause, from the titles of tests that run: `verifies("C7", …)` or `verifies(["N29", "N30"], …)`.
 * The checks of the suite name their clauses themselves; one test runs them all.
 */
export function readCitedClauses(): Map<string, string[]> {
  const suite = "packages/conformance/test/suite.test.ts";
  const checked = inProcessChecks.flatMap(({ clauses }) => clauses).filter((clause) => !clause.startsWith("§"));
  const cited = new Map(checked.map((clause) => [clause, [suite]]));
  for (const path of globSync(["test/**/*.test.ts", "packages/*/test/**/*.ts"], { cwd: root })) {
    const text = readFileSync(join(root, path), "utf8")
      .replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
      .replaceAll(/\b(test|it|describe)\.(skip|todo)\([^\n]*/g, "");
    for (const [, single, several] of text.matchAll(/\bverifies\(\s*(?:"([^"]+)"|\[([^\]]*)\])/g)) {
      const clauses = single ? [single] : [...several!.matchAll(/"([^"]+)"/g)].map(([, clause]) => clause!);
      for (const clause of clauses) cited.set(clause, [...(cited.get(clause) ?? []), path]);
    }
  }
  return cited;
}
