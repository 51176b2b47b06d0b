/**
 * Sends model requests by HTTP. It uses Node's own client, because `fetch` takes 25 ms to load in each process. It
 * follows no redirect, so that keys and prompts reach the configured host only (S-42).
 */
import type { Agent as HttpAgent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import type { ProxyVariables } from "../endpoint.ts";

export interface HttpRequest<Body = string> {
  /** HTTP method. Default: POST. */
  readonly method?: string;
  readonly url: string;
  /** Headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body of the request; empty for a GET. */
  readonly body: Body;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderReader;
  /** All headers, with names in lower case, as Node returns them. */
  readonly allHeaders: Readonly<NodeJS.Dict<string | readonly string[]>>;
  readonly body: BodyReader;
}

/** The bytes of an answer, uncompressed. */
export interface BodyReader {
  /**
   * Returns all bytes since the last read; undefined at the end. Rejects after the last bytes of a broken connection.
   */
  read(): Promise<Uint8Array | undefined>;
  /** True if no more bytes follow: mostly the end arrives with the last bytes. */
  readonly isEnded: boolean;
}

/** Headers with the interface of `fetch`. */
export interface HeaderReader {
  /** Returns the value of a header, whose name may be in any case; null if it is absent. */
  get(name: string): string | null;
}

/** Keeps connections open between the requests of a run. */
export interface HttpClient {
  /** Resolves with the head of the answer. Rejects on the signal, or if no head arrives. */
  send(request: HttpRequest<string | Uint8Array>, signal: AbortSignal): Promise<HttpResponse>;
  /** True if a server has answered, with any status. */
  readonly hasAnswered: boolean;
}

/** Most bytes of an answer that may wait for the reader. */
const longestQueue = 64 * 1024;

/** Milliseconds that bytes of one answer wait for bytes of other answers: for each open answer, and at most. */
const windowOfAnswerMs = 0.1;
const longestWindowMs = 50;

/** Milliseconds that an unused connection stays open. */
const idleMs = 30_000;

/** Creates a client with its own connections. It opens the first one for the first request. */
export function createHttpClient(proxyEnv?: ProxyVariables): HttpClient {
  const agents = new Map<string, HttpAgent>();
  const window = new ReadWindow();
  let hasAnswered = false;
  /** The address of the last request, which the next request mostly has as well. */
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
      const response = await runRequest(sent, request.body, window, signal);
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

/** An `import` would read all exports of the module, and the export `WebSocket` loads all of `fetch`. */
function loadHttp(): HttpModule {
  return process.getBuiltinModule("node:http");
}

function loadHttps(): HttpModule {
  return process.getBuiltinModule("node:https");
}

/**
 * True if a connection broke that was idle since an earlier answer. The server closed it just before its use, as
 * servers do after a while, so a new connection can be tried at once.
 */
export function isRestedConnectionError(error: unknown): boolean {
  return error instanceof RestedConnectionError;
}

class RestedConnectionError extends Error {
  constructor(error: NodeJS.ErrnoException) {
    super(error.message, { cause: error });
  }
}

function runRequest(
  request: ClientRequest,
  body: string | Uint8Array,
  window: ReadWindow,
  signal: AbortSignal,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    // The request's own `signal` would break a connection on its way back to the pool, which handles no errors.
    const onAbort = (): void => {
      // Drops the rest of a whole answer, so that the connection is free.
      if (response?.complete) response.resume();
      else request.destroy(new Error("aborted"));
    };
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    request.on("close", () => signal.removeEventListener("abort", onAbort));
    request.on("response", (started) => {
      response = started;
      resolve(toResponse(started, window));
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      const isRested = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(isRested ? new RestedConnectionError(error) : error);
    });
    // Node sends a text in one piece with the head, without a copy.
    request.end(body);
  });
}

function toResponse(response: IncomingMessage, window: ReadWindow): HttpResponse {
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
    body: createBodyReader(uncompress(response), window),
  };
}

/**
 * If many answers are open, reads the bytes of a moment together: events of one answer are one group, and groups
 * of all answers one statement of the store.
 */
class ReadWindow {
  openAnswers = 0;
  #end: Promise<void> | undefined;

  wait(): Promise<void> | undefined {
    const milliseconds = Math.min(Math.floor(this.openAnswers * windowOfAnswerMs), longestWindowMs);
    if (milliseconds === 0) return undefined;
    return (this.#end ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#end = undefined;
        resolve();
      }, milliseconds);
    }));
  }
}

/**
 * Creates a reader. The stream's own iterator takes a third of a short answer's time and loses bytes before a break.
 */
function createBodyReader(stream: Readable, window: ReadWindow): BodyReader {
  let chunks: Uint8Array[] = [];
  let size = 0;
  let isOver = false;
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  window.openAnswers += 1;

  stream.on("data", (chunk: Uint8Array) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= longestQueue) stream.pause();
    wake?.();
  });
  const end = (error?: Error): void => {
    if (!isOver) window.openAnswers -= 1;
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
      if (!isOver) await window.wait();
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

/** Uncompresses the body: some proxies compress it although the request does not ask for that. */
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
