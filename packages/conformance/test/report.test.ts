import { expect, test } from "vitest";
import { explainDifference } from "../src/difference.ts";
import { parseProfile, profiles } from "../src/profile.ts";
import { createReport, formatOutcome, formatSummary } from "../src/report.ts";
import type { Outcome } from "../src/run-suite.ts";
import { verifies } from "../../../test/support/verifies.ts";

function outcome(level: Outcome["level"], status: Outcome["status"], fields: Partial<Outcome> = {}): Outcome {
  return {
    id: `${level}-${status}`,
    level,
    clauses: ["N2", "N10"],
    title: "It holds.",
    status,
    durationMs: 1,
    ...fields,
  };
}

test.each([
  [[outcome("base", "passed")], "base"],
  [[outcome("base", "passed"), outcome("resumable", "passed"), outcome("interactive", "failed")], "resumable"],
  [[outcome("base", "passed"), outcome("resumable", "failed"), outcome("interactive", "passed")], "base"],
  [[outcome("base", "failed"), outcome("resumable", "passed")], null],
  [[outcome("base", "skipped")], null],
  [[outcome("base", "passed"), outcome("resumable", "passed"), outcome("interactive", "skipped")], "resumable"],
] as const)("a level is reached when nothing below it failed: %#", (outcomes, expected) => {
  expect(createReport("http://x", outcomes).level).toBe(expected);
});

test("a clause that one check proved broken is broken, whatever the others say", () => {
  const { clauses } = createReport("http://x", [
    outcome("base", "passed", { clauses: ["N2", "X1"] }),
    outcome("base", "failed", { clauses: ["N10", "N2"], clause: "N2", message: "no" }),
    outcome("base", "skipped", { clauses: ["X1", "X8"] }),
  ]);
  expect(clauses).toEqual({ N2: "failed", N10: "skipped", X1: "passed", X8: "skipped" });
});

test(verifies("S-70", "text of the server cannot steer the terminal"), () => {
  const message = 'expected "a",\n\tgot "\u001B[2J\u009B\u202E"';
  expect(formatOutcome(outcome("base", "failed", { message }))).toContain(
    'expected "a",\n\tgot "\\u001b[2J\\u009b\\u202e"',
  );
});

test("what is told on lines", () => {
  const failed = outcome("base", "failed", { clause: "N2", message: "chat_1 has the status completed" });
  const outcomes = [outcome("base", "passed"), failed, outcome("resumable", "skipped", { message: "no prompt" })];
  expect(outcomes.map(formatOutcome).join("\n")).toBe(
    [
      "ok   base-passed                It holds. [N2 N10]",
      "FAIL base-failed                It holds. [N2 N10]",
      "       N2: chat_1 has the status completed",
      "skip resumable-skipped          It holds. [N2 N10]",
      "       no prompt",
    ].join("\n"),
  );
  expect(formatSummary(createReport("http://x", outcomes))).toBe(
    [
      "",
      "base         1 passed, 1 failed, 0 skipped",
      "resumable    0 passed, 0 failed, 1 skipped",
      "interactive  0 passed, 0 failed, 0 skipped",
      "broken clauses: N2",
      "http://x does not reach the level base",
    ].join("\n"),
  );
  const doubtful = [outcome("base", "passed"), outcome("base", "skipped")];
  expect(formatSummary(createReport("http://x", doubtful))).toMatch(
    /reaches the level base, apart from 1 skipped checks/,
  );
});

test.each([
  [{ a: 1, b: [2] }, { b: [2], a: 1 }, undefined],
  [{ a: 1 }, { a: 2 }, "a: 1 and 2"],
  [{ a: [{ b: "x" }] }, { a: [{ b: "y" }] }, 'a.0.b: "x" and "y"'],
  [{ a: 1 }, {}, "a: 1 and nothing"],
  [[], {}, "value: [] and {}"],
  [null, {}, "value: null and {}"],
  [[1], [1, 2], "1: nothing and 2"],
])("the first place where %j and %j differ", (one, other, expected) => {
  expect(explainDifference(one, other)).toBe(expected);
});

test("a profile has messages, or messages with a model; unknown names are refused", () => {
  expect(parseProfile('{"text":"Hi","long":{"message":"Go","model":"m"}}')).toEqual({
    text: { message: "Hi" },
    long: { message: "Go", model: "m" },
  });
  expect(() => parseProfile('{"txt":"Hi"}')).toThrow('the prompt "txt" is unknown: use text,');
  expect(() => parseProfile('{"text":5}')).toThrow('the prompt "text" must be a string');
  expect(Object.keys(profiles)).toEqual(["offline", "any"]);
});
