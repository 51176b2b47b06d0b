/** A server of one finished stream that breaks as it is told. It is a `fetch`, so a test can make thousands of connections. */
import { reduce, type StreamEvent } from "@sheaf/protocol";
import { encodeHeartbeat, encodeRetry, encodeSse } from "@sheaf/protocol/encode";

/** What happens to one request; without a fault it is answered whole. */
export interface Fault {
  /** Bytes of the body that come through. */
  readonly cutAt?: number;
  /** What comes behind the cut: the body ends, breaks, or stays silent. Default `end`. */
  readonly behindCut?: "end" | "break" | "hang";
  /** The network fails: before the server heard of the request, or behind it. `silent`: nothing ever comes. */
  readonly network?: "refused" | "lost" | "silent";
  /** What `fetch` throws when the network fails. */
  readonly error?: TypeError;
  /** An answer in place of the stream. */
  readonly answer?: { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };
  readonly contentType?: string;
  /** The last events of the answer are left out. */
  readonly without?: (event: StreamEvent) => boolean;
}

export interface StreamServerOptions {
  readonly events: readonly StreamEvent[];
  /** One for each request, in order. */
  readonly faults?: readonly Fault[];
  /** Names the response in the headers of the POST. Default: all three headers. */
  readonly namedBy?: readonly ("x-response-id" | "location" | "content-location")[];
  /** Ids up to this one are no longer kept: who asks for them gets a snapshot (X3). */
  readonly forgottenUpTo?: number;
  /** Bytes of one chunk of a body. Default: all in one. */
  readonly chunkSize?: number;
  /** Timers run between two chunks. */
  readonly isPaced?: boolean;
}

export interface StreamServer {
  readonly fetch: typeof fetch;
  /** `POST /v1/chat`, `GET /v1/responses/…/events?after=3`, in order. */
  readonly requests: readonly string[];
  readonly headers: readonly Headers[];
  readonly bodies: readonly string[];
  /** Bodies that are not at their end and were not cancelled. */
  readonly openBodies: number;
  /** POST requests that began a response; those with a key that was there before do not. */
  readonly runs: number;
}

const encoder = new TextEncoder();

export function createStreamServer(options: StreamServerOptions): StreamServer {
  const { events, faults = [], namedBy = ["x-response-id", "location", "content-location"] } = options;
  const responseId = reduce(events).id;
  const names = {
    "x-response-id": responseId,
    location: `/v1/responses/${responseId}`,
    "content-location": `/v1/responses/${responseId}`,
  };
  const requests: string[] = [];
  const allHeaders: Headers[] = [];
  const bodies: string[] = [];
  const keys = new Set<string>();
  const state = { openBodies: 0 };

  const selectEvents = (url: URL): readonly StreamEvent[] => {
    const after = Number(url.searchParams.get("after") ?? 0);
    const isForgotten = after < (options.forgottenUpTo ?? 0);
    if (!url.searchParams.has("snapshot") && !isForgotten) return events.filter(({ id }) => id > after);
    const past = events.slice(0, options.forgottenUpTo ?? Math.floor(events.length / 2));
    const id = past.at(-1)?.id ?? 1;
    const response = reduce(past);
    const snapshot = { ...response, metadata: { ...response.metadata, lastEventId: id } };
    return [{ id, event: "snapshot", data: { response: snapshot } }, ...events.slice(past.length)];
  };

  return {
    requests,
    headers: allHeaders,
    bodies,
    get openBodies() {
      return state.openBodies;
    },
    get runs() {
      return keys.size;
    },
    fetch: async (input, { method = "GET", headers, body, signal } = {}) => {
      signal?.throwIfAborted();
      const url = new URL(input instanceof Request ? input.url : input);
      const fault = faults[requests.length] ?? {};
      requests.push(`${method} ${url.pathname}${url.search}`);
      allHeaders.push(new Headers(headers));
      bodies.push(body as string);
      if (fault.network === "refused") throw fault.error ?? new TypeError("fetch failed");
      if (method === "POST") keys.add(new Headers(headers).get("idempotency-key") ?? `${requests.length}`);
      if (fault.network === "lost") throw fault.error ?? new TypeError("fetch failed");
      if (fault.network === "silent") await waitForAbort(signal);
      if (fault.answer) return new Response(fault.answer.body ?? null, fault.answer);
      const served = selectEvents(url).filter((event) => fault.without?.(event) !== true);
      const text = encodeRetry(0) + encodeHeartbeat() + served.map(encodeSse).join("");
      const named = Object.fromEntries(Object.entries(names).filter(([name]) => namedBy.includes(name as "location")));
      return new Response(createBody(encoder.encode(text), fault, options, state), {
        headers: {
          "content-type": fault.contentType ?? "text/event-stream; charset=utf-8",
          ...(method === "POST" && named),
        },
      });
    },
  };
}

async function waitForAbort(signal: AbortSignal | null | undefined): Promise<never> {
  await new Promise((resolve) => signal?.addEventListener("abort", resolve));
  throw signal?.reason;
}

function createBody(
  bytes: Uint8Array,
  { cutAt, behindCut = "end" }: Fault,
  { chunkSize = Infinity, isPaced = false }: StreamServerOptions,
  state: { openBodies: number },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const sent = bytes.slice(0, cutAt);
  let at = 0;
  let isOpen = true;
  const end = (): void => {
    if (isOpen) state.openBodies -= 1;
    isOpen = false;
  };
  state.openBodies += 1;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        if (isPaced) await new Promise((resolve) => setTimeout(resolve, 1));
        if (at < sent.length) {
          controller.enqueue(sent.slice(at, at + chunkSize));
          at += chunkSize;
          return;
        }
        if (cutAt !== undefined && behindCut === "hang") return new Promise(() => undefined);
        end();
        if (cutAt !== undefined && behindCut === "break") controller.error(new TypeError("terminated"));
        else controller.close();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
