/** The conformance gate: which clause of the contracts has a test that cites it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCitedClauses } from "./conformance/cited.ts";
import { covered, provenNightly } from "./conformance/covered.ts";
import { requirements } from "./conformance/requirements.ts";
import { findLostClauses, withdrawnClauses } from "./conformance/withdrawn.ts";
import { removeDeepTests } from "./support/depth.ts";

const root = join(import.meta.dirname, "..");

const { cited, always } = readCitedClauses();
const known = new Set(requirements.map(({ id }) => id));

test("every cited clause exists", () => {
  const unknown = [...cited].filter(([clause]) => !known.has(clause));
  expect(unknown).toEqual([]);
});

test("no clause lost its test", () => {
  expect(covered.filter((clause) => known.has(clause) && !cited.has(clause))).toEqual([]);
});

test("a clause leaves the contracts by test/conformance/withdrawn.ts alone", () => {
  expect(findLostClauses(covered, known)).toEqual([]);
  // A gate that cannot fail proves nothing.
  expect(findLostClauses(["C1", "C2"], new Set(["C1"]), [])).toEqual(["C2"]);
  expect(findLostClauses(["C1", "C2"], new Set(["C1"]), [{ id: "C2", reason: "" }])).toEqual([]);
});

test("a withdrawn clause has a reason, and is nowhere else", () => {
  const ids = withdrawnClauses.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => known.has(id) || cited.has(id) || covered.includes(id))).toEqual([]);
  expect(withdrawnClauses.filter(({ reason }) => reason.split(" ").length < 4)).toEqual([]);
});

test("covered.ts lists every clause that has a test (npm run list-covered writes it)", () => {
  const missing = requirements.map(({ id }) => id).filter((id) => cited.has(id) && !covered.includes(id));
  expect(missing).toEqual([]);
});

test("a clause that only test:deep proves is listed in covered.ts", () => {
  expect([...cited.keys()].filter((clause) => known.has(clause) && !always.has(clause)).toSorted()).toEqual(
    provenNightly.toSorted(),
  );
});

test("a deep test and a deep block prove their clauses each night alone", () => {
  const text = `describeDeep("a", () => {
  test(verifies("C1", "b"), () => {
    expect(1).toBe(1);
  });
});
describe("c", () => {
  testDeep(
    verifies("C2", "d"),
    () => check(),
    1000,
  );
  testDeep("e", () => check());
  test(verifies("C3", "f"), () => check());
});
`;
  expect(removeDeepTests(text).match(/C\d/g)).toEqual(["C3"]);
});

test("every clause is in its document, and the documents have no other", () => {
  for (const document of ["cli", "documents", "security-reliability"] as const) {
    const text = readFileSync(join(root, "docs/formats", `${document}.md`), "utf8");
    const present = [...text.matchAll(/^(?:- |#+ |\| )\*\*([A-Z]+-?\d+)\*\*/gm)].map(([, id]) => id);
    const listed = requirements.filter((requirement) => requirement.document === document).map(({ id }) => id);
    expect(new Set(present)).toEqual(new Set(listed));
    expect(present).toHaveLength(listed.length);
  }
});

test("the clauses without a test are listed", () => {
  const open = requirements.filter(({ id }) => !cited.has(id));
  console.info(`clauses with a test: ${requirements.length - open.length} of ${requirements.length}`);
  console.info(`without a test yet: ${open.map(({ id }) => id).join(" ")}`);
  expect(new Set(requirements.map(({ id }) => id)).size).toBe(requirements.length);
});
