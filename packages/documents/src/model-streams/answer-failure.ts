/** Decides how a model's answer failed, in codes of the command line (C20), for live runs and `sheaf convert`. */
import type { TurnEnd } from "@sheaf/protocol";
import type { ModelStreamReport, ProviderError } from "./model-stream-report.ts";
import { isJsonObject, readObject, readObjects, type JsonObject } from "./read-json.ts";

/** Codes for requests that a provider refuses, or answers that it breaks off. */
export type RefusalCode =
  | "AUTH_REJECTED"
  | "PROVIDER_REJECTED"
  | "CONTEXT_LENGTH"
  | "CONTENT_FILTER"
  | "MODEL_NOT_FOUND"
  | "RATE_LIMITED"
  | "OVERLOADED";

/** The reason why a body is not a whole answer. */
export interface AnswerFailure {
  readonly code: RefusalCode | "STREAM_TRUNCATED";
  /** The failure, with the provider's unchanged words. */
  readonly reason: string;
  /** True if the same request may work later. */
  readonly isRetryable: boolean;
  /** The provider's error, unchanged. */
  readonly error?: ProviderError;
  /** Milliseconds that the provider asks to wait. */
  readonly waitMs?: number;
  /** Time when a quota resets, RFC 3339. */
  readonly resetsAt?: string;
}

/** Milliseconds; a longer wait is a quota. */
export const longestWaitMs = 60_000;

/** Formats milliseconds since 1970 as RFC 3339. */
export function formatTime(milliseconds: number): string {
  // The latest time of a date.
  return new Date(Math.min(milliseconds, 8.64e15)).toISOString();
}

/** Returns the failure of a body that has ended; undefined for a whole answer. `now`: milliseconds since 1970. */
export function findAnswerFailure(report: ModelStreamReport, end: TurnEnd, now: number): AnswerFailure | undefined {
  const [error] = report.errors;
  if (error) return toErrorFailure(error, now);
  if (report.broken > 0) return createCutFailure(`a part of it cannot be read, after ${report.payloads} events`);
  if (!report.isWhole) {
    return createCutFailure(report.payloads === 0 ? "the body contained no event" : `after ${report.payloads} events`);
  }
  if (end.finishReason !== "error") return undefined;
  // Either the model wrote a call that the provider could not read, or the provider broke.
  const code = /malformed|unexpected|too_many|missing/i.test(end.rawFinishReason) ? "PROVIDER_REJECTED" : "OVERLOADED";
  return { code, reason: `the answer ended with "${end.rawFinishReason}"`, isRetryable: true };
}

function createCutFailure(reason: string): AnswerFailure {
  return { code: "STREAM_TRUNCATED", reason, isRetryable: true };
}

/** Returns the failure for an error object in a body. */
export function toErrorFailure(error: ProviderError, now: number): AnswerFailure {
  const words = `${error.code} ${error.type} ${error.message}`;
  const code = toRefusalCode({ status: toStatus(error.code, error.type), words });
  const waitMs = findWaitMs(error.raw, now);
  const reason = [error.code || error.type, error.message].filter((part) => part !== "").join(": ");
  return {
    code,
    reason: reason || "an error in the stream",
    isRetryable: (code === "OVERLOADED" || code === "RATE_LIMITED") && !isMoneyQuota(words),
    error,
    ...(waitMs !== undefined && { waitMs }),
    ...(waitMs !== undefined &&
      waitMs > longestWaitMs &&
      code === "RATE_LIMITED" && { resetsAt: formatTime(now + waitMs) }),
  };
}

/** True for a quota of money, for which waiting does not help. */
export function isMoneyQuota(words: string): boolean {
  return /insufficient_quota/.test(words);
}

/**
 * Returns the reason why a whole answer is not a success, by the reason of its end; undefined for a success (N2, N44).
 */
export function findEndFailure(
  finishReason: TurnEnd["finishReason"] | undefined,
  isEmpty: boolean,
):
  | { readonly code: "MAX_TOKENS" | "REFUSED" | "CONTENT_FILTER" | "EMPTY_ANSWER"; readonly message: string }
  | undefined {
  switch (finishReason) {
    case "max_tokens":
      return {
        code: "MAX_TOKENS",
        message: "the model's answer reached its token limit: ask for less, or raise the limit",
      };
    case "refusal":
      return {
        code: "REFUSED",
        message: "the model refused to answer: rephrase the prompt, or use another model",
      };
    case "content_filter":
      return {
        code: "CONTENT_FILTER",
        message: "the provider's content filter cut the answer: change the prompt",
      };
    default:
      return isEmpty
        ? { code: "EMPTY_ANSWER", message: "the model ended without an answer: try again, or use another model" }
        : undefined;
  }
}

/** A refusal, by a status or by an error object in a body. */
interface Refusal {
  /** HTTP status. For an error object it is the status that its words mean, or 0. */
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

/** Matches messages of servers that answer an impossible request with a 5xx, such as llama.cpp without `--jinja`. */
const wrongRequest = /\brequires --[a-z]|\bnot_supported_error\b|\bdoes not support\b|\bunsupported\b/i;

/** Returns the code for a refusal, from its status, and from its words if the status has several meanings. */
export function toRefusalCode({ status, words }: Refusal): RefusalCode {
  if (status === 401) return "AUTH_REJECTED";
  if (status === 429) return "RATE_LIMITED";
  if (status === 408 || status >= 500) {
    if (contextLength.test(words)) return "CONTEXT_LENGTH";
    return wrongRequest.test(words) ? "PROVIDER_REJECTED" : "OVERLOADED";
  }
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

/** Returns the status for the code or the type of an error object; 0 if unknown. */
function toStatus(...words: readonly string[]): number {
  for (const word of words) {
    const status = /^[1-5]\d\d$/.test(word) ? Number(word) : statusWords.get(word.toLowerCase());
    if (status !== undefined) return status;
  }
  return 0;
}

/**
 * Returns the milliseconds that an error object asks to wait: Google's `RetryInfo` (`retryDelay: "34s"`), or
 * `resets_at` and `resets_in_seconds` of other providers.
 */
export function findWaitMs(body: unknown, now: number): number | undefined {
  const outer = readObject(body);
  const error = isJsonObject(outer.error) ? outer.error : outer;
  const wait = findDelayMs(error) ?? findResetMs(error, now);
  return wait === undefined ? undefined : Math.max(0, Math.ceil(wait));
}

function findDelayMs(error: JsonObject): number | undefined {
  for (const { retryDelay } of readObjects(error.details)) {
    const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(String(retryDelay)) ?? [];
    if (seconds !== undefined) return Number(seconds) * 1000;
  }
  return undefined;
}

function findResetMs({ resets_in_seconds: inSeconds, resets_at: at }: JsonObject, now: number): number | undefined {
  if (typeof inSeconds === "number") return inSeconds * 1000;
  return typeof at === "number" || typeof at === "string" ? toWaitUntil(String(at), now) : undefined;
}

/** Returns the milliseconds until a time: seconds since 1970, or a date. */
export function toWaitUntil(value: string, now: number): number | undefined {
  if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return Number(value) * 1000 - now;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : date - now;
}
