/** docs/scale.md: its table is what the simulation gives for its costs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatScale, simulateScale } from "../bench/support/simulate-scale.ts";

const text = readFileSync(join(import.meta.dirname, "../docs/scale.md"), "utf8");

const readCost = (place: string): number => Number(new RegExp(`^\\| ${place} \\| (\\d+) µs \\|$`, "m").exec(text)![1]);

const costs = {
  writer: readCost("the server that runs the response"),
  reader: readCost("the server at which it is read"),
  database: readCost("the database"),
};

test("the table of docs/scale.md has the rows of the simulation", () => {
  for (const row of formatScale(costs)) expect(text).toContain(`${row}\n`);
});

test("twice the streams take twice the servers; a database that is full does not keep up", () => {
  const options = { activeShare: 1, deltas: 50, costs, databaseCores: 8, maxLoad: 1 };
  const [one, two] = [simulateScale({ ...options, streams: 200 }), simulateScale({ ...options, streams: 400 })];
  expect(two.servers).toBeGreaterThanOrEqual(2 * one.servers - 1);
  expect(two.databaseLoad).toBeCloseTo(2 * one.databaseLoad);
  expect(one.waitP99).toBeLessThan(two.waitP99!);
  expect(simulateScale({ ...options, streams: 1000 }).waitP99).toBeUndefined();
});
