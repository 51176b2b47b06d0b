/** Writes test/conformance/covered.ts: the clauses that have a test. Run it after writing the first test of a clause. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCitedClauses } from "../test/conformance/cited.ts";
import { requirements } from "../test/conformance/requirements.ts";

const cited = readCitedClauses();
const lines = requirements.filter(({ id }) => cited.has(id)).map(({ id }) => `  "${id}",\n`);
const text = `/** Clauses that have a test. The gate fails when one of them loses it. */\nexport const covered: readonly string[] = [\n${lines.join("")}];\n`;
writeFileSync(join(import.meta.dirname, "../test/conformance/covered.ts"), text);
