/** A provider on 127.0.0.1 for tests: answers as the test says, and records what it was asked. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** One answer. */
export interface ModelAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Default: an event stream. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Each is one write. */
  readonly chunks?: readonly (Uint8Array | string)[];
  /** Milliseconds before each write; without it all are written as fast as the socket takes them. */
  readonly pauseMs?: number;
  /** Milliseconds before the headers. */
  readonly delayMs?: number;
  /**
   * What follows the last write. `end`: the body ends. `reset`: the connection breaks. `hang`: nothing comes.
   * `refuse`: the connection breaks before any header. `silent`: not even headers come. Default `end`.
   */
  readonly after?: "end" | "reset" | "hang" | "refuse" | "silent";
}

/** A request as it came. */
interface ModelServerRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ModelServer {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  readonly requests: readonly ModelServerRequest[];
  /** The next answers, in order; the last one stays. */
  answer(...answers: readonly ModelAnswer[]): void;
  /** Connections that are open now. */
  readonly openConnections: () => Promise<number>;
  close(): Promise<void>;
}

/** Listens on a free port. */
export async function createModelServer(...answers: readonly ModelAnswer[]): Promise<ModelServer> {
  const requests: ModelServerRequest[] = [];
  let queue = [...answers];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("error", () => undefined);
    request.on("end", () => {
      requests.push({ path: request.url ?? "", headers: request.headers, body: Buffer.concat(parts).toString() });
      const answer = queue.length > 1 ? queue.shift() : queue[0];
      void writeAnswer(answer ?? { status: 404 }, response);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer(...next) {
      queue = [...next];
    },
    openConnections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    close: () => closeServer(server),
  };
}

async function writeAnswer(answer: ModelAnswer, response: ServerResponse): Promise<void> {
  const { status = 200, headers = { "content-type": "text/event-stream" }, chunks = [], after = "end" } = answer;
  const { pauseMs, delayMs } = answer;
  response.on("error", () => undefined);
  response.socket?.setNoDelay(true);
  if (delayMs !== undefined) await sleep(delayMs);
  if (after === "refuse") return void response.socket?.destroy();
  if (after === "silent") return;
  response.writeHead(status, headers);
  response.flushHeaders();
  for (const chunk of chunks) {
    if (pauseMs !== undefined) await sleep(pauseMs);
    if (response.destroyed) return;
    if (!response.write(chunk)) await waitForDrain(response);
  }
  if (after === "end") response.end();
  // What was written goes out before the connection breaks.
  else if (after === "reset") setTimeout(() => response.socket?.resetAndDestroy(), 10);
}

function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const resume = (): void => {
      response.off("drain", resume);
      response.off("close", resume);
      resolve();
    };
    response.on("drain", resume);
    response.on("close", resume);
  });
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => void server.close(() => resolve()));
}
