/** A server that says what no server should. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createToolServer } from "../../../src/tools/mcp/tool-server.ts";

const { signal } = new AbortController();

interface Request {
  readonly id?: number;
  readonly method?: string;
}

/** `answer`: the rest of its answer, as JSON; undefined: it has answered. `stream`: answers a GET; default: there is none. */
async function createHostile(
  answer: (request: Request, response: ServerResponse) => string | undefined,
  stream = (response: ServerResponse): unknown => response.writeHead(405).end(),
) {
  const hello = {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "hostile", version: "1" },
  };
  const http = createServer((request, response) => {
    void text(request).then((body) => {
      const asked = JSON.parse(body || "{}") as Request;
      if (asked.method === undefined) return stream(response);
      if (asked.id === undefined) return response.writeHead(202).end();
      const rest = asked.method === "initialize" ? `"result":${JSON.stringify(hello)}` : answer(asked, response);
      if (rest === undefined) return undefined;
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(`{"jsonrpc":"2.0","id":${asked.id},${rest}}`);
    });
  });
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const ports = { workspace: "/w", addedFolders: [], environment: {}, openFetch: async () => undefined };
  const server = createToolServer("hostile", { url }, ports);
  onTestFinished(async () => {
    await server.close();
    http.closeAllConnections();
    http.close();
  });
  return server;
}

test(verifies("S-221", "a tool whose definition is too long is not offered"), async () => {
  const toTool = (name: string, schema: string): string =>
    `{"name":"${name}","inputSchema":{"type":"object","properties":${schema}}}`;
  const long = JSON.stringify({ a: { type: "string", description: "x".repeat(100_000) } });
  const tools = [toTool("long", long), toTool("plain", "{}")].join();
  const server = await createHostile(() => `"result":{"tools":[${tools}]}`);
  expect((await server.listTools(signal)).map(({ name }) => name)).toEqual(["plain"]);
});

test(verifies("S-221", "an answer, and an event, end where they are too long; a long stream does not"), async () => {
  const server = await createHostile(({ id, method }, response) => {
    const isStream = method === "tools/list";
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    for (let count = 0; count < (isStream ? 3 : 1); count += 1) response.write(`: ${"x".repeat(5_000_000)}\n\n`);
    const result = `"result":{"tools":[{"name":"plain","inputSchema":{"type":"object"}}]}`;
    if (isStream) response.end(`data: {"jsonrpc":"2.0","id":${id},${result}}\n\n`);
    else response.write(`"${"x".repeat(6_000_000)}`);
    return undefined;
  });
  expect((await server.listTools(signal)).map(({ name }) => name)).toEqual(["plain"]);
  const called = server.callTool("plain", {}, { signal });
  await expect(called).rejects.toThrow("it sends a message of more than 10485760 bytes");
});

test.each([[7], [null], [[null]], [[{ url: 7, message: "Open" }]], [[{ url: "https://a.example/", message: ["x"] }]]])(
  verifies("S-176", "what an error names is looked at before it is asked: %j"),
  async (elicitations) => {
    const data = JSON.stringify({ elicitations });
    const server = await createHostile(() => `"error":{"code":-32042,"message":"open it","data":${data}}`);
    const askPerson = (): never => expect.fail("nobody is to be asked");
    await expect(server.callTool("plain", {}, { signal, askPerson })).rejects.toThrow("open it");
  },
);

test.each(["0", "99999999999"])(
  verifies("S-221", "a server that ends its stream with retry: %s is not asked for it without a pause"),
  async (retry) => {
    let streams = 0;
    const ended = Promise.withResolvers<void>();
    const server = await createHostile(
      () => '"result":{"tools":[],"content":[]}',
      (response) => {
        streams += 1;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`id: 1\nretry: ${retry}\n\n`, () => ended.resolve());
      },
    );
    await server.listTools(signal);
    await ended.promise;
    const endedAt = performance.now();
    for (let count = 0; count < 50; count += 1) await server.callTool("none", {}, { signal });
    expect(streams).toBeLessThanOrEqual(1 + (performance.now() - endedAt) / 1000);
  },
);
