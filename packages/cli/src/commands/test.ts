/** `sheaf test` runs stored sessions again without a model, and shows where they differ (C190 to C194). */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join, resolve } from "node:path";
import { now } from "@sheaf/agent/assemble/wire";
import { type LoggedResponse, readEndedLogs } from "@sheaf/agent/run/conversations/end-cut-response";
import { SheafError } from "@sheaf/base/errors";
import { listEntryNames } from "@sheaf/base/files/list-files";
import { makeFolder } from "@sheaf/base/make-folder";
import type { ParsedArguments } from "../arguments.ts";
import { chooseWord } from "../command-flags.ts";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { writeOutputFile } from "../output-file.ts";
import { type RunConfig, toConfig } from "../run-config.ts";
import { withSessionStore } from "../session-store.ts";
import { findConversation } from "../session-words.ts";
import { createTest, updateTest } from "../session-tests/add-test.ts";
import {
  formatJunitResults,
  formatMarkdownResults,
  formatTextResults,
  isPassed,
  type TestResult,
} from "../session-tests/format-results.ts";
import { judgeTest } from "../session-tests/judge-test.ts";
import { playTest, type PlayedTest } from "../session-tests/play-test.ts";
import { formatTestFile, readTestFile } from "../session-tests/test-file.ts";
import { printText } from "../standard-output.ts";

const ENDING = ".yaml";

const formats = { text: formatTextResults, markdown: formatMarkdownResults, junit: formatJunitResults } as const;

/** Adds a test, or runs tests. @throws SheafError VERIFY_FAILED if one fails, USAGE, CONFIG_INVALID, PERMISSION_REQUIRED. */
export async function runTest(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags, positionals } = parsed;
  const [action, session = ""] = positionals;
  const config = toConfig(flags, io);
  const folder = join(config.workspace, ".sheaf/tests");
  checkTrust(config);
  const files = action === "add" ? [await addTest(session, folder, flags, io)] : findTestFiles(positionals, folder, io);
  const results = await runTests(files, action === "add" ? { ...flags, update: true } : flags, io);
  const format = chooseWord("--format", flags.format ?? "text", ["text", "markdown", "junit"]);
  const text = formats[format](results);
  if (flags.output !== undefined) writeOutputFile(resolve(io.cwd, flags.output), text);
  const code = flags.output === undefined ? await printText(io, text) : 0;
  const failed = results.filter((result) => !isPassed(result)).map(({ name }) => name);
  if (failed.length === 0) return code;
  throw new SheafError(
    "VERIFY_FAILED",
    `${failed.length} of ${results.length} tests failed (${failed.join(", ")}): sheaf test --update NAME accepts a difference`,
  );
}

/** Writes a session's file. @throws SheafError USAGE for a used name, or a session that can't be played. */
async function addTest(session: string, folder: string, flags: FlagValues, io: CommandIo): Promise<string> {
  const { name = "" } = flags;
  if (!/^[\w][\w.-]{0,99}$/.test(name)) {
    throw new SheafError("USAGE", `--name "${name}" is not valid: write --name and letters, digits, "-", "_" or "."`);
  }
  const file = join(folder, `${name}${ENDING}`);
  if (existsSync(file)) throw new SheafError("USAGE", `${file} exists: choose another --name, or remove it`);
  const test = await withSessionStore(io, flags.workspace?.at(-1), async (store) => {
    const conversationId = await findConversation(store, session);
    const { workspace } = (await store.getConversation(conversationId))!;
    const logs: LoggedResponse[] = [];
    for await (const log of readEndedLogs(store, conversationId, now)) logs.push(log);
    return createTest(
      { conversationId, workspace, logs },
      // The session had the user's own rules, so the recording needs them.
      { config: toConfig(flags, io), environment: io.environment, patterns: flags.files },
    );
  });
  makeFolder(folder);
  writeOutputFile(file, formatTestFile(test));
  return file;
}

/** Requires trust, since a repository can contain tests with commands. @throws SheafError PERMISSION_REQUIRED. */
function checkTrust({ workspace, findTrust }: Pick<RunConfig, "workspace" | "findTrust">): void {
  if (findTrust()) return;
  const message = `the tests of ${workspace} run commands with their own rules: read them, then run sheaf trust`;
  throw new SheafError("PERMISSION_REQUIRED", message, { source: "user" });
}

/** Returns the files of the tests. @throws SheafError USAGE if the folder is empty, or for an unknown test. */
function findTestFiles(words: readonly string[], folder: string, { cwd }: CommandIo): readonly string[] {
  if (words.length === 0) {
    const names = listEntryNames(folder).filter((name) => name.endsWith(ENDING));
    if (names.length > 0) return names.toSorted().map((name) => join(folder, name));
    throw new SheafError(
      "USAGE",
      `the folder ${folder} contains no tests: make one by sheaf test add SESSION --name NAME`,
    );
  }
  return words.map((word) => {
    const places = [resolve(cwd, word), join(folder, `${word}${ENDING}`)];
    const found = places.find((place) => place.endsWith(ENDING) && existsSync(place));
    if (found !== undefined) return found;
    throw new SheafError("USAGE", `the test "${word}" does not exist in ${folder}: sheaf test runs all of them`);
  });
}

/** Runs as many tests at once as the machine has processors. */
async function runTests(files: readonly string[], flags: FlagValues, io: CommandIo): Promise<TestResult[]> {
  const controller = new AbortController();
  const waiting = [...files.entries()];
  const results: TestResult[] = [];
  const stop = (): void => controller.abort(new SheafError("CANCELLED", "cancelled", { source: "user" }));
  io.signals.on("SIGINT", stop);
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [at, file] = next;
      results[at] = await runTestFile(file, flags, { ...io, signal: controller.signal });
      controller.signal.throwIfAborted();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(availableParallelism(), files.length) }, work));
    return results;
  } finally {
    io.signals.off("SIGINT", stop);
  }
}

async function runTestFile(
  file: string,
  flags: FlagValues,
  { environment, signal }: CommandIo & { readonly signal: AbortSignal },
): Promise<TestResult> {
  const test = await readTestFile(file);
  const model = flags.live ? flags.model : undefined;
  const startedAt = performance.now();
  const judgements = [];
  let played: PlayedTest | undefined;
  for (let run = 0; run < toRuns(flags); run += 1) {
    played = await playTest(test, { environment, model, signal });
    judgements.push(judgeTest(test, played, model !== undefined));
  }
  if (flags.update && played && model === undefined) writeOutputFile(file, formatTestFile(updateTest(test, played)));
  const seconds = (performance.now() - startedAt) / 1000;
  return { name: basename(file, ENDING), file, judgements, seconds };
}

function toRuns({ live, runs, model }: FlagValues): number {
  if (!live && (runs !== undefined || model !== undefined)) {
    throw new SheafError("USAGE", "--runs and --model are for a real model: add --live");
  }
  if (live && model === undefined) throw new SheafError("USAGE", "--live needs a model: name it by --model");
  const count = Number(runs ?? 1);
  if (Number.isInteger(count) && count >= 1 && count <= 100) return count;
  throw new SheafError("USAGE", `--runs "${runs}" is not valid: give a number from 1 to 100`);
}
