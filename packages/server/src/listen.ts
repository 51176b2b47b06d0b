/** Listens on a socket for the app; no other module listens. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import type { Hono } from "hono";
import { waitAtMost } from "@sheaf/base/wait-at-most";
import { SheafError } from "@sheaf/base/errors";
import { HttpError, toErrorAnswer, toErrorResponse, type HttpErrorCode } from "./http-error.ts";
import type { ServerEnvironment } from "./server-context.ts";

/** Largest header of a request (S-55). Bytes. */
const MAX_HEADER = 16 * 1024;

/** Time that a client may take for its head, and for its whole request. Milliseconds. */
const HEAD_MS = 20_000;
const REQUEST_MS = 60_000;

/** Time that a refused client has to read the answer and close its connection (S-55). Milliseconds. */
const LEAVE_MS = 1000;

/** Time that readers have at shutdown to receive the rest. Milliseconds. */
const FLUSH_MS = 3000;

export interface Listener {
  readonly port: number;
  /** Waits until all data has been sent, then closes all connections. */
  close(): Promise<void>;
}

/** @throws SheafError USAGE when the address cannot be taken. */
export async function listen(app: Hono<ServerEnvironment>, host: string, port: number): Promise<Listener> {
  const handle = getRequestListener(app.fetch, { errorHandler: answerUnreadable });
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER,
      // Refused in answerUnreadable: Node's own answer has no body.
      requireHostHeader: false,
      insecureHTTPParser: false,
      headersTimeout: HEAD_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: 5000,
    },
    (incoming, outgoing) => void handle(incoming, outgoing),
  );
  server.on("clientError", answerClientError);
  server.on("connect", (_request, socket) =>
    refuse(socket, new HttpError("METHOD_NOT_ALLOWED", "this is not a proxy: ask it directly")),
  );
  // Node would answer an expectation that it does not know without a body; a server may ignore it.
  server.on("checkExpectation", (incoming, outgoing) => void handle(incoming, outgoing));
  await startListening(server, host, port);
  const closed = Promise.withResolvers<void>();
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close(() => closed.resolve());
      server.closeIdleConnections();
      await waitAtMost(closed.promise, FLUSH_MS);
      server.closeAllConnections();
    },
  };
}

/** Answers a request that Node's parser refuses, in the form of every other error. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  refuse(socket, toHttpError(error.code));
}

function refuse(socket: Duplex, error: HttpError): void {
  const { status, body } = toErrorAnswer(error);
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} Refused`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
  // Node leaves the other half open until the client closes it, and no longer limits its time.
  setTimeout(() => socket.destroy(), LEAVE_MS).unref();
}

function toHttpError(code: string | undefined): HttpError {
  const errors: Readonly<Record<string, readonly [HttpErrorCode, string]>> = {
    HPE_HEADER_OVERFLOW: ["HEADERS_TOO_LARGE", `the headers have more than ${MAX_HEADER} bytes: send less`],
    ERR_HTTP_REQUEST_TIMEOUT: ["REQUEST_TIMEOUT", "the request did not arrive in time: send it again"],
  };
  return new HttpError(...(errors[code ?? ""] ?? (["USAGE", "the request is not valid HTTP/1.1"] as const)));
}

/** Answers a request without a usable address: its host or path is missing or invalid. */
function answerUnreadable(error: unknown): Response {
  if (!(error instanceof RequestError)) return toErrorResponse(error);
  const message = "the host or the path of the request is missing or not valid: send a path and one header Host";
  return toErrorResponse(new HttpError("USAGE", message));
}

async function startListening(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ host, port }, resolve);
  try {
    await promise;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const isInUse = code === "EADDRINUSE";
    const advice = isInUse ? "it is in use, so add --port 0 for a free one" : "choose another --host or --port";
    throw new SheafError("USAGE", `cannot listen on ${host} port ${port} (${code}): ${advice}`, {
      cause: error,
    });
  }
}
