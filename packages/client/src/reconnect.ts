/** Delays before reconnections, and the conditions to stop trying. */
import { ConnectionError, SheafApiError } from "./errors.ts";

export interface ReconnectOptions {
  /** Consecutive tries without a new event before the stream is broken. Default: 10; 0: never reconnect. */
  readonly maxTries?: number;
  /** Milliseconds before the first try, unless the server sends `retry:`; at least 100. Default: 1000. */
  readonly delayMs?: number;
  /** Longest wait, in milliseconds. A longer `Retry-After` ends the stream with the server's error. Default: 30,000. */
  readonly maxDelayMs?: number;
}

export const reconnectDefaults: Required<ReconnectOptions> = { maxTries: 10, delayMs: 1000, maxDelayMs: 30_000 };

/** Shortest first wait, since `retry: 0` of a server would cause requests without a pause. Milliseconds. */
const leastDelayMs = 100;

/**
 * Returns the milliseconds to wait before try number `tries` (from 1). They double with each try; a jitter of half of
 * it keeps the clients of a server that went down from returning all at once.
 */
export function toDelay(tries: number, firstMs: number, { maxDelayMs }: Required<ReconnectOptions>): number {
  const step = Math.max(firstMs, leastDelayMs) * 2 ** Math.min(tries - 1, 20);
  return Math.min(maxDelayMs, step * (0.5 + Math.random()));
}

/** True if the same request may have another outcome later. A body that ended normally has no error. */
export function isRetryable(error: unknown, { maxDelayMs }: Required<ReconnectOptions>): boolean {
  if (!(error instanceof SheafApiError)) return error === undefined || error instanceof ConnectionError;
  const isPassing = error.status === 408 || error.status === 429 || error.status >= 500;
  return isPassing && (error.retryAfter ?? 0) <= maxDelayMs;
}

/** Waits until the time is over or one of the signals aborts. */
export async function waitFor(milliseconds: number, signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    for (const signal of signals) {
      if (signal?.aborted) end();
      else signal?.addEventListener("abort", end);
    }
  });
}
