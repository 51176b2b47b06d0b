/** Answers that ended, but not well. */
import type { ModelStreamReport } from "@sheaf/documents/model-streams";
import type { ModelEvent } from "@sheaf/protocol";
import type { ProviderEndpoint } from "../endpoint.ts";
import { toStreamFailure } from "./http-error.ts";
import { createProviderError, type ProviderFailure } from "./provider-failure.ts";
import { createSafeText } from "./safe-text.ts";

/** The failure that an ended body is; undefined: it is a whole answer. `rest`: its last events. */
export function toAnswerFailure(
  endpoint: ProviderEndpoint,
  report: ModelStreamReport,
  rest: readonly ModelEvent[],
  now: number,
): ProviderFailure | undefined {
  const [error] = report.errors;
  if (error) return toStreamFailure(endpoint, error, now);
  if (report.broken > 0) {
    const reason = `a part of it cannot be read, after ${report.payloads} events`;
    return { error: createProviderError(endpoint, { code: "STREAM_TRUNCATED", reason }), isRetryable: true };
  }
  if (!isWhole(endpoint, report)) {
    const reason = report.payloads === 0 ? "the body held no event" : `after ${report.payloads} events`;
    return { error: createProviderError(endpoint, { code: "STREAM_TRUNCATED", reason }), isRetryable: true };
  }
  const end = rest.at(-1);
  if (end?.type !== "turn_end" || end.finishReason !== "error") return undefined;
  // The model wrote something that the provider could not read, or the provider broke.
  const code = /malformed|unexpected|too_many|missing/i.test(end.rawFinishReason) ? "PROVIDER_REJECTED" : "OVERLOADED";
  const reason = createSafeText(endpoint)(`the answer ended with "${end.rawFinishReason}"`, 100);
  return { error: createProviderError(endpoint, { code, reason }), isRetryable: true };
}

/** Anthropic and Responses always send their end marker; of the many chat servers some never do, but they say a reason. */
function isWhole({ protocol }: ProviderEndpoint, { ended, finish }: ModelStreamReport): boolean {
  if (ended !== null) return true;
  return finish !== null && (protocol === "openai-chat" || protocol === "gemini");
}
