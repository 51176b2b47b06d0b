/** A stream for user interfaces: a state that changes, and listeners that hear of it. */
import type { ChatResponse } from "@sheaf/protocol";
import type { ResponseStream } from "./response-stream.ts";

export interface ResponseState {
  readonly response: ChatResponse;
  /** `ended` means that the response is complete; `failed` that the stream threw (N51). */
  readonly status: "reading" | "ended" | "failed";
  /** What the stream threw. */
  readonly error?: unknown;
}

/** Fits `useSyncExternalStore` of React and the stores of other frameworks. The functions need no `this`. */
export interface ResponseStore {
  /** The listener is called after each change of the state. Gives the function that ends it. */
  readonly subscribe: (listener: () => void) => () => void;
  /** The same object until the next change. */
  readonly getSnapshot: () => ResponseState;
}

export interface ResponseStoreOptions {
  /** Least milliseconds between two changes, default 16: one a frame. The end is told at once. */
  readonly intervalMs?: number;
}

/** Reads the stream to its end, beginning now. Ending early is done by the stream's `signal`. */
export function createResponseStore(
  stream: ResponseStream,
  { intervalMs = 16 }: ResponseStoreOptions = {},
): ResponseStore {
  const listeners = new Set<() => void>();
  let state: ResponseState = { response: stream.response, status: "reading" };
  let timer: ReturnType<typeof setTimeout> | undefined;

  const change = (end: Pick<ResponseState, "status" | "error">): void => {
    clearTimeout(timer);
    timer = undefined;
    state = { response: stream.response, ...end };
    for (const listener of listeners) listener();
  };

  const read = async (): Promise<void> => {
    try {
      await stream.readToEnd(() => {
        timer ??= setTimeout(() => change({ status: "reading" }), intervalMs);
      });
      change({ status: "ended" });
    } catch (error) {
      change({ status: "failed", error });
    }
  };
  void read();

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getSnapshot: () => state,
  };
}
