/** Aborts an HTTP request with the run, after silence, or if a body stays open after its end marker. */
import type { LivePorts } from "../endpoint.ts";

export interface Connection {
  /** For the HTTP client. */
  readonly signal: AbortSignal;
  /** True if the reader waits for bytes, as it does at the start. While it is busy no silence is counted. */
  setWaiting(isWaiting: boolean): void;
  /** A part of the answer has arrived: the count begins anew. Bytes that only keep a connection open are none. */
  noteProgress(): void;
  /** The end marker has arrived: the server gets a moment to end the body. */
  expectEnd(): void;
  /** The whole answer has arrived: nothing is left to abort. */
  noteEnd(): void;
  /** True if it was aborted because no part of the answer arrived within the silence limit. */
  readonly isStalled: boolean;
  /** True if bytes arrived since the last part of the answer. */
  readonly isKeptOpen: boolean;
  /** Ends the timers, and the connection if it is still open. */
  close(): void;
}

/** The silence limit is counted in parts: one timer serves many events, and no clock that can be set is used. */
const partsOfSilence = 4;
/** Milliseconds that a body may stay open after its end marker. */
export const endGraceMs = 2000;

/** Starts to count silence at once, before the headers arrive. */
export function createConnection(runSignal: AbortSignal, silenceMs: number, { startTimer }: LivePorts): Connection {
  const fetching = new AbortController();
  let isWaiting = true;
  let hasProgress = false;
  let isKeptOpen = false;
  let hasEnded = false;
  let stopSilence: (() => void) | undefined;
  let stopEnd: (() => void) | undefined;
  let isStalled = false;

  const abort = (): void => fetching.abort();
  if (runSignal.aborted) abort();
  runSignal.addEventListener("abort", abort, { once: true });

  function watchSilence(quietParts: number): void {
    if (quietParts === partsOfSilence) {
      isStalled = true;
      abort();
      return;
    }
    hasProgress = false;
    stopSilence = startTimer(silenceMs / partsOfSilence, () => {
      watchSilence(hasProgress || !isWaiting ? 0 : quietParts + 1);
    });
  }

  watchSilence(0);
  return {
    signal: fetching.signal,
    setWaiting(value) {
      // What it waited for has arrived.
      if (isWaiting && !value && !isStalled) isKeptOpen = true;
      isWaiting = value;
    },
    noteProgress() {
      hasProgress = true;
      isKeptOpen = false;
    },
    expectEnd() {
      stopEnd ??= startTimer(endGraceMs, abort);
    },
    noteEnd() {
      hasEnded = true;
    },
    get isStalled() {
      return isStalled;
    },
    get isKeptOpen() {
      return isKeptOpen;
    },
    close() {
      runSignal.removeEventListener("abort", abort);
      stopSilence?.();
      stopEnd?.();
      // An abort creates an error with a stack and calls all listeners: too much for the end of every answer.
      if (!hasEnded) abort();
    },
  };
}
