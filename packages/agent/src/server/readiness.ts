/** Whether a load balancer should send new requests here. */
import { setTimeout as sleep } from "node:timers/promises";
import type { SharedStore } from "../store/store.ts";

/** How long the store may take to answer. Milliseconds. */
const PATIENCE_MS = 2000;

/** How long an answer counts: anybody may ask, and the store has other work. Milliseconds. */
const KEPT_MS = 500;

export type Readiness = "ready" | "closing" | "store_unavailable";

/** Nothing is known yet. */
export function createReadiness(store: Pick<SharedStore, "checkReady">, isClosing: () => boolean) {
  let last: { readonly at: number; readonly answer: Promise<Readiness> } | undefined;

  const ask = (): Promise<Readiness> =>
    Promise.race([
      store.checkReady().then(
        () => "ready" as const,
        () => "store_unavailable" as const,
      ),
      sleep(PATIENCE_MS, "store_unavailable" as const, { ref: false }),
    ]);

  return async (): Promise<Readiness> => {
    if (isClosing()) return "closing";
    const now = performance.now();
    if (!last || now - last.at > KEPT_MS) last = { at: now, answer: ask() };
    return last.answer;
  };
}
