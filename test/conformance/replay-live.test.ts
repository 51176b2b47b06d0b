/** Runs of real models, recorded and replayed: their bytes go through the decoder again (X11). */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeWithFixtures } from "../support/fixtures.ts";
import { createModelServer, type ModelAnswer, type ModelServer } from "../support/model-server.ts";
import { cutBody, endingAnswers, readBody } from "../support/recorded-bodies.ts";
import { createTestFolder, parseStream, runSheaf, toLines } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const formats = ["stream-json", "documents", "documents-stream"] as const;
/** `SHEAF_SOAK_RUNS=100` is the full figure. */
const replays = Number(process.env["SHEAF_SOAK_RUNS"] ?? 2);
const key = "sk-canary-7d1f3a9b2c4e6f80";

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

/** Records a run in its own folder. */
async function record(protocol: string, ...answers: readonly ModelAnswer[]) {
  const [model] = endingAnswers[protocol]!;
  server.answer(...answers);
  const cwd = folders.newFolder({ "config/config.json": '{"limits":{"maxTries":2}}' });
  const args = ["-p", "--model", model, "--base-url", server.url, "--api-key", key, "--record", "run.ndjson", "go"];
  const result = await runSheaf(args, { cwd, home: join(cwd, "config") });
  return { ...result, cwd, cassette: join(cwd, "run.ndjson") };
}

/** Recordings with calls, reasoning, whole and broken ends. */
const bodies = [
  ["anthropic-messages", "recorded/anthropic__claude-sonnet-4-5__anthropic-mcp-servers-stream__0.sse"],
  ["openai-responses", "recorded/openai__gpt-5.5__openai-responses-phase-streamed-on-part-start__0.sse"],
  ["openai-chat", "recorded/openrouter__glm-5-turbo__multi-tool-streaming__0.sse"],
  ["gemini", "recorded/vertex__gemini-2.5-flash__multi-tool-streaming__0.sse"],
] as const;

describeWithFixtures("providers", (folder) => {
  test.each(bodies)(
    verifies(["X11", "C31", "N25", "S-42"], "%s: %s in odd cuts, replayed: the same bytes each time, and no key"),
    { timeout: 600_000 },
    async (protocol, file) => {
      const [, ending] = endingAnswers[protocol]!;
      const body = readBody(folder, file);
      const recorded = await record(protocol, { chunks: cutBody(body, 611), pauseMs: 1 }, { chunks: [ending] });
      expect([recorded.code, recorded.stderr]).toEqual([0, ""]);

      const text = readFileSync(recorded.cassette, "utf8");
      const bytes = toLines(text)
        .map((line) => JSON.parse(line) as { type?: string; text: string; encoding?: "base64" })
        .filter(({ type }) => type === "provider_bytes")
        .map((line) => Buffer.from(line.text, line.encoding ?? "utf8"));
      expect(Buffer.concat(bytes).subarray(0, body.length).equals(body)).toBe(true);
      expect(text).not.toContain(key);
      expect(text).not.toMatch(/authorization|x-api-key|x-goog-api-key/i);

      const session = String(parseStream(recorded.stdout)[0]!.session_id);
      const elsewhere = folders.newFolder();
      for (const format of formats) {
        const options = { cwd: recorded.cwd, home: join(recorded.cwd, "config") };
        const shown = await runSheaf(["show", session, "--output-format", format], options);
        for (let round = 0; round < replays; round += 1) {
          const replayed = await runSheaf(["replay", recorded.cassette, "--output-format", format], { cwd: elsewhere });
          expect([replayed.code, replayed.stderr, replayed.stdout]).toEqual([0, "", shown.stdout]);
        }
      }
    },
  );
});

const chunk = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const [, chatEnding] = endingAnswers["openai-chat"]!;

describe("a run that is recorded and replayed", () => {
  /** The same code, line on stderr and bytes on stdout. */
  async function expectSameReplay({ cassette, code, stderr, stdout, cwd }: Awaited<ReturnType<typeof record>>) {
    const replayed = await runSheaf(["replay", cassette], { cwd });
    expect([replayed.code, replayed.stderr, replayed.stdout]).toEqual([code, stderr, stdout]);
  }

  test(verifies(["X11", "R-10"], "with a try that failed, a lost connection, an error in mid-stream"), async () => {
    const overloaded = `data: {"error":{"message":"busy","code":"overloaded"}}\n\n`;
    const cases: readonly (readonly [number, ...ModelAnswer[]])[] = [
      [0, { status: 503, chunks: ["{}"] }, { chunks: [chunk("Fine."), chatEnding] }],
      [0, { chunks: [overloaded] }, { chunks: [chunk("Fine."), chatEnding] }],
      [5, { chunks: [chunk("half")], pauseMs: 20, after: "reset" }],
      [5, { chunks: [chunk("half"), overloaded], pauseMs: 20 }],
      [5, { chunks: [chunk("half")] }],
    ];
    for (const [code, ...answers] of cases) {
      const recorded = await record("openai-chat", ...answers);
      expect(recorded.code).toBe(code);
      await expectSameReplay(recorded);
    }
  });

  test(verifies(["S-41", "S-42"], "keeps no key that the server repeats, however it is cut"), async () => {
    const body = Buffer.from(`${chunk(`Your key is ${key}.`)}${chatEnding}`);
    for (const size of [body.length, 7, 1]) {
      const recorded = await record("openai-chat", { chunks: cutBody(body, size), pauseMs: 1 });
      expect(recorded.code).toBe(0);
      const text = readFileSync(recorded.cassette, "utf8");
      const bytes = toLines(text)
        .map((line) => JSON.parse(line) as { type?: string; text: string })
        .flatMap(({ type, text: piece }) => (type === "provider_bytes" ? [piece] : []));
      expect(text + bytes.join("") + recorded.stdout).not.toContain(key.slice(8));
      await expectSameReplay(recorded);
    }
  });

  test(verifies("X11", "by another decoder names the first event that is different"), async () => {
    const recorded = await record("openai-chat", { chunks: [chunk("One, "), chunk("two."), chatEnding], pauseMs: 20 });
    // Bytes that are decoded to something else are what a changed decoder looks like from here.
    const text = readFileSync(recorded.cassette, "utf8").replace('\\"two.\\"', '\\"three.\\"');
    writeFileSync(recorded.cassette, text);
    const lineNumber = toLines(text).findIndex((line) => line.includes('"text":"two."')) + 1;
    const replayed = await runSheaf(["replay", recorded.cassette], { cwd: recorded.cwd });
    expect(replayed.code).toBe(1);
    expect(replayed.stderr).toBe(
      `sheaf: INTERNAL: the replay differs at record ${lineNumber} of ${recorded.cassette}: expected model events from ` +
        `outside, but event 2 of the answer is decoded to {"type":"text_delta","text":"three."}, not ` +
        `{"type":"text_delta","text":"two."}\n`,
    );
    expect(parseStream(replayed.stdout).at(-1)).toMatchObject({ subtype: "error", error: { code: "INTERNAL" } });
  });
});
