/** Adds other models to a model, which answer if it is unavailable (C59). */
import type { ModelEvent, TokenPrice } from "@sheaf/protocol";
import { SheafError, type ErrorCode } from "@sheaf/base/errors";
import { attachmentTypes } from "./attachments.ts";
import type { Model } from "./provider.ts";

/** A further model, with its price. */
export interface FallbackModel {
  readonly model: Model;
  readonly price?: TokenPrice | undefined;
}

/** Failures in which another model can help. The model's own retries come earlier. */
const helped: ReadonlySet<ErrorCode> = new Set([
  "RATE_LIMITED",
  "OVERLOADED",
  "NETWORK",
  "STREAM_STALLED",
  "STREAM_TRUNCATED",
  "MODEL_NOT_FOUND",
]);

/** Returns the first model with its fallbacks, in their order. Each run starts with the first model. */
export function createFallbackModel(first: Model, fallbacks: readonly FallbackModel[]): Model {
  const all = [first, ...fallbacks.map(({ model }) => model)];
  const { id, name, apiKeySource } = first;
  const forRun = (): Model => ({
    id,
    name,
    apiKeySource,
    // Any of the models may have to read the conversation.
    attachmentTypes: attachmentTypes.filter((type) =>
      all.every((model) => model.attachmentTypes?.includes(type) ?? true),
    ),
    hasWebSearch: all.every((model) => model.hasWebSearch === true),
    stream: createChain(first, fallbacks),
  });
  return { ...forRun(), forRun };
}

/** Creates the chain. Once a fallback has answered, it answers the later requests as well. */
function createChain(first: Model, fallbacks: readonly FallbackModel[]): Model["stream"] {
  const failures: string[] = [];
  return async function* stream(request, signal) {
    for (;;) {
      const fallback = failures.length === 0 ? undefined : fallbacks[failures.length - 1];
      const model = fallback?.model ?? first;
      let isShown = false;
      try {
        for await (const group of model.stream(request, signal)) {
          isShown ||= group.some(({ type }) => type !== "provider_wait");
          yield fallback ? group.map((event) => toAnswered(event, fallback, failures)) : group;
        }
        return;
      } catch (error) {
        if (!(error instanceof SheafError)) throw error;
        // Delivered text must not be written twice.
        const canHelp = helped.has(error.code) && !isShown && !signal.aborted;
        if (!canHelp || failures.length === fallbacks.length) throw toLastError(error, failures);
        failures.push(`${model.name} failed with ${error.code}`);
      }
    }
  };
}

/** Adds the model that answered, and the reason, to the end of a turn. */
function toAnswered(event: ModelEvent, { model, price }: FallbackModel, failures: readonly string[]): ModelEvent {
  if (event.type !== "turn_end") return event;
  const message = `${model.name} answers as --fallback-model, because ${failures.join(", and ")}`;
  return {
    ...event,
    notice: { code: "MODEL_CHANGED", message: event.notice ? `${message}; ${event.notice.message}` : message },
    model: { id: model.id, name: model.name, ...(price && { price }) },
  };
}

/** Returns the failure of the last model, with the earlier ones. */
function toLastError(error: SheafError, failures: readonly string[]): SheafError {
  return failures.length === 0 ? error : error.withMessage(`${error.message} (before, ${failures.join(", and ")})`);
}
