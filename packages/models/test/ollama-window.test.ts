import { afterAll, beforeAll, expect, test } from "vitest";
import { createModelServer, type ModelServer } from "../../../test/support/model-server.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { readOllamaWindow } from "../src/ollama-window.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

const json = (value: unknown) => ({ headers: { "content-type": "application/json" }, chunks: [JSON.stringify(value)] });
const running = { models: [{ model: "qwen3:latest", context_length: 8192 }] };
const file = {
  parameters: 'num_ctx                        4096\nstop "x"',
  model_info: { "qwen3.context_length": 40960 },
};

const read = (modelId = "qwen3") =>
  readOllamaWindow(
    { baseUrl: `${server.url}/v1`, modelId, headers: {}, proxy: undefined },
    new AbortController().signal,
  );

test.each([
  ["of the running model", [json(running)], 8192, ["/api/ps"]],
  ["of the model's file", [json({ models: [] }), json(file)], 4096, ["/api/ps", "/api/show"]],
  [
    "of another running model is none",
    [json({ models: [{ model: "x:latest", context_length: 9999 }] }), json(file)],
    4096,
    ["/api/ps", "/api/show"],
  ],
  [
    "unknown: the length that the model could have is not its window",
    [json({}), json({ model_info: file.model_info })],
    undefined,
    ["/api/ps", "/api/show"],
  ],
  [
    "unknown to a server that is not Ollama",
    [{ status: 404, chunks: ["<html>"] }],
    undefined,
    ["/api/ps", "/api/show"],
  ],
  ["of nonsense", [json({ models: 7 }), json({ parameters: { num_ctx: 1 } })], undefined, ["/api/ps", "/api/show"]],
  ["of a broken connection", [{ after: "refuse" as const }], undefined, ["/api/ps"]],
])(verifies("R-26", "the window %s"), async (_name, answers, tokens, paths) => {
  const before = server.requests.length;
  server.answer(...answers);
  expect(await read()).toBe(tokens);
  expect(server.requests.slice(before).map(({ path }) => path)).toEqual(paths);
});
