/** Servers of MCP 2026-07-28, which knows no sessions, of the protocol before it, and of both. */
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import { compiledCode, createTestFolder } from "../../../../../test/support/sheaf.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createVersionsServer } from "../../../../../test/support/versions-server.ts";
import type { McpServerSettings } from "../../../src/config/mcp-settings.ts";
import type { AskPerson } from "../../../src/tools/tool.ts";
import { createToolServer } from "../../../src/tools/mcp/tool-server.ts";

const { signal } = new AbortController();
const folders = createTestFolder();
const program = join(import.meta.dirname, "../../../../../test/support/versions-server.ts");

/** The person answers Ada. */
const askPerson: AskPerson = async (_question, check) => {
  const editedArguments = { name: "Ada" };
  expect(await check(editedArguments)).toBeUndefined();
  return { kind: "allow_once", by: "person", editedArguments };
};

function open(settings: McpServerSettings) {
  const ports = { workspace: "/w", addedFolders: [], environment: process.env, openFetch: async () => undefined };
  const server = createToolServer("versions", settings, ports);
  onTestFinished(() => server.close());
  return server;
}

/** What the server's tool says after its question. */
async function ask(settings: McpServerSettings): Promise<unknown> {
  const server = open(settings);
  expect((await server.listTools(signal)).map(({ name }) => name)).toEqual(["ask"]);
  const { result } = await server.callTool("ask", {}, { signal, askPerson });
  return result.content[0];
}

test.each([
  ["new", "modern", 2],
  ["both", "legacy", 1],
  ["old", "legacy", 1],
  ["fragile", "legacy", 1],
])(verifies("C209", "a program that speaks %s: Sheaf speaks %s after starts: %s"), async (version, era, starts) => {
  const file = join(folders.newFolder(), "starts");
  const settings = { command: process.execPath, args: [program, version, file], env: compiledCode };
  expect(await ask(settings)).toEqual({ type: "text", text: `${era}: Ada` });
  expect(readFileSync(file, "utf8")).toHaveLength(starts);
});

type Special = Readonly<Record<string, (response: ServerResponse) => void>>;

/** `special`: its own answers. `requests`: their methods, without notifications. */
async function serveAddress(legacy: "stateless" | "reject", special: Special = {}) {
  const handler = createMcpHandler(createVersionsServer, { legacy });
  const requests: string[] = [];
  const http = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const { method } = JSON.parse(body || "{}") as { readonly method?: string };
      if (method === undefined) return response.writeHead(405).end();
      if (!method.startsWith("notifications/")) requests.push(method);
      const answerInstead = special[method];
      if (answerInstead) return answerInstead(response);
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
      const answer = await handler.fetch(new Request("http://127.0.0.1/", { method: "POST", headers, body }));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (!answer.body) return response.end();
      return Readable.fromWeb(answer.body as never).pipe(response);
    })();
  });
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`, requests };
}

const silent = (): void => undefined;

test.each<[string, "stateless" | "reject", Special]>([
  ["and what was before it", "stateless", {}],
  ["alone", "reject", {}],
  ["alone, and does not answer who wants to hear of changes,", "reject", { "subscriptions/listen": silent }],
])(verifies("C209", "an address that speaks 2026-07-28 %s gets no initialize"), async (_, legacy, special) => {
  const { url, requests } = await serveAddress(legacy, special);
  expect(await ask({ url, startTimeoutSeconds: 3 })).toEqual({ type: "text", text: "modern: Ada" });
  expect(requests).toEqual(["server/discover", "subscriptions/listen", "tools/list", "tools/call", "tools/call"]);
});

test.each<[string, (response: ServerResponse) => void]>([
  ["404", (response) => void response.writeHead(404).end()],
  ["500", (response) => void response.writeHead(500).end("Internal Server Error")],
  ["no JSON", (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>")],
  ["nothing", silent],
])(verifies("C209", "an address that answers %s to the question gets initialize"), async (_, discover) => {
  const { url, requests } = await serveAddress("stateless", { "server/discover": discover });
  const tools = await open({ url, startTimeoutSeconds: 3 }).listTools(signal);
  expect(tools.map(({ name }) => name)).toEqual(["ask"]);
  expect(requests).toEqual(["server/discover", "initialize", "tools/list"]);
});
