/** A model with others that answer in its place when it is not available (C59). */
import type { ModelEvent, TokenPrice } from "@sheaf/protocol";
import { SheafError, type ErrorCode } from "@sheaf/base/errors";
import { attachmentTypes } from "./attachments.ts";
import type { Model } from "./provider.ts";

/** A model to fall back on, and what it costs. */
export interface FallbackModel {
  readonly model: Model;
  readonly price?: TokenPrice | undefined;
}

/** Failures in which another model can help; the model's own retries come before. */
const helped: ReadonlySet<ErrorCode> = new Set([
  "RATE_LIMITED",
  "OVERLOADED",
  "NETWORK",
  "STREAM_STALLED",
  "STREAM_TRUNCATED",
  "MODEL_NOT_FOUND",
]);

/** The first model, with fallbacks in their order. Each run begins with the first one. */
export function createFallbackModel(first: Model, fallbacks: readonly FallbackModel[]): Model {
  const all = [first, ...fallbacks.map(({ model }) => model)];
  const { id, name, apiKeySource } = first;
  const forRun = (): Model => ({
    id,
    name,
    apiKeySource,
    // Any of them may have to read the conversation.
    attachmentTypes: attachmentTypes.filter((type) =>
      all.every((model) => model.attachmentTypes?.includes(type) ?? true),
    ),
    hasWebSearch: all.every((model) => model.hasWebSearch === true),
    stream: createChain(first, fallbacks),
  });
  return { ...forRun(), forRun };
}

/** Once a model has answered in place of another one, it answers the later requests, too. */
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
        // What is shown is not written twice.
        const canHelp = helped.has(error.code) && !isShown && !signal.aborted;
        if (!canHelp || failures.length === fallbacks.length) throw toLastError(error, failures);
        failures.push(`${model.name} failed with ${error.code}`);
      }
    }
  };
}

/** The end of a turn says who answered, and why. */
function toAnswered(event: ModelEvent, { model, price }: FallbackModel, failures: readonly string[]): ModelEvent {
  if (event.type !== "turn_end") return event;
  const message = `${model.name} answers as --fallback-model, because ${failures.join(", and ")}`;
  return {
    ...event,
    notice: { code: "MODEL_CHANGED", message: event.notice ? `${message}; ${event.notice.message}` : message },
    model: { id: model.id, name: model.name, ...(price && { price }) },
  };
}

/** The failure of the last model, with those before it. */
function toLastError(error: SheafError, failures: readonly string[]): SheafError {
  return failures.length === 0 ? error : error.withMessage(`${error.message} (before, ${failures.join(", and ")})`);
}
