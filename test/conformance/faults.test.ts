/**
 * Every fault of a provider, through the built program: exit code, last line and stderr agree (R-10, C20 to C22).
 * The table of docs/formats/failures.md is made from what was seen here: `SHEAF_WRITE_TABLE=1 npx vitest run test/conformance/faults`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createModelServer, type ModelAnswer, type ModelServer } from "../support/model-server.ts";
import { parseValidLines } from "../support/schema-check.ts";
import { createTestFolder, parseStream, runProgram, runSheaf, toLines, toTexts } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const home = join(folders.path, "home");
mkdirSync(home);
// Two tries and one second of silence: the faults are the same, only sooner.
writeFileSync(join(home, "config.json"), JSON.stringify({ limits: { maxTries: 2, silenceSeconds: 1 } }));

const line = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const text = (content: string): string => line({ choices: [{ index: 0, delta: { content } }] });
const finish = (reason: string): string => line({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
const done = "data: [DONE]\n\n";
const good: ModelAnswer = { chunks: [text("Fine."), finish("stop"), done] };
const empty: ModelAnswer = { chunks: [finish("stop"), done] };
const cut: ModelAnswer = { chunks: [text("half"), finish("length"), done] };

const call = (id: string, name: string, args: string, index = 0): string =>
  line({
    choices: [
      { index: 0, delta: { tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }] } },
    ],
  });

const failure = (status: number, body: unknown, headers: Record<string, string> = {}): ModelAnswer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  chunks: [JSON.stringify(body)],
});

/** A code of `ok`: the run ends well. `text`: what the answer's text must be. */
type Fault = readonly [
  name: string,
  code: string,
  exitCode: number,
  requests: number,
  text: string,
  answers: readonly ModelAnswer[],
];

const faults: readonly Fault[] = [
  ["429, then an answer", "ok", 0, 2, "Fine.", [failure(429, { error: { message: "slow down" } }, { "retry-after": "0" }), good]],
  ["429 with `retry-after`, always", "RATE_LIMITED", 5, 2, "", [failure(429, { error: { message: "slow down" } }, { "retry-after": "0" })]],
  ["429 without `retry-after`, always", "RATE_LIMITED", 5, 2, "", [failure(429, { error: { message: "slow down" } })]],
  ["a quota that resets in two hours", "RATE_LIMITED", 5, 1, "", [failure(429, { error: { message: "quota" } }, { "retry-after": "7200" })]],
  ["500", "OVERLOADED", 5, 2, "", [failure(500, { error: { message: "broken" } })]],
  ["503", "OVERLOADED", 5, 2, "", [failure(503, { error: { message: "away" } })]],
  ["529", "OVERLOADED", 5, 2, "", [failure(529, { error: { type: "overloaded_error", message: "busy" } })]],
  ["401", "AUTH_REJECTED", 3, 1, "", [failure(401, { error: { message: "bad key test-key-canary" } })]],
  ["404", "MODEL_NOT_FOUND", 4, 1, "", [failure(404, { error: { message: "no such model" } })]],
  ["400", "PROVIDER_REJECTED", 4, 1, "", [failure(400, { error: { message: "bad request" } })]],
  ["the context is too long", "CONTEXT_LENGTH", 4, 1, "", [failure(400, { error: { code: "context_length_exceeded", message: "maximum context length" } })]],
  ["a redirect to another host", "PROVIDER_REJECTED", 4, 1, "", [{ status: 302, headers: { location: "http://localhost:9/v1" } }]],
  ["a web page instead of an answer", "PROVIDER_REJECTED", 4, 1, "", [{ headers: { "content-type": "text/html" }, chunks: ["<html>Log in</html>"] }]],
  ["a reset before the headers", "NETWORK", 5, 2, "", [{ after: "refuse" }]],
  ["a reset in mid-stream", "NETWORK", 5, 1, "half", [{ chunks: [text("half")], pauseMs: 20, after: "reset" }]],
  ["silence before the headers", "STREAM_STALLED", 5, 1, "", [{ after: "silent" }]],
  ["silence in mid-stream", "STREAM_STALLED", 5, 1, "half", [{ chunks: [text("half")], after: "hang" }]],
  ["pings and nothing else in mid-stream", "STREAM_STALLED", 5, 1, "half", [{ chunks: [text("half"), ...Array.from({ length: 200 }, () => ": ping\n\n")], pauseMs: 50, after: "hang" }]],
  ["no end marker", "STREAM_TRUNCATED", 5, 1, "half", [{ chunks: [text("half")] }]],
  ["truncated JSON", "STREAM_TRUNCATED", 5, 1, "half", [{ chunks: [text("half"), 'data: {"choices":[{"del'] }]],
  ["broken JSON in mid-stream", "STREAM_TRUNCATED", 5, 1, "half", [{ chunks: [text("half"), 'data: {"choices":[{"del\n\n', text(" done"), finish("stop"), done] }]],
  ["broken JSON at the start, then an answer", "ok", 0, 2, "Fine.", [{ chunks: ['data: {"choices":[{"del\n\n', finish("stop"), done] }, good]],
  ["text between the events that is not JSON", "ok", 0, 1, "Fine.", [{ chunks: [text("Fi"), "data: ping\n\n", "data: null\n\n", text("ne."), finish("stop"), done] }]],
  ["an error object in mid-stream", "OVERLOADED", 5, 1, "half", [{ chunks: [text("half"), line({ error: { message: "server exploded", code: 500 } })] }]],
  ["empty answers", "EMPTY_ANSWER", 6, 2, "", [empty, empty]],
  ["an empty answer, then an answer", "ok", 0, 2, "Fine.", [empty, good]],
  ["three answers cut at the token limit", "MAX_TOKENS", 6, 3, "halfhalfhalf", [cut, cut, cut]],
  ["an answer cut at the token limit, then its end", "ok", 0, 2, "halfFine.", [cut, good]],
  ["a call cut at the token limit", "ok", 0, 2, "Fine.", [{ chunks: [call("c1", "write_file", '{"target_file":"a.txt","content":"x'), finish("length"), done] }, good]],
  ["a content filter", "CONTENT_FILTER", 4, 1, "half", [{ chunks: [text("half"), finish("content_filter"), done] }]],
  ["a refusal", "REFUSED", 6, 1, "", [{ chunks: [line({ choices: [{ index: 0, delta: { refusal: "I will not." } }] }), finish("stop"), done] }]],
  ["tool arguments that are not JSON", "ok", 0, 2, "Fine.", [{ chunks: [call("c1", "read_file", "{ no"), finish("tool_calls"), done] }, good]],
  ["an unknown tool", "ok", 0, 2, "Fine.", [{ chunks: [call("c1", "no_such_tool", "{}"), finish("tool_calls"), done] }, good]],
  ["duplicate tool call ids", "ok", 0, 2, "Fine.", [{ chunks: [call("c1", "list_dir", "{}"), call("c1", "list_dir", "{}", 1), finish("tool_calls"), done] }, good]],
]; // prettier-ignore

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

