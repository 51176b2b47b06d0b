/** Which clauses the tests cite. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Files by clause, from the titles of tests that run: `verifies("C7", …)` or `verifies(["N29", "N30"], …)`. */
export function readCitedClauses(): Map<string, string[]> {
  const cited = new Map<string, string[]>();
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
