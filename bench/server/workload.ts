/** What both servers of the benchmark send: the same deltas, as fast as they go or at a pace. */
export interface Workload {
  /** Deltas of one stream. */
  readonly deltas: number;
  /** Deltas that the model gives at once. */
  readonly group: number;
  /** Milliseconds between two groups; 0: none. */
  readonly paceMs: number;
}

/** From the words of a command line. */
export function parseWorkload([deltas = "", group = "", paceMs = ""]: readonly string[]): Workload {
  return { deltas: Number(deltas), group: Number(group), paceMs: Number(paceMs) };
}

/** Milliseconds since 1970, with a fraction, the same in every process of this machine. */
export const now = (): number => performance.timeOrigin + performance.now();

/** Twenty characters that tell when they were made. */
export function createDelta(): string {
  return `@${now().toFixed(3)}@ `.padStart(20, "x");
}
