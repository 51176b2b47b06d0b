/** A model behind HTTP: the package writes the request, our decoder reads the answer. */
import type { ModelEvent } from "@sheaf/protocol";
import type { ProviderEndpoint, RequestLimits } from "../endpoint.ts";
import type { Model, ModelRequest } from "../provider.ts";
import { runAttempt } from "./attempt.ts";
import { createHttpClient } from "./http-client.ts";
import type { CreateLanguageModel } from "./language-model.ts";
import type { LivePorts } from "./live-ports.ts";
import { toCallOptions } from "./prompt.ts";
import { runTries } from "./tries.ts";
import { createRequestWriter } from "./wire-request.ts";

/** The model of an endpoint. Connects to nothing before the first request; between two it keeps the connection. */
export function createLiveModel(
  endpoint: ProviderEndpoint,
  createLanguageModel: CreateLanguageModel,
  limits: RequestLimits,
  ports: LivePorts,
): Model {
  const http = createHttpClient(endpoint.proxy);
  const writer = createRequestWriter(endpoint, createLanguageModel);

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const context = { endpoint, limits, ports, newCallId: request.newCallId, http, tap: request.tap };
    const wireRequest = await writer.write(toCallOptions(request, endpoint));
    yield* runTries(() => runAttempt(wireRequest, context, signal), limits, ports, signal);
  }

  return {
    id: endpoint.modelId,
    name: endpoint.displayName,
    apiKeySource: endpoint.apiKeySource,
    stream,
  };
}
