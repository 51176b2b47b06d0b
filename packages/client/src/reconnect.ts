/** When to connect again, and when to give up. */
import { ConnectionError, SheafApiError } from "./errors.ts";

export interface ReconnectOptions {
  /** Tries in a row that bring nothing new before the stream counts as broken. Default 10; 0: never connect again. */
  readonly maxTries?: number;
  /** Milliseconds before the first try, unless the server says another with `retry:`. Default 1000. */
  readonly delayMs?: number;
  /** Milliseconds; no wait is longer. A `Retry-After` beyond it ends the stream with the server's error. Default 30,000. */
  readonly maxDelayMs?: number;
}

export const reconnectDefaults: Required<ReconnectOptions> = { maxTries: 10, delayMs: 1000, maxDelayMs: 30_000 };

/**
 * Milliseconds to wait before try number `tries` (from 1). It doubles from try to try; the jitter of half of it keeps
 * the clients of a server that went down from coming back all at once.
 */
export function toDelay(tries: number, firstMs: number, { maxDelayMs }: Required<ReconnectOptions>): number {
  const step = tries === 1 ? firstMs : Math.max(firstMs, 100) * 2 ** Math.min(tries - 1, 20);
  return Math.min(maxDelayMs, step * (0.5 + Math.random()));
}

/** Whether the same request can have another outcome later. A body that just ended has no error. */
export function isRetryable(error: unknown, { maxDelayMs }: Required<ReconnectOptions>): boolean {
  if (!(error instanceof SheafApiError)) return error === undefined || error instanceof ConnectionError;
  const isPassing = error.status === 408 || error.status === 429 || error.status >= 500;
  return isPassing && (error.retryAfter ?? 0) <= maxDelayMs;
}

/** Waits; each of the signals ends it. */
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
