/** What a live model takes from outside. */
export interface LivePorts {
  /** Milliseconds since 1970; for the times that errors tell and for dates in headers, never for a wait. */
  readonly now: () => number;
  /** From 0 up to 1, for the jitter of waits. */
  readonly random: () => number;
  /** Calls `run` once when real time has passed; the silence limit counts by it. Gives what stops it. */
  readonly startTimer: (milliseconds: number, run: () => void) => () => void;
  /** Waits for real time to pass, or until the signal; may reject or resolve then. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}
