/** One HTTP connection's patience: aborted by the run, by silence, or when a body that has shown its end stays open. */
import type { LivePorts } from "../endpoint.ts";

export interface Connection {
  /** For `fetch`. */
  readonly signal: AbortSignal;
  /** Whether we wait for bytes, as at the start. While the reader is busy with the last ones no silence is counted. */
  setWaiting(isWaiting: boolean): void;
  /** The answer has shown its end: a server that keeps the connection open is waited for only a moment. */
  expectEnd(): void;
  /** The whole answer is here: there is nothing left to break off. */
  noteEnd(): void;
  /** Whether it was aborted because nothing came for the whole silence limit. */
  readonly isStalled: boolean;
  /** Ends the watch, and the connection if it is still open. */
  close(): void;
}

/** Parts of the silence limit that are counted: one timer for many bytes, and no clock that can be set. */
const partsOfSilence = 4;
/** How long an ended body may stay open. */
export const endGraceMs = 2000;

/** Begins to watch at once, that is before the headers. */
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
      // An abort makes an error with a stack and tells everybody: too much for the end of each answer.
      if (!hasEnded) abort();
    },
  };
}
