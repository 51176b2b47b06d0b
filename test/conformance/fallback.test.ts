/** `--fallback-model`, through the built program: two providers on 127.0.0.1, of which the first fails. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createModelServer, type ModelAnswer, type ModelServer } from "../support/model-server.ts";
import { createTestFolder, parseStream, runSheaf, toTexts } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
let first: ModelServer;
let second: ModelServer;
let home: string;

const line = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const json = (status: number, body: unknown, headers: Record<string, string> = {}): ModelAnswer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  chunks: [JSON.stringify(body)],
});
const overloaded = json(529, { error: { type: "overloaded_error", message: "Overloaded" } }, { "retry-after": "0" });
const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const good: ModelAnswer = {
  chunks: [
    line({ choices: [{ index: 0, delta: { content: "From the second." } }] }),
    line({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage }),
    "data: [DONE]\n\n",
  ],
};

/** A turn of Claude that thinks, signed, and lists the folder. */
const signedCall: ModelAnswer = {
  chunks: [
    { type: "message_start", message: { id: "msg_1", model: "m", usage: { input_tokens: 1000, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "I look first." } },
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "U0lHTkVE" } },
    { type: "content_block_stop", index: 0 },
    {
      type: "content_block_start",
      index: 1,
      content_block: { type: "tool_use", id: "toolu_1", name: "list_dir", input: {} },
    },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"path":"."}' } },
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 20 } },
    { type: "message_stop" },
  ].map((event) => `event: ${event.type}\n${line(event)}`),
};

const textThenReset: ModelAnswer = {
  chunks: signedCall.chunks!.slice(0, 1).concat(
    [
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Half an" } },
    ].map((event) => `event: ${event.type}\n${line(event)}`),
  ),
  after: "reset",
};

beforeAll(async () => {
  first = await createModelServer();
  second = await createModelServer();
  home = folders.newFolder();
  const prices = { "one/claude-x": { input: 10, output: 10 }, "two/m": { input: 1, output: 1 } };
  const endpoints = {
    one: { protocol: "anthropic-messages", baseUrl: first.url, apiKeyEnv: "ONE_KEY" },
    two: { protocol: "openai-chat", baseUrl: second.url, apiKeyEnv: "TWO_KEY" },
  };
  writeFileSync(join(home, "config.json"), JSON.stringify({ endpoints, prices, limits: { maxTries: 2 } }));
});
afterAll(() => Promise.all([first.close(), second.close()]));
beforeEach(() => second.answer(good));

const keys = { ONE_KEY: "key-one-0123456789", TWO_KEY: "key-two-0123456789" };
const run = (args: readonly string[], cwd: string, environment: Record<string, string> = keys) =>
  runSheaf(["-p", "--model", "one/claude-x", "--sandbox", "disabled", ...args], { cwd, home, environment });
const notice = "two/m answers as --fallback-model, because one/claude-x failed with OVERLOADED";

