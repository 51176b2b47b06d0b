/** Sheaf's column of docs/failure-matrix.md, in the rows that the README shows and that end soon. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sheaf } from "../../bench/failure-matrix/agents.ts";
import { faults } from "../../bench/failure-matrix/faults.ts";
import { runAgent } from "../../bench/failure-matrix/run-agent.ts";
import { createTestFolder } from "../support/sheaf.ts";

const folders = createTestFolder();
const page = readFileSync(join(import.meta.dirname, "../../docs/failure-matrix.md"), "utf8");
/** The first column after the title is Sheaf's. */
const cells = new Map(
  page.split("\n").flatMap((line) => {
    const [, title = "", cell = ""] = line.split("|").map((text) => text.trim());
    return [[title, cell] as const];
  }),
);

test("the page has a row for each fault", () => {
  expect(faults.map(({ title }) => title).filter((title) => !cells.has(title))).toEqual([]);
});

describe("Sheaf ends as the page says", () => {
  const slow = /overloaded|limits the rate|before an answer|^The model hangs/;
  test.concurrent.each(faults.filter(({ title }) => !slow.test(title)))("$title", async (fault) => {
    const { exit, reported } = await runAgent(sheaf, fault, { folder: folders.newFolder(), limitSeconds: 30 });
    expect(cells.get(fault.title)).toMatch(new RegExp(`^exit ${exit}, ${reported}, `));
  });
});
