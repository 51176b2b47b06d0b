/**
 * A provider on 127.0.0.1 plays recorded answers: all of them to an agent in this process, one of each kind to the built
 * program, and all of them to the program in a soak.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAgent, errorTable, type ErrorCode } from "../../packages/agent/src/index.ts";
import { describeWithFixtures } from "../support/fixtures.ts";
import { createModelServer, type ModelServer } from "../support/model-server.ts";
import { cutBody, endingAnswers, readBody } from "../support/recorded-bodies.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { chooseRuns } from "../support/soak.ts";
import { splitThought } from "../support/split-thought.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

interface Row {
  readonly file: string;
  readonly protocol: string;
  readonly text: string | null;
  readonly refusal: string | null;
  readonly toolCalls: readonly {
    readonly name: string;
    readonly arguments: string | null;
    readonly partial?: unknown;
  }[];
  readonly finish: string | null;
  readonly ended: string | null;
  readonly errors: readonly unknown[];
  readonly serverItems: readonly { readonly type: string; readonly name?: string }[];
  /** Payloads that are no JSON object. */
  readonly unparsable: number;
}

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

/** What a run printed as `stream-json`. */
interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Run = (model: string) => Promise<Outcome>;

async function runProgram(model: string): Promise<Outcome> {
  const endpoint = ["--model", model, "--base-url", server.url, "--api-key", "test-key"];
  return runSheaf(["-p", "--no-save", ...endpoint, "--max-turns", "3", "go"], { cwd: folders.path });
}

/** The same without a start of the program; stderr is made from the last event, as the program makes it. */
async function runInProcess(model: string): Promise<Outcome> {
  const endpoint = { model, baseUrl: server.url, apiKey: "test-key" };
  const limits = { maxTurns: 3 };
  await using agent = createAgent({ workspace: folders.path, ...endpoint, limits, sandbox: "disabled" });
  const lines: string[] = [];
  for await (const line of agent.run("go").format("stream-json")) lines.push(line);
  const { error } = JSON.parse(lines.at(-1)!) as { error?: { code: ErrorCode; message: string } };
  return {
    code: error ? errorTable[error.code].exitCode : 0,
    stdout: lines.join(""),
    stderr: error ? `sheaf: ${error.code}: ${error.message}\n` : "",
  };
}

async function runBody(run: Run, { protocol, serverItems }: Row, chunks: readonly Buffer[]) {
  const serverTools = new Set(
    serverItems.flatMap(({ type, name }) => [name, type.replace(/_call$/, "")]).concat("web_search", "code_execution"),
  );
  const [model, ending] = endingAnswers[protocol]!;
  server.answer({ chunks }, { chunks: [ending] });
  const result = await run(model);
  const lines = parseStream(result.stdout);
  const calls = lines
    .filter(({ subtype }) => subtype === "started")
    .map(({ tool_call }) => tool_call as { function?: { name: string; arguments: string } })
    // The index of the recordings lists calls of the provider apart.
    .filter(({ function: call }) => !call?.name.includes(".") && !serverTools.has(call?.name));
  return { ...result, lines, last: lines.at(-1)!, calls };
}

/** The program runs the first body of each kind, and in a soak every one. */
function chooseRun(rows: readonly Row[]): (row: Row) => Run {
  const toKind = ({ text, toolCalls, finish, ended, errors }: Row) =>
    JSON.stringify([text?.trim() === "", Math.min(toolCalls.length, 2), finish, ended, errors.length > 0]);
  const first = new Map(rows.toReversed().map((row) => [toKind(row), row]));
  return (row) => (chooseRuns(0, 1) > 0 || first.get(toKind(row)) === row ? runProgram : runInProcess);
}

/** A row whose body ends well: what it holds is what the run shows. */
const isWhole = ({ ended, errors, finish, refusal, serverItems, toolCalls }: Row) =>
  ended !== null &&
  errors.length === 0 &&
  !refusal &&
  // A call for the client under a name of the protocol: there is no such tool.
  serverItems.every(({ type }) => type !== "local_shell_call") &&
  toolCalls.every((call) => call.partial === undefined) &&
  ["stop", "STOP", "end_turn", "completed", "tool_calls", "tool_use", "stop_sequence"].includes(finish ?? "");

describeWithFixtures("providers", (folder) => {
  const rows = readFileSync(join(folder, "expected.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row)
    .filter(({ protocol }) => protocol in endingAnswers);

  describe.each(Object.keys(endingAnswers))("%s", (protocol) => {
    const whole = rows.filter((row) => row.protocol === protocol && isWhole(row));
    const broken = rows.filter((row) => row.protocol === protocol && !isWhole(row));
    const toRun = chooseRun([...whole, ...broken]);

    test.each(whole.map((row) => [row.file, row] as const))(
      verifies(["R-10", "C7", "C8"], "%s: its text and its calls, whole and cut"),
      async (_file, row) => {
        const body = readBody(folder, row.file);
        const cuts = body.length < 6000 ? [body.length, 137, 1] : [body.length, 1371];
        // The cuts in turn, or all of them in a soak. The decoders see every cut of every body in their own tests.
        const chosen = Math.min(chooseRuns(1, cuts.length), cuts.length);
        const first = whole.indexOf(row) % cuts.length;
        for (const size of [...cuts, ...cuts].slice(first, first + chosen)) {
          const { code, stderr, last, calls } = await runBody(toRun(row), row, cutBody(body, size));
          const { text } = splitThought(row.text ?? "");
          if (text.trim() === "" && row.toolCalls.length === 0) {
            // An empty answer is asked for once more (C185), unless the provider worked for it.
            const hasWorked = row.serverItems.some(({ type }) => type !== "compaction");
            if (!hasWorked) expect([code, String(last.result).trim()]).toEqual([0, "Done."]);
            else expect([code, (last.error as { code: string }).code]).toEqual([6, "EMPTY_ANSWER"]);
            continue;
          }
          expect([code, stderr], `cut at ${size}`).toEqual([0, ""]);
          expect(last.result).toBe(row.toolCalls.length > 0 ? `${text} Done.` : text);
          expect(calls).toHaveLength(row.toolCalls.length);
          const named = calls.flatMap((call) => (call.function ? [call.function.name] : []));
          expect(row.toolCalls.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
        }
      },
    );

    test(
      verifies(["R-10", "R-11", "C22"], "a body that breaks off, fails or refuses never ends as completed"),
      async () => {
        for (const row of broken) {
          const { code, stderr, last } = await runBody(toRun(row), row, [readBody(folder, row.file)]);
          expect(last.type, row.file).toBe("result");
          if (code === 0) {
            // Either it failed before its first event and was asked again, or a gateway ends so: with a finish reason only.
            const wasAskedAgain = last.result === " Done." && row.errors.length + row.unparsable > 0;
            expect(wasAskedAgain || (row.errors.length === 0 && row.finish !== null), row.file).toBe(true);
            continue;
          }
          expect(last.subtype, row.file).toBe("error");
          expect(stderr, row.file).toBe(
            `sheaf: ${(last.error as { code: string }).code}: ${(last.error as { message: string }).message}\n`,
          );
          expect(stderr).not.toContain("test-key");
        }
      },
    );
  });
});
