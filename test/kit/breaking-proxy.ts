/** Stands in front of a good server and breaks what passes, one thing at a time. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ProxiedRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: Record<string, string>;
  /** The JSON of the body; what is not JSON stays text. */
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

export interface BreakingProxy {
  readonly address: string;
  break(breakage: Breakage): void;
  close(): Promise<void>;
}

export async function createBreakingProxy(target: string, token: string): Promise<BreakingProxy> {
  let breakage: Breakage = {};
  const server = createServer((incoming, outgoing) => {
    void forward(incoming, outgoing, target, token, breakage).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    break(next) {
      breakage = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: string,
  token: string,
  breakage: Breakage,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const request: ProxiedRequest = {
    method: incoming.method ?? "GET",
    path: incoming.url ?? "/",
    headers: toForwarded(incoming),
    body: parse(bytes),
  };
  const original = JSON.stringify(request.body);
  breakage.request?.(request);
  if (breakage.letsIn?.(request)) request.headers["authorization"] = `Bearer ${token}`;
  const own = breakage.reply?.(request);
  if (own) return sendWhole(outgoing, own);
  const leaving = new AbortController();
  outgoing.on("close", () => leaving.abort());
  const changed = JSON.stringify(request.body);
  const body = changed === original ? bytes : Buffer.from(changed);
  const answer = await fetch(target + request.path, {
    method: request.method,
    headers: request.headers,
    signal: leaving.signal,
    redirect: "manual",
    ...(body.length > 0 && request.method !== "GET" && { body }),
  });
  const headers = Object.fromEntries(answer.headers);
  delete headers["transfer-encoding"];
  delete headers["content-length"];
  if (headers["content-type"]?.startsWith("text/event-stream")) {
    const passed: ProxiedAnswer = { status: answer.status, headers, body: undefined };
    breakage.answer?.(passed, request);
    watchLeaving(outgoing, passed, target, token, breakage);
    return sendStream(outgoing, answer, passed, request, breakage);
  }
  const passed: ProxiedAnswer = {
    status: answer.status,
    headers,
    body: parse(Buffer.from(await answer.arrayBuffer())),
  };
  breakage.answer?.(passed, request);
  sendWhole(outgoing, passed);
}

function toForwarded({ headers }: IncomingMessage): Record<string, string> {
  const { host: _host, connection: _connection, "content-length": _length, ...rest } = headers;
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]));
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return bytes.toString();
  }
}

function sendWhole(outgoing: ServerResponse, { status, headers, body }: ProxiedAnswer): void {
  const isEmpty = status === 204 || body === undefined;
  outgoing.writeHead(status, headers).end(isEmpty ? undefined : typeof body === "string" ? body : JSON.stringify(body));
}

function watchLeaving(
  outgoing: ServerResponse,
  { headers }: ProxiedAnswer,
  target: string,
  token: string,
  { onLeave }: Breakage,
): void {
  const responseId = headers["x-response-id"];
  if (!onLeave || responseId === undefined) return;
  outgoing.on("close", () => {
    if (outgoing.writableFinished) return;
    const { method, path } = onLeave(responseId);
    const init = {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: "{}",
    };
    void fetch(target + path, init).catch(() => undefined);
  });
}

async function sendStream(
  outgoing: ServerResponse,
  answer: Response,
  { status, headers }: ProxiedAnswer,
  request: ProxiedRequest,
  { createEvents, dropsComments = false, staysOpen = false }: Breakage,
): Promise<void> {
  outgoing.writeHead(status, headers).flushHeaders();
  const change = createEvents?.(request) ?? ((event: ProxiedEvent) => [event]);
  const text = new TextDecoder();
  let rest = "";
  for await (const chunk of answer.body!) {
    const frames = (rest + text.decode(chunk, { stream: true })).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      const event = toEvent(frame);
      if (event) outgoing.write(change(event).map(toFrame).join(""));
      else if (!dropsComments) outgoing.write(`${frame}\n\n`);
    }
  }
  if (!staysOpen) outgoing.end();
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
