/**
 * The page's own server: it gives the page out, and hands `/v1/…` on to Sheaf with the token, which the page never sees.
 * A real one asks who its user is first.
 * Run it: SHEAF_URL=http://127.0.0.1:7433 SHEAF_TOKEN=… node examples/client-browser/serve.ts
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { build } from "esbuild";

const { SHEAF_URL = "http://127.0.0.1:7433", SHEAF_TOKEN = "", PORT = "0" } = process.env;
const page = readFileSync(join(import.meta.dirname, "index.html"));
const { outputFiles } = await build({
  entryPoints: [join(import.meta.dirname, "main.js")],
  bundle: true,
  minify: true,
  format: "esm",
  write: false,
});

const server = createServer((request, answer) => {
  const { url = "/" } = request;
  if (url === "/") answer.setHeader("content-type", "text/html").end(page);
  else if (url === "/main.js") answer.setHeader("content-type", "text/javascript").end(outputFiles[0]?.contents);
  // A page of somebody else must not use the token.
  else if (url.startsWith("/v1/") && (request.headers.origin ?? origin) === origin) void handOn(request, answer);
  else answer.writeHead(403).end();
});

async function handOn(request: IncomingMessage, answer: ServerResponse): Promise<void> {
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
