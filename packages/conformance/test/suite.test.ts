/** The suite of the Chat API against the server in the test's own process. */
import { expect, test } from "vitest";
import { openApp } from "../../../test/support/open-app.ts";
import { createKitFlags, createKitProfile, inProcessChecks } from "../../../test/kit/kit-profile.ts";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { formatOutcome } from "../src/report.ts";
import { runSuite, type Outcome, type SuiteOptions } from "../src/run-suite.ts";

const folders = createTestFolder();

async function runChecks(options: Partial<SuiteOptions>): Promise<Outcome[]> {
  const app = await openApp({ args: createKitFlags(folders.newFolder()) });
  const { address: baseUrl, token, request: fetch } = app;
  const outcomes: Outcome[] = [];
  const whole = { baseUrl, token, fetch, profile: createKitProfile(), waitMs: 15_000, ...options };
  for await (const outcome of runSuite(whole)) outcomes.push(outcome);
  return outcomes;
}

// The gate takes the clauses of these checks as cited here (test/conformance/cited.ts).
test(verifies("X12", "Sheaf passes every check that needs no socket; none is left undecided"), async () => {
  const only = inProcessChecks.map(({ id }) => id);
  const outcomes = await runChecks({ only });
  expect(outcomes.filter(({ status }) => status !== "passed").map(formatOutcome)).toEqual([]);
  expect(outcomes.map(({ id }) => id)).toEqual(only);
});

test(verifies("X12", "a run that is over too soon to be looked at proves nothing"), async () => {
  // The model answers at once.
  const text = createKitProfile()["text"]!;
  const only = ["X7", "busy-reject", "busy-queue", "busy-cancel", "snapshot-while-running"];
  const outcomes = await runChecks({ profile: { text, long: text, approval: text }, only });
  expect(outcomes.filter(({ status }) => status === "failed")).toEqual([]);
});
