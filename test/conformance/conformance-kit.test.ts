/** The conformance kit against the built server, and against one that breaks the contract. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { runSuite, selectChecks, type Outcome, type SuiteOptions } from "sheaf-conformance";
import { createBreakingFetch } from "../kit/breaking-fetch.ts";
import { createKitFlags, createKitProfile, inProcessChecks } from "../kit/kit-profile.ts";
import type { BreakageCase } from "../kit/breakage.ts";
import { errorBreakages } from "../kit/breakages/error-breakages.ts";
import { interactiveBreakages } from "../kit/breakages/interactive-breakages.ts";
import { responseBreakages } from "../kit/breakages/response-breakages.ts";
import { resumeBreakages } from "../kit/breakages/resume-breakages.ts";
import { streamBreakages } from "../kit/breakages/stream-breakages.ts";
import { isDeep } from "../support/depth.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { chooseRuns } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

async function start(): Promise<SuiteOptions & { readonly server: TestServer; readonly token: string }> {
  const server = await startServer({ args: createKitFlags(folders.path) });
  return { server, baseUrl: server.address, token: server.token, profile: createKitProfile(), waitMs: 15_000 };
}

async function runChecks(options: SuiteOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for await (const outcome of runSuite(options)) outcomes.push(outcome);
  return outcomes;
}

// packages/conformance/test/suite.test.ts runs the other checks, in process.
test(verifies("X12", "a good server passes every check; none is left undecided"), async () => {
  const only = selectChecks({})
    .map(({ id }) => id)
    .filter((id) => isDeep || inProcessChecks.every((other) => other.id !== id));
  const outcomes = await runChecks({ ...(await start()), only });
  expect(outcomes.filter(({ status }) => status !== "passed")).toEqual([]);
  expect(outcomes.map(({ id }) => id)).toEqual(only);
});

/** Only the prompts that the checks need: each of many breakages runs them anew. */
async function findMissed(prompts: string, cases: readonly BreakageCase[]): Promise<string[]> {
  const started = await start();
  const names = new Set(prompts.split(" "));
  const profile = Object.fromEntries(Object.entries(started.profile).filter(([name]) => names.has(name)));
  const missed: string[] = [];
  for (const [name, only, breakage] of cases.slice(0, chooseRuns(cases.length))) {
    const broken = createBreakingFetch(started.token, breakage);
    // A slow reader gets megabytes, which take their time on a busy machine.
    const waitMs = only.includes("resume-slow-reader") ? 15_000 : 1500;
    const outcomes = await runChecks({ ...started, profile, only, waitMs, fetch: broken });
    const isFound = outcomes.some(
      ({ status, message = "" }) =>
        status === "failed" && (breakage.hangs || !/no answer within|connection/.test(message)),
    );
    if (!isFound) missed.push(`${name}: ${JSON.stringify(outcomes)}`);
  }
  return missed;
}

test(verifies("X12", "the program runs from its command line"), async () => {
  const { server, profile } = await start();
  const file = join(folders.newFolder({ "profile.json": JSON.stringify(profile) }), "profile.json");
  const tokenFile = join(folders.newFolder({ token: `${server.token}\n` }), "token");
  const program = join(import.meta.dirname, "../../packages/conformance/bin/sheaf-conformance.js");
  const flags = [
    "--token-file",
    tokenFile,
    "--profile",
    file,
    "--only",
    "response-json,stream-grammar,cancel",
    "--strict",
  ];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, server.address, ...flags]);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^ok {3}response-json .*\nok {3}stream-grammar .*\nok {3}cancel .*\n/);
  expect(stdout).toMatch(/no clause is broken\n.* reaches the level resumable\n$/);
});

describe("a server that breaks the contract is found out", () => {
  testDeep("what is passed on unbroken passes", async () => {
    const started = await start();
    const only = selectChecks({})
      .map(({ id }) => id)
      .filter((id) => !id.startsWith("resume-at-every"));
    const outcomes = await runChecks({ ...started, only, fetch: createBreakingFetch(started.token, {}) });
    expect(outcomes.filter(({ status }) => status !== "passed")).toEqual([]);
  });

  test.each([
    ["streams", "text reading", streamBreakages],
    ["responses", "text reading failure command writing plan", responseBreakages],
    ["errors", "text", errorBreakages],
    ["resuming and cancelling", "text reading long large", resumeBreakages],
    ["keys, approvals and conversations", "text question approval long", interactiveBreakages],
  ])(verifies("X12", "%s"), async (_, prompts, cases) => {
    expect(await findMissed(prompts, cases)).toEqual([]);
  });
});
