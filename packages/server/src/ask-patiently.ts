/** Questions to a store that may be away for a while. */
import { setTimeout as sleep } from "node:timers/promises";
import { SheafError } from "@sheaf/base/errors";

/** Between two tries. Milliseconds. */
const PAUSE_MS = 500;

/**
 * Asks until the store answers: while it fails, a response may run, wait or have ended.
 * @throws all other errors; the signal's reason when nobody waits for the answer any more.
 */
export async function askPatiently<Answer>(ask: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isStoreAway(error)) throw error;
    }
    await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => signal?.throwIfAborted());
  }
}

/** True if the store didn't answer, so that the effect of a call isn't known. A damaged one doesn't get better. */
export function isStoreAway(error: unknown): boolean {
  return (
    error instanceof SheafError && error.source === "storage" && ["STORAGE_LOCKED", "STORAGE_FULL"].includes(error.code)
  );
}
