/** A stream for user interfaces: a state and its subscribers. */
import type { ChatResponse } from "@sheaf/protocol";
import type { ResponseStream } from "./response-stream.ts";
import { createStore, type ReadableStore } from "./store.ts";

export interface ResponseState {
  readonly response: ChatResponse;
  /** `ended` if the response is complete, `failed` if the stream threw (N51). */
  readonly status: "reading" | "ended" | "failed";
  /** The error that the stream threw. */
  readonly error?: unknown;
}

export interface ResponseStore extends ReadableStore<ResponseState> {}

export interface ResponseStoreOptions {
  /** Minimum milliseconds between two changes. Default: 16, one per frame. The end is reported at once. */
  readonly intervalMs?: number;
}

/** Starts reading the stream, to its end. To end early, use the `signal` of the stream. */
export function createResponseStore(
  stream: ResponseStream,
  { intervalMs = 16 }: ResponseStoreOptions = {},
): ResponseStore {
  const { set, ...store } = createStore<ResponseState>({ response: stream.response, status: "reading" });
  let timer: ReturnType<typeof setTimeout> | undefined;

  const change = (end: Pick<ResponseState, "status" | "error">): void => {
    clearTimeout(timer);
    timer = undefined;
    set({ response: stream.response, ...end });
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

  return store;
}
