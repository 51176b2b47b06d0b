/** Aborts an HTTP request with the run, after silence, or if a body stays open after its end marker. */
import type { LivePorts } from "../endpoint.ts";

export interface Connection {
  /** For the HTTP client. */
  readonly signal: AbortSignal;
  /** Whether the reader waits for bytes, as it does at the start. While it is busy no silence is counted. */
  setWaiting(isWaiting: boolean): void;
  /** The end marker has arrived: the server gets a moment to end the body. */
  expectEnd(): void;
  /** The whole answer has arrived: nothing is left to abort. */
  noteEnd(): void;
  /** Whether it was aborted because no byte arrived within the silence limit. */
  readonly isStalled: boolean;
  /** Ends the timers, and the connection if it is still open. */
  close(): void;
}

/** The silence limit is counted in parts: one timer serves many bytes, and no clock that can be set is used. */
const partsOfSilence = 4;
/** Milliseconds that a body may stay open after its end marker. */
export const endGraceMs = 2000;

/** Starts to count silence at once, before the headers arrive. */
export function createConnection(runSignal: AbortSignal, silenceMs: number, { startTimer }: LivePorts): Connection {
  const fetching = new AbortController();
  let isWaiting = true;
  let hasChanged = false;
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
    hasChanged = false;
    stopSilence = startTimer(silenceMs / partsOfSilence, () => {
      watchSilence(hasChanged || !isWaiting ? 0 : quietParts + 1);
    });
  }

  watchSilence(0);
  return {
    signal: fetching.signal,
    setWaiting(value) {
      isWaiting = value;
      hasChanged = true;
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
    close() {
      runSignal.removeEventListener("abort", abort);
      stopSilence?.();
      stopEnd?.();
      // An abort creates an error with a stack and calls all listeners: too much for the end of every answer.
      if (!hasEnded) abort();
    },
  };
}
