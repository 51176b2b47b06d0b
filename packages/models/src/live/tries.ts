/** Sends a request again after a failure, as long as no part of its answer was shown. */
import { formatTime, longestWaitMs } from "@sheaf/documents/model-streams";
import type { ModelEvent, ProviderWait } from "@sheaf/protocol";
import type { RequestLimits, LivePorts } from "../endpoint.ts";
import type { Attempt } from "./attempt.ts";
import type { SheafError } from "@sheaf/base/errors";
import type { ProviderFailure } from "./provider-failure.ts";

/** Yields the groups of the answer. @throws SheafError of the last try. */
export async function* runTries(
  startAttempt: () => Attempt,
  limits: RequestLimits,
  ports: LivePorts,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[]> {
  for (let tries = 1; !signal.aborted; tries += 1) {
    const attempt = startAttempt();
    let hasYielded = false;
    let step = await attempt.next();
    try {
      for (; !step.done; step = await attempt.next()) {
        hasYielded = true;
        yield step.value;
      }
    } finally {
      if (!step.done) await attempt.return(undefined);
    }
    const failure = step.value;
    if (!failure) return;
    // After the first group there is no further try: text would come twice, tools would run twice.
    const waitMs = hasYielded ? undefined : toRetryWaitMs(failure, tries, limits, ports.random);
    if (waitMs === undefined) throw toLastError(failure, tries);
    yield* runWait(waitMs, { code: failure.error.code, message: failure.error.message, tries }, ports, signal);
  }
}

const firstWaitMs = 500;
const longestBackoffMs = 32_000;

/**
 * Milliseconds until the next try; undefined for none. `tries`: how many there were.
 * Our own pause doubles each time, minus up to half of it at random; the provider can only make it longer, since one that
 * asks for no wait, or for one that is over, would get all tries within a moment. A wait of more than a minute is a quota;
 * only `waitsForQuota` waits for it.
 */
function toRetryWaitMs(
  failure: ProviderFailure,
  tries: number,
  limits: RequestLimits,
  random: () => number,
): number | undefined {
  const { isRetryable, isRested = false, waitMs = 0, maxTries = limits.maxTries } = failure;
  if (!isRetryable || tries >= Math.min(maxTries, limits.maxTries)) return undefined;
  if (isRested) return 0;
  const backoffMs = Math.min(longestBackoffMs, firstWaitMs * 2 ** (tries - 1));
  if (waitMs <= longestWaitMs) return Math.max(waitMs, Math.round(backoffMs * (1 - random() / 2)));
  return limits.waitsForQuota && failure.error.code === "RATE_LIMITED" ? waitMs : undefined;
}

/**
 * Waits in steps of at most a minute, and yields an event before each. An abort ends it at once.
 * `reason`: why it waits.
 */
async function* runWait(
  milliseconds: number,
  reason: Pick<ProviderWait, "code" | "message" | "tries">,
  { sleep, now }: LivePorts,
  signal: AbortSignal,
): AsyncGenerator<readonly [ProviderWait]> {
  for (let left = milliseconds; left > 0 && !signal.aborted; left -= longestWaitMs) {
    yield [{ type: "provider_wait", ...reason, until: formatTime(now() + left) }];
    if (signal.aborted) return;
    try {
      await sleep(Math.min(left, longestWaitMs), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** The error after the last try, with the number of tries. */
function toLastError({ error }: ProviderFailure, tries: number): SheafError {
  return tries === 1 ? error : error.withMessage(`${error.message} (${tries} tries)`);
}
