/** The conformance gate: each clause of the contracts has a test that cites it, and somebody compared the two. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatContractFiles } from "./conformance/contract-files.ts";
import { readCitedClauses } from "./conformance/cited.ts";
import { findDeadReferences, findOpenClauses } from "./conformance/check-contracts.ts";
import { hashOf, parseClauses, readClauses } from "./conformance/contract.ts";
import { requirements } from "./conformance/requirements.ts";
import { withdrawnClauses } from "./conformance/withdrawn.ts";
import { removeDeepTests } from "./support/depth.ts";

const root = join(import.meta.dirname, "..");

const contracts = { clauses: readClauses(), requirements, ...readCitedClauses(), withdrawn: withdrawnClauses };

const text = (path: string): string => readFileSync(join(root, path), "utf8");

test("every clause has a test, and its words are those that somebody compared with it", () => {
  expect(findOpenClauses(contracts)).toEqual([]);
});

test("every number, link and file that the project refers to exists", () => {
  const places = ["*.md", ":!*fixtures*", "packages/*/src/*.ts", "packages/*/src/*.tsx", "scripts/*.ts"];
  const paths = execFileSync("git", ["ls-files", ...places], { cwd: root, encoding: "utf8" });
  const files = paths.trim().split("\n");
  expect(
    findDeadReferences(
      contracts,
      files.map((path) => ({ path, text: text(path) })),
    ),
  ).toEqual([]);
});

test("INDEX.md and the tables from code are as npm run list-covered writes them", () => {
  const old = formatContractFiles(contracts).filter((file) => text(file.path) !== file.text);
  expect(old.map(({ path }) => `${path} is out of date: run npm run list-covered`)).toEqual([]);
});

test("a withdrawn clause has a reason, and no test cites it", () => {
  expect(withdrawnClauses.filter(({ reason }) => reason.split(" ").length < 4)).toEqual([]);
  expect(withdrawnClauses.filter(({ id }) => contracts.cited.has(id))).toEqual([]);
});

test("a deep test and a deep block prove their clauses each night alone", () => {
  const source = `describeDeep("a", () => {
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
  expect(removeDeepTests(source).match(/C\d/g)).toEqual(["C3"]);
});

// A gate that cannot fail proves nothing.
const sample = "- **C1** Sheaf prints one line.\n- **C2** Sheaf ends.\n  - At once.\n";
const entries = parseClauses("cli", sample).map((clause) => [clause.id, ["", hashOf(clause)] as const]);
const looked = { cli: Object.fromEntries(entries) };
const tests = new Map([
  ["C1", ["a.test.ts"]],
  ["C2", ["b.test.ts"]],
]);
const open = (markdown: string, change: object = {}): string[] => {
  const clauses = parseClauses("cli", markdown);
  return findOpenClauses({ clauses, requirements: looked, cited: tests, withdrawn: [], ...change });
};

test.each([
  ["nothing", sample, {}, []],
  ["a break of a line", sample.replace("prints one", "prints\n  one"), {}, []],
  ["a clause without a test", sample, { cited: new Map([["C1", [""]]]) }, [/^C2 has no test/]],
  ["a planted clause", `${sample}- **C3** New.\n`, {}, [/^C3 has no line/]],
  ["a changed sentence", sample.replace("one", "two"), {}, [/^C1 has changed.*a\.test\.ts.*--looked-at C1$/]],
  ["a changed item", sample.replace("At once", "Later"), {}, [/^C2 has changed/]],
  ["a clause twice", `${sample}${sample.split("\n")[0]}\n`, {}, [/^C1 is in the contracts twice/]],
  ["a lost clause", sample.split("\n")[0]!, {}, [/^C2 left/]],
  ["a withdrawn clause", sample.split("\n")[0]!, { withdrawn: [{ id: "C2" }] }, []],
  ["a withdrawn clause that stays", sample, { withdrawn: [{ id: "C2" }] }, [/^C2 is withdrawn/]],
  ["a long row", `${sample}\n  | ${"word ".repeat(51)}|\n`, {}, [/^C2 has changed/, /^C2 has a row of 51 words/]],
  ["a long clause", sample.replace("line.", `line.${" more".repeat(80)}`), {}, [/^C1 has changed/, /^C1 has 85 words/]],
] as const)("the gate sees %s", (_, markdown, change, problems) => {
  expect(open(markdown, change)).toEqual(problems.map((problem) => expect.stringMatching(problem)));
});

test.each([
  ["a number", "As C9 says.", [/C9 is no clause/]],
  ["a link to a file", "See [there](../nowhere.md).", [/nowhere\.md doesn't exist/]],
  ["a link to a heading", "See [there](cli.md#c0-nothing).", [/#c0-nothing doesn't exist/]],
  ["a path", "It is in `docs/nowhere.md`.", [/docs\/nowhere\.md doesn't exist/]],
  ["nothing", "See [C1](cli.md#c20-exit-codes), `C2` and <https://example.org>.", []],
] as const)("the gate sees a dead reference: %s", (_, line, problems) => {
  const clauses = parseClauses("cli", sample);
  const files = [{ path: "docs/formats/sample.md", text: line }];
  expect(findDeadReferences({ clauses, cited: tests, withdrawn: [] }, files)).toEqual(
    problems.map((problem) => expect.stringMatching(problem)),
  );
});
