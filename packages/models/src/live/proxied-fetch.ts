/**
 * Makes a `fetch` through the proxy of the user's environment, for the user's packages and for servers of the Model
 * Context Protocol. It never follows a redirect (S-42).
 */
import type { ProxyVariables } from "../endpoint.ts";
import { createHttpClient, type BodyReader, type HttpResponse } from "./http-client.ts";

/** Statuses of answers without a body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Headers about the encoding of the body, which is already decoded. */
const transferHeaders: ReadonlySet<string> = new Set(["content-encoding", "content-length", "transfer-encoding"]);

/** Creates a `fetch` with its own connections. It fails as the global one: with a TypeError, or the signal's reason. */
export function createProxiedFetch(proxy: ProxyVariables): typeof globalThis.fetch {
  const client = createHttpClient(proxy);
  return async (input, init) => {
    const request = new Request(input, init);
    const { method, url, headers } = request;
    const end = new AbortController();
    try {
      const body = new Uint8Array(await request.arrayBuffer());
      const order = { method, url, headers: Object.fromEntries(headers), body };
      return toResponse(await client.send(order, AbortSignal.any([request.signal, end.signal])), request.signal, end);
    } catch (cause) {
      request.signal.throwIfAborted();
      throw new TypeError("fetch failed", { cause });
    }
  };
}

function toResponse({ status, allHeaders, body }: HttpResponse, signal: AbortSignal, end: AbortController): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(allHeaders)) {
    if (transferHeaders.has(name)) continue;
    for (const part of [value ?? []].flat()) headers.append(name, part);
  }
  return new Response(bodiless.has(status) ? null : toStream(body, signal, end), { status, headers });
}

function toStream(body: BodyReader, signal: AbortSignal, end: AbortController): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      try {
        const chunk = await body.read();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      } catch (cause) {
        controller.error(signal.aborted ? signal.reason : new TypeError("terminated", { cause }));
      }
    },
    cancel: () => end.abort(),
  });
}
