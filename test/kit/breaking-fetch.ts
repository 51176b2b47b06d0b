/** Stands between the checks and a server, and breaks the contract on purpose. */
import { parseJson } from "@sheaf/protocol/check-value";

export interface ProxiedRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: Record<string, string>;
  /** The JSON of the body; what is not JSON stays as it is. */
  body: unknown;
}

export interface ProxiedAnswer {
  status: number;
  headers: Record<string, string>;
  /** Undefined for a stream. */
  body: unknown;
}

/** One event as it goes over the wire. */
export interface ProxiedEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
  /** Goes out in place of the fields. */
  raw?: string;
}

/** One way to break the contract. */
export interface Breakage {
  readonly request?: (request: ProxiedRequest) => void;
  /** Which requests get a good token, whatever they bring. */
  readonly letsIn?: (request: ProxiedRequest) => boolean;
  /** Answers by itself in place of the server. */
  readonly reply?: (request: ProxiedRequest) => ProxiedAnswer | undefined;
  readonly answer?: (answer: ProxiedAnswer, request: ProxiedRequest) => void;
  /** What goes out for an event; called once for each event of one stream, with a fresh state. */
  readonly createEvents?: (request: ProxiedRequest) => (event: ProxiedEvent) => readonly ProxiedEvent[];
  /** Comments and `retry:` lines do not pass. */
  readonly dropsComments?: boolean;
  /** Can only be found by waiting in vain. */
  readonly hangs?: boolean;
  /** The body never ends. */
  readonly staysOpen?: boolean;
  /** Sent to the server when the client goes away from a stream. */
  readonly onLeave?: (responseId: string) => { readonly method: string; readonly path: string };
}

/** A `fetch` whose requests and answers are broken on the way; `token` is a good one. */
export function createBreakingFetch(
  token: string,
  breakage: Breakage,
): (address: string, init: RequestInit) => Promise<Response> {
  return async (address, init) => {
    const { origin, pathname, search } = new URL(address);
    const request: ProxiedRequest = {
      method: init.method ?? "GET",
      path: pathname + search,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: typeof init.body === "string" ? (parseJson(init.body) ?? init.body) : init.body,
    };
    breakage.request?.(request);
    if (breakage.letsIn?.(request)) request.headers["authorization"] = `Bearer ${token}`;
    const own = breakage.reply?.(request);
    if (own) return toAnswer(own);
    const { method, headers, body: sent } = request;
    const body = sent instanceof Uint8Array ? (sent as Uint8Array<ArrayBuffer>) : toText(sent);
    const answer = await fetch(origin + request.path, {
      ...init,
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    const passed: ProxiedAnswer = {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: undefined,
    };
    if (!passed.headers["content-type"]?.startsWith("text/event-stream")) {
      const text = await answer.text();
      passed.body = parseJson(text) ?? text;
      breakage.answer?.(passed, request);
      return toAnswer(passed);
    }
    breakage.answer?.(passed, request);
    init.signal?.addEventListener("abort", () => leave(origin, token, passed, breakage));
    const events = changeStream(answer.body!, request, breakage, init.signal!).pipeThrough(new TextEncoderStream());
    return new Response(events, { status: passed.status, headers: passed.headers });
  };
}

const toText = (body: unknown): string | undefined =>
  body === undefined || typeof body === "string" ? body : JSON.stringify(body);

function toAnswer({ status, headers, body }: ProxiedAnswer): Response {
  const isEmpty = status === 204 || body === "";
  return new Response(isEmpty ? null : toText(body), { status, headers });
}

function leave(origin: string, token: string, { headers }: ProxiedAnswer, { onLeave }: Breakage): void {
  const responseId = headers["x-response-id"];
  if (!onLeave || responseId === undefined) return;
  const { method, path } = onLeave(responseId);
  const fields = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  void fetch(origin + path, { method, headers: fields, body: "{}" }).catch(() => undefined);
}

function changeStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  request: ProxiedRequest,
  { createEvents, dropsComments = false, staysOpen = false }: Breakage,
  signal: AbortSignal,
): ReadableStream<string> {
  const change = createEvents?.(request) ?? ((event: ProxiedEvent) => [event]);
  let rest = "";
  const changes = new TransformStream<string, string>({
    transform(text, controller) {
      const frames = (rest + text).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        const event = toEvent(frame);
        if (event) controller.enqueue(change(event).map(toFrame).join(""));
        else if (!dropsComments) controller.enqueue(`${frame}\n\n`);
      }
    },
    flush: () => (staysOpen ? new Promise((_, reject) => signal.addEventListener("abort", reject)) : undefined),
  });
  return body.pipeThrough(new TextDecoderStream(), { signal }).pipeThrough(changes);
}

/** Undefined for a frame that is not an event of a response: a comment, or a message of another form. */
function toEvent(frame: string): ProxiedEvent | undefined {
  const field = (name: string): string => new RegExp(`^${name}: ?(.*)$`, "m").exec(frame)?.[1] ?? "";
  if (field("data") === "" || field("event") === "") return undefined;
  return { id: field("id"), event: field("event"), data: JSON.parse(field("data")) as Record<string, unknown> };
}

function toFrame({ id, event, data, raw }: ProxiedEvent): string {
  return raw ?? `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
