/** Aborts an HTTP request with the run, after silence, or if a body stays open after its end marker. */
import type { LivePorts } from "../endpoint.ts";

export interface Connection {
  /** Signal for the HTTP client. */
  readonly signal: AbortSignal;
  /** True if the reader waits for bytes, as it does at the start. Silence is measured only during this. */
  setWaiting(isWaiting: boolean): void;
  /** Restarts the silence after a part of the answer. Bytes that only keep a connection open have no effect. */
  noteProgress(): void;
  /** Gives the server a moment to end the body, because the end marker has arrived. */
  expectEnd(): void;
  /** Ends the timers after the whole answer, so that an abort has no effect. */
  noteEnd(): void;
  /** True if it was aborted because no part of the answer arrived within the silence limit. */
  readonly isStalled: boolean;
  /** True if bytes arrived since the last part of the answer. */
  readonly isKeptOpen: boolean;
  /** Ends the timers, and the connection if it is still open. */
  close(): void;
}

/** Parts of a silence limit. A timer measures one part for many events, without a clock that can be set. */
const partsOfSilence = 4;
/** Milliseconds that a body may stay open after its end marker. */
export const endGraceMs = 2000;

/** Creates the connection. The silence starts at once, before the headers arrive. */
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
      // Bytes have arrived, since the reader no longer waits.
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
      // An abort creates an error with a stack and calls all listeners: too expensive after every answer.
      if (!hasEnded) abort();
    },
  };
}
