/** The tries of a request: sent again as long as nothing of its answer was shown. */
import type { ModelEvent } from "@sheaf/protocol";
import type { RequestLimits } from "../endpoint.ts";
import type { Attempt } from "./attempt.ts";
import type { LivePorts } from "./live-ports.ts";
import { runWait, toLastError, toRetryWaitMs } from "./retry.ts";

/** Gives the groups of the answer. @throws SheafError of the last try. */
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
    // Behind the first group nothing is sent again: text would come twice, tools would run twice.
    const waitMs = hasYielded ? undefined : toRetryWaitMs(failure, tries, limits, ports.random);
    if (waitMs === undefined) throw toLastError(failure, tries);
    yield* runWait(waitMs, { code: failure.error.code, tries }, ports, signal);
  }
}
