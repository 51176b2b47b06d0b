/** One HTTP connection's patience: aborted by the run, by silence, or when a body that has shown its end stays open. */
import type { LivePorts } from "./live-ports.ts";

export interface Connection {
  /** For `fetch`. */
  readonly signal: AbortSignal;
  /** Whether we wait for bytes, as at the start. While the reader is busy with the last ones no silence is counted. */
  setWaiting(isWaiting: boolean): void;
  /** The answer has shown its end: a server that keeps the connection open is waited for only a moment. */
  expectEnd(): void;
  /** Whether it was aborted because nothing came for the whole silence limit. */
  readonly isStalled: boolean;
  /** Ends the watch, and the connection if it is still open. */
  close(): void;
}

/** Parts of the silence limit that are counted: one timer for many bytes, and no clock that can be set. */
const partsOfSilence = 4;
/** How long an ended body may stay open. */
export const endGraceMs = 2000;

/** Without a reason of its own every abort would make an error with a stack, at the end of each answer. */
const closed = "closed";

/** Begins to watch at once, that is before the headers. */
export function createConnection(runSignal: AbortSignal, silenceMs: number, { sleep }: LivePorts): Connection {
  const fetching = new AbortController();
  let isWaiting = true;
  let hasChanged = false;
  let isEndExpected = false;
  let isStalled = false;

  const abort = (): void => fetching.abort();
  if (runSignal.aborted) abort();
  runSignal.addEventListener("abort", abort, { once: true });

  async function watchSilence(): Promise<void> {
    let quietParts = 0;
    while (quietParts < partsOfSilence) {
      hasChanged = false;
      if (!(await isOver(silenceMs / partsOfSilence))) return;
      quietParts = hasChanged || !isWaiting ? 0 : quietParts + 1;
    }
    isStalled = true;
    abort();
  }

  async function watchEnd(): Promise<void> {
    if (await isOver(endGraceMs)) abort();
  }

  /** False if the watch ended first. */
  async function isOver(milliseconds: number): Promise<boolean> {
    try {
      await sleep(milliseconds, fetching.signal);
    } catch {
      return false;
    }
    return !fetching.signal.aborted;
  }

  void watchSilence();
  return {
    signal: fetching.signal,
    setWaiting(value) {
      isWaiting = value;
      hasChanged = true;
    },
    expectEnd() {
      if (isEndExpected) return;
      isEndExpected = true;
      void watchEnd();
    },
    get isStalled() {
      return isStalled;
    },
    close() {
      runSignal.removeEventListener("abort", abort);
      fetching.abort(closed);
    },
  };
}
