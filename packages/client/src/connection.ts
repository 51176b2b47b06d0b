/** One connection of an event stream, until the body ends, breaks, or stays silent. */
import { ConnectionError } from "./errors.ts";

export interface ConnectionOptions {
  /** Ends the connection; pending reads throw its reason. */
  readonly signal: AbortSignal | undefined;
  /** Returns the milliseconds without a byte after which the connection is dead (X5). Called before each wait. */
  readonly silenceMs: () => number;
}

/** Reads the text of a stream, however it is chunked. */
interface ChunkDecoder<Item> {
  push(chunk: string): readonly Item[];
}

export interface Connection<Item> {
  /** Opens the connection with its own signal. `isPatient`: without a time limit. */
  open<Value>(send: (signal: AbortSignal) => Promise<Value>, isPatient: boolean): Promise<Value>;
  /** Yields the events of the body, one array per piece received. @throws ConnectionError if the connection breaks. */
  read(answer: Response): AsyncGenerator<readonly Item[]>;
}

export function createConnection<Item>(
  { signal, silenceMs }: ConnectionOptions,
  decoder: ChunkDecoder<Item>,
): Connection<Item> {
  /** Waits for `work`. On silence or an abort by the caller it calls `end`, which must settle `work`, and throws. */
  async function watch<Value>(
    work: Promise<Value>,
    end: (reason: unknown) => void,
    limit: number | undefined,
  ): Promise<Value> {
    let broken: { reason: unknown } | undefined;
    const breakOff = (reason: unknown): void => {
      broken = { reason };
      end(reason);
    };
    const abort = (): void => breakOff(signal?.reason);
    const breakSilence = (): void => breakOff(new ConnectionError(`The server sent no data for ${limit} ms.`));
    const timer = limit === undefined ? undefined : setTimeout(breakSilence, limit);
    signal?.addEventListener("abort", abort);
    try {
      const value = await work;
      if (broken) throw broken.reason;
      return value;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  return {
    async open(send, isPatient) {
      signal?.throwIfAborted();
      const controller = new AbortController();
      const abort = (reason: unknown): void => controller.abort(reason);
      return watch(send(controller.signal), abort, isPatient ? undefined : silenceMs());
    },
    async *read(answer) {
      const reader = answer.body?.getReader();
      if (!reader) return;
      const text = new TextDecoder();
      // Ends a pending read, and closes the socket.
      const cancel = (): void => void reader.cancel().catch(() => undefined);
      try {
        for (;;) {
          signal?.throwIfAborted();
          const { value, done } = await watch(reader.read().catch(throwConnectionError), cancel, silenceMs());
          if (done) return;
          yield decoder.push(text.decode(value, { stream: true }));
        }
      } finally {
        cancel();
      }
    },
  };
}

function throwConnectionError(cause: unknown): never {
  throw new ConnectionError("The connection broke.", { cause });
}
