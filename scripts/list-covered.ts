/**
 * Adds the clauses that have a test now to test/conformance/covered.ts. Run it after writing the first test of a clause.
 * A clause leaves the list only if test/conformance/withdrawn.ts gives the reason.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCitedClauses } from "../test/conformance/cited.ts";
import { covered } from "../test/conformance/covered.ts";
import { requirements } from "../test/conformance/requirements.ts";
import { findLostClauses } from "../test/conformance/withdrawn.ts";

const { cited, always } = readCitedClauses();
const known = new Set(requirements.map(({ id }) => id));
const lost = findLostClauses(covered, known);
if (lost.length > 0) {
  console.error(`${lost.join(", ")} left the contracts: add each to test/conformance/withdrawn.ts with the reason`);
  process.exit(1);
}
const listed = requirements.filter(({ id }) => cited.has(id) || covered.includes(id));
const nightly = requirements.filter(({ id }) => cited.has(id) && !always.has(id));
const toList = (name: string, clauses: typeof requirements): string => {
  const ids = clauses.map(({ id }) => `"${id}"`);
  const line = `export const ${name}: readonly string[] = [${ids.join(", ")}];\n`;
  // As oxfmt writes it.
  return line.length <= 121 ? line : `${line.slice(0, line.indexOf(" = ["))} = [\n  ${ids.join(",\n  ")},\n];\n`;
};
const text = `/** Clauses that have a test. The gate fails when one of them loses it. */
${toList("covered", listed)}
/** Clauses whose tests only \`npm run test:deep\` runs. Every run proves the others. */
${toList("provenNightly", nightly)}`;
writeFileSync(join(import.meta.dirname, "../test/conformance/covered.ts"), text);