describe("a fallback", () => {
  test(verifies("C59", "goes on with the same conversation, aloud, after the retries of the first model"), async () => {
    first.answer(signedCall, overloaded);
    const before = [first.requests.length, second.requests.length];
    const cwd = folders.newFolder({ "a.txt": "a" });
    const result = await run(["--fallback-model", "two/m", "--max-cost-usd", "1", "go"], cwd);
    expect([result.code, result.stderr]).toEqual([0, `sheaf: notice: ${notice}\n`]);
    const lines = parseStream(result.stdout);
    expect(lines.at(-1)).toMatchObject({
      result: "From the second.",
      notices: [{ code: "MODEL_CHANGED", message: notice }],
      num_turns: 2,
    });
    expect(lines.at(-1)!["total_cost_usd"]).toBeCloseTo((1000 * 10 + 20 * 10 + 110) / 1e6, 9);
    // One turn and two tries of the second one; then one request to the fallback.
    expect([first.requests.length - before[0]!, second.requests.length - before[1]!]).toEqual([3, 1]);
    const { body, headers } = second.requests.at(-1)!;
    expect(headers.authorization).toBe(`Bearer ${keys.TWO_KEY}`);
    const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown; tool_calls?: unknown }[] };
    expect(messages.map(({ role }) => role).slice(-3)).toEqual(["user", "assistant", "tool"]);
    expect(messages.at(-1)!.content).toContain("a.txt");
    expect(body).not.toMatch(/U0lHTkVE|I look first/);

    const session = String(lines[0]!.session_id);
    const documents = await runSheaf(["show", session, "--output-format", "documents"], { cwd, home });
    expect(JSON.parse(documents.stdout)).toMatchObject({
      metadata: { notices: [{ code: "MODEL_CHANGED", message: notice }] },
    });
  });

  test(verifies("C59", "is used in every format, and is named on stderr where stdout cannot say it"), async () => {
    first.answer(json(404, { error: { type: "not_found_error", message: "model: claude-x" } }));
    const cwd = folders.newFolder();
    const args = ["--fallback-model", "two/m", "--output-format"];
    const text = await run([...args, "text", "go"], cwd);
    expect([text.code, text.stdout]).toEqual([0, "From the second.\n"]);
    expect(text.stderr).toBe(`sheaf: notice: ${notice.replace("OVERLOADED", "MODEL_NOT_FOUND")}\n`);
    const json1 = await run([...args, "json", "go"], cwd);
    expect(JSON.parse(json1.stdout)).toMatchObject({
      notices: [{ message: expect.stringContaining("MODEL_NOT_FOUND") }],
    });
  });

  test.each([
    ["a refusal of the request", json(400, { error: { type: "invalid_request_error", message: "no" } }), 4],
    ["a refused key", json(401, { error: { type: "authentication_error", message: "no" } }), 3],
    ["an answer that broke off after text was shown", textThenReset, 5],
  ])(verifies("C59", "does not answer after %s"), async (_, answer, code) => {
    first.answer(answer);
    const before = second.requests.length;
    const result = await run(["--fallback-model", "two/m", "go"], folders.newFolder());
    expect([result.code, second.requests.length]).toEqual([code, before]);
    if (answer === textThenReset) expect(toTexts(parseStream(result.stdout)).join("")).toBe("Half an");
  });

  test(verifies("C59", "that fails, too, ends the run with its failure, which names those before"), async () => {
    first.answer(overloaded);
    second.answer(json(404, { error: { message: "no such model" } }));
    const result = await run(["--fallback-model=two/m,one/claude-y", "go"], folders.newFolder());
    expect(result.code).toBe(5);
    expect(result.stderr).toMatch(
      /^sheaf: OVERLOADED: one, model claude-y: .* \(before, one\/claude-x failed with OVERLOADED, and two\/m failed with MODEL_NOT_FOUND\)\n$/,
    );
  });

  test(verifies("C59", "comes from the configuration too; without one, no other model answers"), async () => {
    first.answer(overloaded);
    const cwd = folders.newFolder();
    const before = second.requests.length;
    const alone = await run(["go"], cwd);
    expect([alone.code, second.requests.length]).toEqual([5, before]);
    const config = { endpoints: { two: { protocol: "openai-chat", baseUrl: second.url } }, fallbackModels: ["two/m"] };
    const own = folders.newFolder({ "config.json": JSON.stringify(config) });
    const script = join(cwd, "broken.json");
    const events = [{ error: { code: "RATE_LIMITED", message: "used up" } }];
    writeFileSync(script, JSON.stringify({ name: "Broken", turns: [{ events }] }));
    const args = ["-p", "--output-format", "json", "--model", `scripted:${script}`];
    const configured = await runSheaf([...args, "go"], { cwd, home: own });
    expect(JSON.parse(configured.stdout)).toMatchObject({ result: "From the second." });
    expect(configured.stderr).toContain("Broken failed with RATE_LIMITED");
    const without = await runSheaf([...args, "--fallback-model=", "go"], { cwd, home: own });
    expect(without.code).toBe(5);
  });

  test(verifies("C59", "whose key or price is missing, or whose name is unknown, fails before the run"), async () => {
    const cwd = folders.newFolder();
    const before = first.requests.length;
    const cases = [
      [["--fallback-model", "anthropic/x"], keys, "AUTH_REQUIRED"],
      // The common key may be that of the first provider.
      [["--fallback-model", "anthropic/x"], { ...keys, SHEAF_API_KEY: "key" }, "AUTH_REQUIRED"],
      [["--fallback-model", "nobody/x"], keys, "MODEL_NOT_FOUND"],
      [["--fallback-model", "two/other", "--max-cost-usd", "1"], keys, 'needs the price of "two/other"'],
    ] as const;
    for (const [args, environment, expected] of cases) {
      const result = await run([...args, "go"], cwd, environment);
      expect(result.stderr).toContain(expected);
    }
    expect(first.requests.length).toBe(before);
  });
});
