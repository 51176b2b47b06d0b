import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WireProtocol } from "../src/endpoint.ts";
import { listModels } from "../src/model-list.ts";
import { verifies } from "../../../test/support/verifies.ts";

let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
const server = createServer((request, response) => answer(request, response));
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function list(protocol: WireProtocol, signal: AbortSignal = AbortSignal.timeout(10_000)) {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
  return listModels({ provider: "lab", protocol, baseUrl, apiKey: "CANARY", headers: { "x-team": "a" } }, signal);
}

const models = [{ id: "a" }, { id: "b" }];
const gemini = [{ name: "models/a" }, { name: "b" }];

test.each([
  ["openai-chat", { data: models }, "/base/models", "authorization", "Bearer CANARY"],
  ["openai-responses", { data: models }, "/base/models", "authorization", "Bearer CANARY"],
  ["anthropic-messages", { data: models }, "/base/models?limit=1000", "x-api-key", "CANARY"],
  ["gemini", { models: gemini }, "/base/models?pageSize=1000", "x-goog-api-key", "CANARY"],
] as const)(
  verifies("S-42", "%s: the key stands in its header, never in the address"),
  async (protocol, body, url, header, value) => {
    let seen: IncomingMessage | undefined;
    answer = (request, response) => {
      seen = request;
      response.end(JSON.stringify(body));
    };
    expect((await list(protocol)).map(({ id }) => id)).toEqual(["a", "b"]);
    expect(seen).toMatchObject({ url, headers: { [header]: value, "x-team": "a" } });
  },
);

test.each([
  [{ id: "a", context_length: 200_000, top_provider: { max_completion_tokens: 8000 } }, 192_000],
  [{ id: "a", context_window: 131_072 }, 131_072],
  [{ id: "a", max_model_len: 32_768 }, 32_768],
  [{ id: "a", max_input_tokens: 200_000, max_tokens: 64_000 }, 150_000],
  [{ id: "a", inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 }, 983_040],
  [{ id: "a", context_length: "large" }, undefined],
  [{ id: "a" }, undefined],
])(verifies("R-26", "the window in %j is %s"), async (entry, windowTokens) => {
  answer = (_request, response) => response.end(JSON.stringify({ data: [entry] }));
  expect(await list("openai-chat")).toEqual([{ id: "a", windowTokens }]);
});

describe("an answer that is no list", () => {
  test.each([
    [401, "{}", "AUTH_REJECTED"],
    [403, "{}", "AUTH_REJECTED"],
    [404, "CANARY", "PROVIDER_REJECTED"],
    [302, "CANARY", "PROVIDER_REJECTED"],
    [429, "{}", "RATE_LIMITED"],
    [500, "CANARY", "OVERLOADED"],
    [200, "<html>CANARY", "PROVIDER_REJECTED"],
    [200, '{"data":{}}', "PROVIDER_REJECTED"],
    [200, "null", "PROVIDER_REJECTED"],
  ])(verifies(["C20", "S-41"], "status %i with %j is %s"), async (status, body, code) => {
    let requests = 0;
    answer = (_request, response) => {
      requests += 1;
      response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end(body);
    };
    const error: unknown = await list("openai-chat").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining("models of lab") as string });
    expect((error as Error).message).not.toContain("CANARY");
    expect(requests).toBe(1);
  });

  test(verifies("S-71", "a list without an end is left"), async () => {
    answer = (_request, response) => {
      const chunk = "x".repeat(1024 * 1024);
      const write = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once("drain", write);
      };
      write();
    };
    await expect(list("openai-chat")).rejects.toMatchObject({ code: "PROVIDER_REJECTED" });
  });

  test("a server that says nothing is left when the signal says so", async () => {
    answer = () => undefined;
    const reason = new Error("enough");
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);
    await expect(list("openai-chat", controller.signal)).rejects.toBe(reason);
  });
});
