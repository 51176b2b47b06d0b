/** What the routes take for Node's answer, without a socket. */
import { PassThrough } from "node:stream";
import { ReadableStream as NodeStream } from "node:stream/web";

/** As much of `ServerResponse` as the routes use. Its reader is the client, who may destroy it. */
class Outgoing extends PassThrough {
  statusCode = 200;
  headersSent = false;
  readonly chunkedEncoding = false;
  readonly socket = null;
  readonly #onHead: (status: number, headers: Readonly<Record<string, string>>) => void;

  constructor(onHead: (status: number, headers: Readonly<Record<string, string>>) => void) {
    super();
    this.#onHead = onHead;
    this.on("error", () => undefined);
  }

  writeHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.statusCode = status;
    this.headersSent = true;
    this.#onHead(status, headers);
  }
}

interface Answer {
  readonly outgoing: Outgoing;
  /** An answer whose head was written to `outgoing`; its body is what is written from then on. */
  readonly started: Promise<Response>;
  /** Ends `outgoing` for an answer that a route returned, and gives that. */
  close(response: Response): Response;
}

export function createAnswer(): Answer {
  const started = Promise.withResolvers<Response>();
  // A client that leaves before the head has no answer; whoever waits for one has `close()`.
  started.promise.catch(() => undefined);
  const outgoing = new Outgoing((status, headers) => {
    // Readable.toWeb() fails if a reader leaves while data comes.
    const body = NodeStream.from(outgoing) as ReadableStream<Uint8Array<ArrayBuffer>>;
    started.resolve(new Response(body, { status, headers }));
  });
  outgoing.on("close", () => started.reject(new DOMException("The client went away.", "AbortError")));
  return {
    outgoing,
    started: started.promise,
    close(response) {
      outgoing.statusCode = response.status;
      outgoing.resume().end();
      return response;
    },
  };
}
