/** Questions to a store that may be away for a while. */
import { setTimeout as sleep } from "node:timers/promises";
import { SheafError } from "@sheaf/base/errors";

/** Pause between two tries. Milliseconds. */
const PAUSE_MS = 500;

/**
 * Asks until the store answers, since a response may run, wait or have ended while the store fails.
 * @throws all other errors; the signal's reason if it aborts first.
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

/** True if the store didn't answer, so the effect of a call is unknown. A damaged store stays damaged. */
export function isStoreAway(error: unknown): boolean {
  return (
    error instanceof SheafError && error.source === "storage" && ["STORAGE_LOCKED", "STORAGE_FULL"].includes(error.code)
  );
}
