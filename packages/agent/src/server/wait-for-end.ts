/** Waits until a response has its end, wherever it runs. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ResponseRunner } from "../run/conversations/response-runner.ts";
import type { Store } from "../store/store.ts";

/** How often a response of another process is looked at. Milliseconds. */
const POLL_MS = 200;

/** @throws the reason of the signal when it is aborted before. */
export async function waitForEnd(
  responseId: string,
  store: Store,
  runner: Pick<ResponseRunner, "find">,
  signal: AbortSignal,
): Promise<void> {
  await runner.find(responseId)?.ended;
  for (;;) {
    const record = await store.getResponse(responseId);
    if (!record || record.ended) return;
    await sleep(POLL_MS, undefined, { signal });
  }
}