describe("a fault of the provider", () => {
  test.each(faults)(
    verifies(["R-10", "R-11", "C20", "C21", "C22", "S-41"], "%s"),
    async (_name, end, exitCode, requests, kept, answers) => {
      server.answer(...answers);
      const before = server.requests.length;
      const args = [
        "-p",
        "--model",
        "openai-compatible/m",
        "--base-url",
        server.url,
        "--api-key",
        "test-key-canary",
        "--max-turns",
        "4",
        "go",
      ];
      const { code, stdout, stderr } = await runSheaf(args, { cwd: folders.path, home });
      expect(code).toBe(exitCode);
      const lines = parseStream(stdout);
      const last = lines.at(-1)!;
      expect(lines.filter(({ type }) => type === "result")).toHaveLength(1);
      if (end === "ok") {
        expect([stderr, last.subtype]).toEqual(["", "success"]);
      } else {
        const error = last.error as { code: string; message: string; retryable: boolean };
        expect([last.subtype, error.code, error.retryable]).toEqual([
          "error",
          end,
          exitCode === 5 || end === "EMPTY_ANSWER",
        ]);
        expect(stderr).toBe(`sheaf: ${error.code}: ${error.message}\n`);
      }
      expect(stdout + stderr).not.toContain("test-key-canary");
      expect(server.requests.length - before).toBe(requests);
      expect(toTexts(lines).join("")).toBe(kept);
      const ids = lines.filter(({ subtype }) => subtype === "started").map(({ call_id }) => call_id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(lines.filter(({ subtype }) => subtype === "completed")).toHaveLength(ids.length);
    },
  );

  test(verifies("C20", "a quota that resets later tells when, and is waited for if asked"), async () => {
    server.answer(failure(429, { error: { message: "quota" } }, { "retry-after": "7200" }));
    const args = ["-p", "--model", "openai-compatible/m", "--base-url", server.url, "--api-key", "k", "go"];
    const refused = await runSheaf(args, { cwd: folders.path, home });
    const { error } = parseStream(refused.stdout).at(-1)! as unknown as { error: { resets_at: string } };
    const hours = (Date.parse(error.resets_at) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(1.9);
    expect(hours).toBeLessThan(2.1);
  });

  /** A run that waits for its quota until it has said so; then a signal comes. */
  async function runWaiting(sign: string, ...more: readonly string[]) {
    server.answer(failure(429, { error: { message: "quota" } }, { "retry-after": "7200" }));
    const model = ["--model", "openai-compatible/m", "--base-url", server.url, "--api-key", "k"];
    let sentAt = 0;
    const result = await runProgram(["-p", ...model, "--wait-for-quota", ...more, "go"], {
      cwd: folders.path,
      home,
      onOutput(output, child) {
        if (sentAt || !output.includes(sign)) return;
        sentAt = performance.now();
        child.kill("SIGTERM");
      },
    });
    // An abort ends the wait at once, not when it would have been over.
    expect(result.code).toBe(143);
    expect(result.stderr.split("\n").slice(-2)).toEqual(["sheaf: CANCELLED: cancelled by SIGTERM", ""]);
    return { lines: toLines(result.stdout), notices: result.stderr.split("\n").slice(0, -2) };
  }

  test(verifies(["R-10", "C26", "X5"], "a wait for a quota is reported when it begins"), async () => {
    const { lines } = await runWaiting("provider_wait", "--output-format", "documents-stream");
    const events = lines.map((printed) => JSON.parse(printed) as { event: string; data: { until: string } });
    expect(events.map(({ event }) => event).slice(0, 2)).toEqual(["response_start", "provider_wait"]);
    expect(events[1]!.data).toMatchObject({ code: "RATE_LIMITED", tries: 1 });
    expect(Date.parse(events[1]!.data.until) - Date.now()).toBeGreaterThan(1.9 * 3_600_000);
    parseValidLines("events", lines);
  });

  test(
    verifies(["R-10", "C26"], "stream-json tells of it in its heartbeat, if there is one; stderr does once"),
    async () => {
      const { lines, notices } = await runWaiting("heartbeat", "--heartbeat", "0.2");
      const told =
        /^sheaf: notice: the provider's quota is used up: --wait-for-quota waits until \S+Z, unless --timeout/;
      expect(notices).toEqual([expect.stringMatching(told)]);
      const beating = parseStream(lines.join(""));
      const beat = beating.find(({ subtype }) => subtype === "heartbeat");
      expect(beat).toMatchObject({ waiting: { code: "RATE_LIMITED", until: expect.stringMatching(/Z$/) } });
      const silent = parseStream((await runWaiting('"user"')).lines.join(""));
      expect(silent.map(({ type }) => type)).toEqual(["system", "user", "result"]);
    },
  );

  test("nothing listens", async () => {
    const args = ["-p", "--model", "openai-compatible/m", "--base-url", "http://127.0.0.1:1/v1", "go"];
    const { code, stderr } = await runSheaf(args, { cwd: folders.path, home });
    expect(code).toBe(5);
    expect(stderr).toMatch(/^sheaf: NETWORK: [^\n]*127\.0\.0\.1:1[^\n]*\n$/);
  });

  test("docs/formats/failures.md has this table", () => {
    const file = join(import.meta.dirname, "../../docs/formats/failures.md");
    const table = formatTable();
    if (process.env.SHEAF_WRITE_TABLE === "1") {
      const head = readFileSync(file, "utf8").split("\n| what the provider does")[0]!;
      writeFileSync(file, `${head.trimEnd()}\n\n${table}`);
    }
    expect(readFileSync(file, "utf8")).toContain(table);
  });
});

function formatTable(): string {
  const rows = faults.map(
    ([name, code, exitCode, requests, kept]) =>
      `| ${name} | ${code === "ok" ? "the run continues" : `\`${code}\``} | ${exitCode} | ${requests > 1 ? "yes" : "no"} | ${kept.startsWith("half") ? "yes" : ""} |`,
  );
  const head =
    "| what the provider does | how the run ends | exit code | retried | text so far is kept |\n|---|---|---|---|---|\n";
  return `${head}${rows.join("\n")}\n`;
}
