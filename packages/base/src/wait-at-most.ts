import { setTimeout as sleep } from "node:timers/promises";

/** Waits for work, but at most for `milliseconds`. @throws the work's error within this time. */
export async function waitAtMost(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const timer = new AbortController();
  try {
    await Promise.race([work, sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined)]);
  } finally {
    timer.abort();
  }
}
