/** How a try of a request failed. */
import { SheafError, type ErrorCode } from "../../base/errors.ts";
import type { ProviderIdentity, RequestLimits } from "../endpoint.ts";

/** A failed try: expected, so a value. */
export interface ProviderFailure {
  readonly error: SheafError;
  /** Whether the same request may work in a moment. */
  readonly isRetryable: boolean;
  /** Milliseconds after which the provider wants to be asked again. */
  readonly waitMs?: number;
  /** Tries in all, where more than a few are in vain. */
  readonly maxTries?: number;
}

/** What the provider said, made safe already. */
export interface FailureReason {
  readonly code: ErrorCode;
  /** `HTTP 429: slow down`, `overloaded_error: …`, `no byte for 120 s`. */
  readonly reason: string;
  readonly details?: string;
  readonly resetsAt?: string;
  /** What to do, where more is known than the code tells. */
  readonly advice?: string;
}

/** The error for a failure: one line that names provider and model and says what to do (C21). */
export function createProviderError(endpoint: ProviderIdentity, failure: FailureReason): SheafError {
  const { code, reason, details = "", resetsAt, advice = formatAdvice(code, endpoint, resetsAt) } = failure;
  const message = `${endpoint.provider}, model ${endpoint.modelId}: ${formatHappening(code, endpoint)} (${reason}): ${advice}`;
  return new SheafError(code, message, { source: "provider", details, ...(resetsAt !== undefined && { resetsAt }) });
}

/** Nothing came for the whole limit of silence. It is not asked again: that could take as long. */
export function createStallFailure(endpoint: ProviderIdentity, { silenceMs }: RequestLimits): ProviderFailure {
  const reason = `nothing came for ${Math.round(silenceMs / 100) / 10} s`;
  return { error: createProviderError(endpoint, { code: "STREAM_STALLED", reason }), isRetryable: false };
}

function formatHappening(code: ErrorCode, endpoint: ProviderIdentity): string {
  switch (code) {
    case "AUTH_REJECTED":
      return endpoint.apiKey === undefined ? "a key is needed" : `the key from ${endpoint.apiKeySource} was refused`;
    case "MODEL_NOT_FOUND":
      return `no such model at ${formatHost(endpoint)}`;
    case "CONTEXT_LENGTH":
      return "the request is longer than the model takes";
    case "CONTENT_FILTER":
      return "the content filter refused the request";
    case "RATE_LIMITED":
      return "too many requests, or the quota is used up";
    case "OVERLOADED":
      return "the provider has an error or no capacity";
    case "NETWORK":
      return `the connection to ${formatHost(endpoint)} failed`;
    case "STREAM_STALLED":
      return "the answer stalled";
    case "STREAM_TRUNCATED":
      return "the answer broke off without its end marker";
    default:
      return "the provider refused the request";
  }
}

function formatAdvice(code: ErrorCode, { provider, apiKeySource }: ProviderIdentity, resetsAt?: string): string {
  switch (code) {
    case "AUTH_REJECTED":
      return apiKeySource === "none"
        ? `run "sheaf login ${provider}", or give --api-key`
        : `check the key and its rights, or run "sheaf login ${provider}"`;
    case "MODEL_NOT_FOUND":
      return "check the name and the base URL; sheaf models lists what is there";
    case "CONTEXT_LENGTH":
      return "ask for less at once, begin a new conversation, or use a model with a larger window";
    case "CONTENT_FILTER":
      return "change the prompt";
    case "RATE_LIMITED":
      return resetsAt === undefined
        ? "try again later, or check plan and billing"
        : `try again after ${resetsAt}, or use --wait-for-quota`;
    case "OVERLOADED":
    case "STREAM_STALLED":
    case "STREAM_TRUNCATED":
      return "try again, or use another model";
    case "NETWORK":
      return "check the network and the base URL, then try again";
    default:
      return "change the request or the configuration, or use another model";
  }
}

/** Host and port of the base URL; never more of it, for it may hold a password or a key. */
function formatHost({ baseUrl }: ProviderIdentity): string {
  if (baseUrl === "") return "the provider";
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : "its base URL";
}
