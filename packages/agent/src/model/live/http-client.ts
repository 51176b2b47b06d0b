/**
 * HTTP as model requests need it. Node's own client and not `fetch`, which loads its code for 25 ms before the first byte
 * of a process; and no redirect is ever followed, so that keys and prompts stay with the host that was configured (S-42).
 */
import type { Agent as HttpAgent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import type { ProxyVariables } from "../endpoint.ts";

/** One request. */
export interface HttpRequest<Body = string> {
  /** Default: POST. */
  readonly method?: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of a GET: empty. */
  readonly body: Body;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderReader;
  /** All of them; names in lower case, as Node gives them. */
  readonly allHeaders: Readonly<NodeJS.Dict<string | readonly string[]>>;
  readonly body: BodyReader;
}

/** The bytes of an answer, uncompressed. */
export interface BodyReader {
  /** All that has come since the last read; undefined at the end. Rejects when the connection breaks, behind what came. */
  read(): Promise<Uint8Array | undefined>;
  /** Whether nothing follows what was read: mostly the end comes with the last bytes. */
  readonly isEnded: boolean;
}

/** Headers as `fetch` would give them. */
export interface HeaderReader {
  /** The value of a header, in any case; null where there is none. */
  get(name: string): string | null;
}

/** Keeps connections open between the requests of a run. */
export interface HttpClient {
  /** Resolves with the head of the answer. Rejects when there is none, or when the signal comes. */
  send(request: HttpRequest<string | Uint8Array>, signal: AbortSignal): Promise<HttpResponse>;
  /** Whether a server has answered, whatever it said. */
  readonly hasAnswered: boolean;
}

/** So much of an answer may wait for its reader. Bytes. */
const longestQueue = 64 * 1024;

/** How long an unused connection stays open. Milliseconds. */
const idleMs = 30_000;

/** A client with connections of its own; none is made before the first request. */
export function createHttpClient(proxyEnv?: ProxyVariables): HttpClient {
  const agents = new Map<string, HttpAgent>();
  let hasAnswered = false;
  /** Of the last request: the next one mostly goes there too. */
  let target: { readonly href: string; readonly url: URL } | undefined;

  function findAgent(protocol: string): HttpAgent {
    const known = agents.get(protocol);
    if (known) return known;
    const { Agent } = protocol === "https:" ? loadHttps() : loadHttp();
    const agent = new Agent({ keepAlive: true, timeout: idleMs, ...(proxyEnv && { proxyEnv: { ...proxyEnv } }) });
    agents.set(protocol, agent);
    return agent;
  }

  return {
    get hasAnswered() {
      return hasAnswered;
    },
    async send(request, signal) {
      const url = target?.href === request.url ? target.url : new URL(request.url);
      target = { href: request.url, url };
      const { request: start } = url.protocol === "https:" ? loadHttps() : loadHttp();
      const { method = "POST" } = request;
      const length = Buffer.byteLength(request.body);
      const headers = {
        accept: "*/*",
        "accept-encoding": "identity",
        ...request.headers,
        ...((method === "POST" || length > 0) && { "content-length": String(length) }),
      };
      const sent = start(url, { method, headers, agent: findAgent(url.protocol) });
      const response = await runRequest(sent, request.body, signal);
      hasAnswered = true;
      return response;
    },
  };
}

type Start = (url: URL, options: RequestOptions) => ClientRequest;

interface HttpModule {
  readonly Agent: typeof HttpAgent;
  readonly request: Start;
}

/** Not by `import`: that reads all exports of the module, `WebSocket` among them, which loads all of `fetch`. */
function loadHttp(): HttpModule {
  return process.getBuiltinModule("node:http");
}

function loadHttps(): HttpModule {
  return process.getBuiltinModule("node:https");
}

/**
 * Whether a connection broke that had rested since an earlier answer: its server closed it in the moment of its use, as
 * servers do after a while. A new connection is worth a try at once.
 */
export function isRestedConnectionError(error: unknown): boolean {
  return error instanceof RestedConnectionError;
}

class RestedConnectionError extends Error {
  constructor(error: NodeJS.ErrnoException) {
    super(error.message, { cause: error });
  }
}

function runRequest(request: ClientRequest, body: string | Uint8Array, signal: AbortSignal): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    // Not by the request's own `signal`: behind a whole answer that would break the connection on its way back to the
    // others, in a moment in which nobody hears its errors.
    const onAbort = (): void => {
      // What is left of a whole answer is dropped, so that the connection is free.
      if (response?.complete) response.resume();
      else request.destroy(new Error("aborted"));
    };
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    request.on("close", () => signal.removeEventListener("abort", onAbort));
    request.on("response", (started) => {
      response = started;
      resolve(toResponse(started));
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      const isRested = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(isRested ? new RestedConnectionError(error) : error);
    });
    // A text goes out in one piece with the head, and is not copied before.
    request.end(body);
  });
}

function toResponse(response: IncomingMessage): HttpResponse {
  const { statusCode = 0, headers } = response;
  return {
    status: statusCode,
    headers: {
      get(name) {
        const value = headers[name.toLowerCase()];
        return value === undefined ? null : String(value);
      },
    },
    allHeaders: headers,
    body: createBodyReader(uncompress(response)),
  };
}

/** Not by the stream's own iterator, which costs a third of a short answer and loses what came before a break. */
function createBodyReader(stream: Readable): BodyReader {
  let chunks: Uint8Array[] = [];
  let size = 0;
  let isOver = false;
  let failure: Error | undefined;
  let wake: (() => void) | undefined;

  stream.on("data", (chunk: Uint8Array) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= longestQueue) stream.pause();
    wake?.();
  });
  const end = (error?: Error): void => {
    isOver = true;
    failure ??= error;
    wake?.();
  };
  stream.on("end", () => end());
  stream.on("error", end);
  stream.on("close", () => end(stream.readableEnded ? undefined : new Error("the connection broke")));

  const take = (): Uint8Array => {
    const [first] = chunks;
    const taken = chunks.length === 1 && first ? first : Buffer.concat(chunks);
    chunks = [];
    size = 0;
    if (stream.isPaused()) stream.resume();
    return taken;
  };

  return {
    async read() {
      if (chunks.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (chunks.length > 0) return take();
      if (failure) throw failure;
      return undefined;
    },
    get isEnded() {
      if (chunks.length > 0 || stream.readableLength > 0 || failure) return false;
      return isOver || ("complete" in stream && stream.complete === true);
    },
  };
}

/** Nobody asked for compression, but some servers in between compress all the same. */
function uncompress(response: IncomingMessage): Readable {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return response;
  const zlib = process.getBuiltinModule("node:zlib");
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants;
  const decoder =
    encoding === "br"
      ? zlib.createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH })
      : zlib.createUnzip({ flush: Z_SYNC_FLUSH });
  response.on("error", (error) => decoder.destroy(error));
  decoder.on("close", () => response.destroy());
  return response.pipe(decoder);
}
