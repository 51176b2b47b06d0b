/** What a provider's refusal means, in the closed table (C20). */
import type { ErrorCode } from "../../base/errors.ts";

/** A refusal, from a status or from an error object in a body. */
export interface Refusal {
  /** HTTP status; of an error object the one that its words stand for, or 0. */
  readonly status: number;
  /** Code, type and message of the provider, joined. */
  readonly words: string;
}

const contextLength =
  /context[_ -]?(length|window|size|limit)|maximum context|(prompt|input|request|messages?|payload|entity)( is| are)? too (long|large)|too many (input )?tokens|string_above_max_length|request_too_large|reduce the length|exceeds?\b[^.]{0,60}\btokens?\b|token (count|limit)[^.]{0,40}exceed/i;
const contentFilter =
  /content[_ -]?filter|content management policy|content[_ ]policy|responsible ?ai ?policy|usage policy|moderation|flagged|prohibited_content|safety (system|filter|settings|reasons?)/i;
const badKey =
  /api[_ -]?key[_ ](not[_ ]valid|invalid|expired)|invalid[_ ]api[_ ]key|incorrect api key|unauthenticated/i;
const noModel =
  /model[_ ]not[_ ]found|not a valid model|no such model|unknown model|model\b[^.]{0,120}\b(not found|does not exist|not exist)/i;

/** The code for a refusal: its status, and its words where a status has several meanings. */
export function toErrorCode({ status, words }: Refusal): ErrorCode {
  if (status === 401) return "AUTH_REJECTED";
  if (status === 429) return "RATE_LIMITED";
  if (status === 408 || status >= 500) return contextLength.test(words) ? "CONTEXT_LENGTH" : "OVERLOADED";
  if (contextLength.test(words)) return "CONTEXT_LENGTH";
  if (contentFilter.test(words)) return "CONTENT_FILTER";
  if (status === 403 || badKey.test(words)) return "AUTH_REJECTED";
  if (status === 404 || noModel.test(words)) return "MODEL_NOT_FOUND";
  return "PROVIDER_REJECTED";
}

/** The providers' words for a status, in lower case. */
const statusWords: ReadonlyMap<string, number> = new Map([
  ["authentication_error", 401],
  ["invalid_api_key", 401],
  ["unauthenticated", 401],
  ["permission_error", 403],
  ["permission_denied", 403],
  ["not_found_error", 404],
  ["not_found", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["rate_limit_exceeded", 429],
  ["rate_limit", 429],
  ["too_many_requests", 429],
  ["resource_exhausted", 429],
  ["insufficient_quota", 429],
  ["api_error", 500],
  ["server_error", 500],
  ["internal_error", 500],
  ["internal_server_error", 500],
  ["internal", 500],
  ["unavailable", 503],
  ["service_unavailable", 503],
  ["timeout_error", 504],
  ["deadline_exceeded", 504],
  ["overloaded_error", 529],
  ["overloaded", 529],
]);

/** The status that the code or the type of an error object stands for; 0 for none. */
export function toStatus(...words: readonly string[]): number {
  for (const word of words) {
    const status = /^[1-5]\d\d$/.test(word) ? Number(word) : statusWords.get(word.toLowerCase());
    if (status !== undefined) return status;
  }
  return 0;
}
