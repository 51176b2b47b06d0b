import { setTimeout as sleep } from "node:timers/promises";

/** Waits for work, for so many milliseconds at most. @throws what the work throws in this time. */
export async function waitAtMost(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const timer = new AbortController();
  try {
    await Promise.race([work, sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined)]);
  } finally {
    timer.abort();
  }
}
