/**
 * Lists the hits of a habit of test/support/english.ts: `npm run english -- "things that talk"`.
 * `--update` lowers the limits in test/english-limits.json to the counts of today, and never raises one.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countHabits, type EnglishLimits } from "../test/support/english.ts";

const file = join(import.meta.dirname, "../test/english-limits.json");
const { since, limits } = JSON.parse(readFileSync(file, "utf8")) as EnglishLimits;
const counts = countHabits({ since, limits });
const [word] = process.argv.slice(2);

if (word === "--update") {
  const lowered: Record<string, Record<string, number>> = {};
  for (const { kind, habit, hits, limit } of counts) {
    const isNew = limits[kind]?.[habit] === undefined;
    (lowered[kind] ??= {})[habit] = isNew ? hits.length : Math.min(limit, hits.length);
  }
  writeFileSync(file, `${JSON.stringify({ since, limits: lowered }, undefined, 2)}\n`);
} else {
  for (const { kind, habit, hits, limit } of counts) {
    console.log(`${habit}, in ${kind}: ${hits.length} of ${limit}`);
    if (habit === word) for (const { place, text } of hits) console.log(`  ${place}: ${text.slice(0, 200)}`);
  }
}
