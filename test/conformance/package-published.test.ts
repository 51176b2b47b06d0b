/** Packages of the interface that others made, as a user's configuration would name them, with recorded answers. */
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWithFixtures } from "../support/fixtures.ts";
import { createModelServer, type ModelAnswer, type ModelServer } from "../support/model-server.ts";
import { cutBody, endingAnswers, readBody } from "../support/recorded-bodies.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const key = "canary-key-51b7c0de";

const published = [
  ["anthropic", "anthropic-messages", "recorded/anthropic__claude-sonnet-4-5__anthropic-mcp-servers-stream__0.sse"],
  ["openai", "openai-responses", "recorded/openai__gpt-5.5__openai-responses-phase-streamed-on-part-start__0.sse"],
  ["google", "gemini", "recorded/vertex__gemini-2.5-flash__multi-tool-streaming__0.sse"],
] as const;

describeWithFixtures("providers", (folder) => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await createModelServer();
  });
  afterAll(() => server.close());

  async function runPublished(name: string, ...answers: readonly ModelAnswer[]) {
    server.answer(...answers);
    const home = folders.newFolder({
      "config.json": JSON.stringify({
        providers: { own: { package: `@ai-sdk/${name}`, create: toCreate(name), apiKeyEnv: "OWN_KEY" } },
        limits: { maxTries: 2 },
      }),
      "node_modules/.keep": "",
    });
    symlinkSync(join(import.meta.dirname, "../../node_modules/@ai-sdk"), join(home, "node_modules/@ai-sdk"));
    const args = ["-p", "--model", "own/m", "--base-url", server.url, "-H", "X-Team: sheaf", "go"];
    return runSheaf(args, { cwd: folders.newFolder(), home, environment: { OWN_KEY: key } });
  }

  const toCreate = (name: string): string =>
    `create${name[0]!.toUpperCase()}${name.slice(1)}`.replace("Openai", "OpenAI");

  test.each(published)(
    verifies(["R-10", "C7", "C8"], "@ai-sdk/%s: text and calls of a recorded answer"),
    async (name, protocol, file) => {
      const [, ending] = endingAnswers[protocol]!;
      const lines = readFileSync(join(folder, "expected.jsonl"), "utf8").trim().split("\n");
      const row = lines
        .map((line) => JSON.parse(line) as { file: string; text: string; toolCalls: { name: string }[] })
        .find((candidate) => candidate.file === file)!;
      const run = await runPublished(name, { chunks: cutBody(readBody(folder, file), 997) }, { chunks: [ending] });
      expect([run.code, run.stderr]).toEqual([0, ""]);
      const printed = parseStream(run.stdout);
      expect(printed.at(-1)!.result).toBe(row.toolCalls.length > 0 ? `${row.text} Done.` : row.text);
      expect(printed.filter(({ subtype }) => subtype === "started")).toHaveLength(row.toolCalls.length);
      expect(server.requests.at(-1)!.headers["x-team"]).toBe("sheaf");
    },
  );

  test(
    verifies(["C20", "R-10", "S-41", "S-42"], "@ai-sdk/anthropic: refusals, a redirect, a body that breaks off"),
    async () => {
      const cases: readonly (readonly [ModelAnswer, number, string])[] = [
        [
          { status: 401, chunks: [`{"error":{"type":"authentication_error","message":"bad ${key}"}}`] },
          3,
          "AUTH_REJECTED",
        ],
        [{ status: 429, headers: { "retry-after": "7200" }, chunks: ["{}"] }, 5, "RATE_LIMITED"],
        [{ status: 302, headers: { location: "http://localhost:9/" } }, 4, "PROVIDER_REJECTED"],
        [{ after: "refuse" }, 5, "NETWORK"],
        [{ chunks: [readBody(folder, published[0][2]).subarray(0, 3000)] }, 5, "STREAM_TRUNCATED"],
      ];
      for (const [answer, code, error] of cases) {
        const run = await runPublished("anthropic", answer);
        expect([error, run.code, run.stderr]).toEqual([
          error,
          code,
          expect.stringContaining(`sheaf: ${error}: own, model m: `),
        ]);
        expect(run.stdout + run.stderr).not.toContain(key);
      }
    },
  );
});
