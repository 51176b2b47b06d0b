/** The conformance kit against the built server, and against one that breaks the contract. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { runSuite, selectChecks, type Outcome, type Profile } from "sheaf-conformance";
import { createBreakingProxy } from "../kit/breaking-proxy.ts";
import { createKitFlags, createKitProfile } from "../kit/kit-profile.ts";
import type { BreakageCase } from "../kit/breakage.ts";
import { errorBreakages } from "../kit/breakages/error-breakages.ts";
import { interactiveBreakages } from "../kit/breakages/interactive-breakages.ts";
import { responseBreakages } from "../kit/breakages/response-breakages.ts";
import { resumeBreakages } from "../kit/breakages/resume-breakages.ts";
import { streamBreakages } from "../kit/breakages/stream-breakages.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { chooseRuns } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

interface Started {
  readonly server: TestServer;
  readonly profile: Profile;
}

async function start(): Promise<Started> {
  const cwd = folders.newFolder({ "README.md": "# Wordy\n\nCounts words in a text.\n" });
  const server = await startServer({ home: `${cwd}-home`, cwd, args: createKitFlags(folders.path) });
  return { server, profile: createKitProfile() };
}

async function runChecks(
  baseUrl: string,
  { server, profile }: Started,
  only?: readonly string[],
  waitMs = 15_000,
): Promise<Outcome[]> {
  const options = { baseUrl, token: server.token, profile, waitMs, ...(only && { only }) };
  const outcomes: Outcome[] = [];
  for await (const outcome of runSuite(options)) outcomes.push(outcome);
  return outcomes;
}

describe("a good server", () => {
  test(verifies("X12", "passes every check; none is left undecided"), async () => {
    const started = await start();
    const outcomes = await runChecks(started.server.address, started);
    const wrong = outcomes.filter(({ status }) => status !== "passed");
    expect(wrong).toEqual([]);
    expect(outcomes.map(({ id }) => id)).toEqual(selectChecks({}).map(({ id }) => id));
  });
});

test(verifies("X12", "a run that is over too soon to be looked at proves nothing"), async () => {
  const started = await start();
  // The model answers at once.
  const text = started.profile["text"]!;
  const profile = { text, long: text, approval: text };
  const checks = ["X7", "busy-reject", "busy-queue", "busy-cancel", "snapshot-while-running"];
  for (let round = 0; round < chooseRuns(1, 3); round += 1) {
    const outcomes = await runChecks(started.server.address, { ...started, profile }, checks);
    expect(outcomes.filter(({ status }) => status === "failed")).toEqual([]);
  }
});

/** Only the prompts that the checks need: each of many breakages runs them anew. */
async function findMissed(prompts: string, cases: readonly BreakageCase[]): Promise<string[]> {
  const { server, profile } = await start();
  const names = new Set(prompts.split(" "));
  const small = Object.fromEntries(Object.entries(profile).filter(([name]) => names.has(name)));
  const proxy = await createBreakingProxy(server.address, server.token);
  const missed: string[] = [];
  for (const [name, found, breakage] of cases) {
    proxy.break(breakage);
    const outcomes = await runChecks(proxy.address, { server, profile: small }, found, 1500);
    const isFound = outcomes.some(
      ({ status, message = "" }) =>
        status === "failed" && (breakage.hangs || !/no answer within|connection/.test(message)),
    );
    if (!isFound) missed.push(`${name}: ${JSON.stringify(outcomes)}`);
  }
  await proxy.close();
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
  test("by the proxy alone nothing is broken", async () => {
    const started = await start();
    const proxy = await createBreakingProxy(started.server.address, started.server.token);
    const quick = selectChecks({})
      .map(({ id }) => id)
      .filter((id) => !id.startsWith("resume-at-every"));
    const outcomes = await runChecks(proxy.address, started, quick);
    expect(outcomes.filter(({ status }) => status !== "passed")).toEqual([]);
    await proxy.close();
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
