/**
 * The server of a chat page: it bundles the page, and forwards `/v1/…` to Sheaf with the token, which the page never
 * sees. A real one asks who its user is first.
 * Run it: SHEAF_URL=http://127.0.0.1:7433 SHEAF_TOKEN=… node examples/chat-server.ts examples/chat-dom/chat.js
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import type { build as Build } from "esbuild";

const { SHEAF_URL = "http://127.0.0.1:7433", SHEAF_TOKEN = "", PORT = "0" } = process.env;
const [entry = join(import.meta.dirname, "chat-dom/chat.js")] = process.argv.slice(2);
// Your page's own project has esbuild, wherever this file is.
const { build } = createRequire(pathToFileURL(entry))("esbuild") as { readonly build: typeof Build };
const page = readFileSync(join(dirname(entry), "index.html"));
const { outputFiles } = await build({
  entryPoints: { chat: entry },
  outdir: "out",
  jsx: "automatic",
  bundle: true,
  minify: true,
  format: "esm",
  write: false,
});

const server = createServer((request, answer) => {
  const { url = "/" } = request;
  if (url === "/") answer.setHeader("content-type", "text/html").end(page);
  else if (url === "/chat.js") answer.setHeader("content-type", "text/javascript").end(findFile(url));
  else if (url === "/chat.css") answer.setHeader("content-type", "text/css").end(findFile(url));
  // A page of somebody else must not use the token.
  else if (url.startsWith("/v1/") && (request.headers.origin ?? origin) === origin) void forward(request, answer);
  else answer.writeHead(403).end();
});

function findFile(name: string): Uint8Array | undefined {
  return outputFiles.find(({ path }) => path.endsWith(name))?.contents;
}

async function forward(request: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { method = "GET", url = "/" } = request;
  const gone = new AbortController();
  answer.on("close", () => gone.abort());
  try {
    const reply = await fetch(SHEAF_URL + url, {
      method,
      headers: { ...pick(request.headers), authorization: `Bearer ${SHEAF_TOKEN}` },
      signal: gone.signal,
      ...(method !== "GET" && { body: Readable.toWeb(request) as ReadableStream, duplex: "half" as const }),
    });
    answer.writeHead(reply.status, pick(Object.fromEntries(reply.headers))).flushHeaders();
    await pipeline(reply.body ?? [], answer);
  } catch {
    answer.destroy();
  }
}

/** Headers that mean something on both sides. */
function pick(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const names = [
    "accept",
    "content-type",
    "idempotency-key",
    "last-event-id",
    "location",
    "retry-after",
    "x-response-id",
    "x-conversation-id",
  ];
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

await new Promise<void>((resolve) => {
  server.listen(Number(PORT), "127.0.0.1", resolve);
});
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
process.stdout.write(`The page is at ${origin}\n`);
