/** A model behind HTTP: the package writes the request, our decoder reads the answer. */
import type { ModelEvent } from "@sheaf/protocol";
import type { ProviderEndpoint, RequestLimits } from "../endpoint.ts";
import type { Model, ModelRequest } from "../provider.ts";
import { runAttempt } from "./attempt.ts";
import type { CreateLanguageModel } from "./language-model.ts";
import type { LivePorts } from "./live-ports.ts";
import { toCallOptions } from "./prompt.ts";
import { runWait, toLastError, toRetryWaitMs } from "./retry.ts";
import { createTurnMemory } from "./turn-memory.ts";
import { toWireRequest } from "./wire-request.ts";

/**
 * The model of an endpoint. Connects to nothing before the first request.
 * One instance serves one run at a time or many; what a provider wants back of a run's earlier turns it keeps itself.
 */
export function createLiveModel(
  endpoint: ProviderEndpoint,
  createLanguageModel: CreateLanguageModel,
  limits: RequestLimits,
  ports: LivePorts,
): Model {
  const memory = createTurnMemory();

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const context = { endpoint, limits, ports, memory, newCallId: request.newCallId };
    const wireRequest = await toWireRequest(endpoint, createLanguageModel, toCallOptions(request, endpoint, memory));
    for (let tries = 1; !signal.aborted; tries += 1) {
      const attempt = runAttempt(wireRequest, context, signal);
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
      await runWait(waitMs, ports.sleep, signal);
    }
  }

  return {
    id: endpoint.modelId,
    name: endpoint.displayName,
    apiKeySource: endpoint.apiKeySource,
    stream,
  };
}
