/** Answers other than streams, and errors in streams, as failures of the closed table (C20, R-10). */
import type { ProviderError } from "@sheaf/documents/model-streams";
import type { ProviderIdentity } from "../endpoint.ts";
import type { HeaderReader } from "./http-client.ts";
import { createProviderError, type ProviderFailure } from "./provider-failure.ts";
import { createSafeText, type ToSafeText } from "./secrets.ts";
import type { ErrorCode } from "../../base/errors.ts";

/** An HTTP answer with its body as text, of which the first 64 KiB are enough. */
export interface HttpRefusal {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: string;
  /** Of the request; undefined if a package sent it. */
  readonly url?: string | undefined;
}

const noHeaders: HeaderReader = { get: () => null };
const longestReason = 300;
const longestDetails = 2000;
/** A longer wait is a quota. */
export const longestWaitMs = 60_000;

/** The failure for an HTTP status other than 2xx. */
export function toHttpFailure(endpoint: ProviderIdentity, refusal: HttpRefusal, now: number): ProviderFailure {
  const { status, headers, body } = refusal;
  if (status >= 300 && status < 400) return toRedirectFailure(endpoint, refusal);
  const toSafeText = createSafeText(endpoint);
  const parsed = parseBody(body);
  const said = readError(parsed);
  const words = `${said.code} ${said.type} ${said.message || (said.isObject ? "" : body)}`;
  const code = toErrorCode({ status, words });
  const waitMs = toRetryAfterMs(headers, parsed, now);
  const resetsAt = waitMs !== undefined && waitMs > longestWaitMs ? formatTime(now + waitMs) : undefined;
  const text = toSafeText(said.message || formatPlainBody(body, headers), longestReason);
  return {
    error: createProviderError(endpoint, {
      code,
      reason: text === "" ? `HTTP ${status}` : `HTTP ${status}: ${text}`,
      details: formatDetails(toSafeText, refusal),
      ...(resetsAt !== undefined && (code === "RATE_LIMITED" || code === "OVERLOADED") && { resetsAt }),
    }),
    // Waiting does not bring back a quota of money.
    isRetryable: isRetryableStatus(status) && code !== "CONTEXT_LENGTH" && !/insufficient_quota/.test(words),
    ...(waitMs !== undefined && { waitMs }),
  };
}

function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/**
 * Redirects are not followed: the key and the prompt are for the configured host (S-42). If the server wants the same
 * request at another address, the error names the base URL for it.
 */
function toRedirectFailure(endpoint: ProviderIdentity, { status, headers, url = "" }: HttpRefusal): ProviderFailure {
  const toSafeText = createSafeText(endpoint);
  const location = headers.get("location") ?? "";
  const target = location === "" ? null : URL.parse(location, url || endpoint.baseUrl);
  // The part after ? or # can be a key.
  const address = target && `${target.origin}${target.pathname}`;
  const reason = `HTTP ${status}: a redirect to ${address ?? "nowhere"}, which is not followed`;
  const baseUrl = address && findNewBaseUrl(endpoint.baseUrl, url, address);
  const advice = baseUrl
    ? `if you trust that address, use --base-url ${baseUrl}`
    : "correct the base URL; if it is right, a proxy or a login page is in between";
  const error = createProviderError(endpoint, {
    code: "PROVIDER_REJECTED",
    reason: toSafeText(reason, longestReason),
    advice: toSafeText(advice, longestReason),
  });
  return { error, isRetryable: false };
}

/** The address without what the request appends to the base URL; undefined if it has another end. */
function findNewBaseUrl(baseUrl: string, url: string, address: string): string | undefined {
  if (baseUrl === "" || !url.startsWith(baseUrl)) return undefined;
  const path = url.slice(baseUrl.length).replace(/[?#].*$/s, "");
  const isSame = path !== "" && address.endsWith(path);
  const found = isSame ? address.slice(0, -path.length) : "";
  return found === baseUrl || !URL.canParse(found) ? undefined : found;
}

/** The failure for a body of the wrong type, such as the page of a proxy or a login. */
export function toWrongTypeFailure(endpoint: ProviderIdentity, type: string): ProviderFailure {
  const reason = createSafeText(endpoint)(
    `the answer is ${type} and not an event stream: is there a proxy in between, or is the base URL that of another service?`,
    longestReason,
  );
  return { error: createProviderError(endpoint, { code: "PROVIDER_REJECTED", reason }), isRetryable: false };
}

/** The failure for an error object in a stream. */
export function toStreamFailure(endpoint: ProviderIdentity, error: ProviderError, now: number): ProviderFailure {
  const toSafeText = createSafeText(endpoint);
  const status = toStatus(error.code, error.type);
  const words = `${error.code} ${error.type} ${error.message}`;
  const code = toErrorCode({ status, words });
  const waitMs = toRetryAfterMs(noHeaders, error.raw, now);
  const isLongWait = waitMs !== undefined && waitMs > longestWaitMs;
  const reason = [error.code || error.type, error.message].filter((part) => part !== "").join(": ");
  return {
    error: createProviderError(endpoint, {
      code,
      reason: toSafeText(reason, longestReason) || "an error in the stream",
      details: toSafeText(JSON.stringify(error.raw), longestDetails),
      ...(isLongWait && code === "RATE_LIMITED" && { resetsAt: formatTime(now + waitMs) }),
    }),
    isRetryable: (code === "OVERLOADED" || code === "RATE_LIMITED") && !/insufficient_quota/.test(words),
    ...(waitMs !== undefined && { waitMs }),
  };
}

interface SaidError {
  readonly code: string;
  readonly type: string;
  readonly message: string;
  readonly isObject: boolean;
}

/** `{error: {code, type, status, message}}`, `{error: "…"}`, `{message}`, `{detail}`; Gemini puts it into an array. */
function readError(parsed: unknown): SaidError {
  const body = toObject(Array.isArray(parsed) ? parsed[0] : parsed);
  const error = toObject(body["error"]);
  const inner = toObject(toObject(error["innererror"]));
  const plain = typeof body["error"] === "string" ? body["error"] : "";
  const reasons = Array.isArray(error["details"])
    ? error["details"].map((detail) => toText(toObject(detail)["reason"]))
    : [];
  const codes = [error["code"], body["code"], inner["code"], ...reasons].map(toText);
  return {
    code: codes.filter((code) => code !== "").join(" "),
    type: [error["type"], error["status"], body["type"]].map(toText).join(" ").trim(),
    message: toText(error["message"]) || plain || toText(body["message"]) || toText(body["detail"]),
    isObject: Object.keys(body).length > 0,
  };
}

/** A web page does not fit into one line. */
function formatPlainBody(body: string, headers: HeaderReader): string {
  const isPage = /html/i.test(headers.get("content-type") ?? "") || body.trimStart().startsWith("<");
  return isPage ? "a web page and not an answer of the provider; is there a proxy in between?" : body;
}

function formatDetails(toSafeText: ToSafeText, { headers, body }: HttpRefusal): string {
  const requestId = headers.get("request-id") ?? headers.get("x-request-id") ?? "";
  return toSafeText([requestId === "" ? "" : `request ${requestId}`, body].join(" "), longestDetails);
}

/** Milliseconds since 1970 as RFC 3339. */
export function formatTime(milliseconds: number): string {
  // The latest time that a date can hold.
  return new Date(Math.min(milliseconds, 8.64e15)).toISOString();
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function toText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** A refusal, from a status or from an error object in a body. */
interface Refusal {
  /** HTTP status; for an error object the status that its words mean, or 0. */
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

/** The code for a refusal, from its status, and from its words if the status has several meanings. */
function toErrorCode({ status, words }: Refusal): ErrorCode {
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

/** The status that the code or the type of an error object means; 0 for none. */
function toStatus(...words: readonly string[]): number {
  for (const word of words) {
    const status = /^[1-5]\d\d$/.test(word) ? Number(word) : statusWords.get(word.toLowerCase());
    if (status !== undefined) return status;
  }
  return 0;
}

/** Milliseconds until the next try, from headers and body; undefined if they say nothing. Never negative. */
function toRetryAfterMs(headers: HeaderReader, body: unknown, now: number): number | undefined {
  const wait =
    toNumber(headers.get("retry-after-ms")) ??
    toHeaderMs(headers.get("retry-after"), now) ??
    toResetMs(headers.get("anthropic-ratelimit-unified-reset"), now) ??
    toBodyMs(body, now);
  return wait === undefined ? undefined : Math.max(0, Math.ceil(wait));
}

/** Seconds, or an HTTP date. */
function toHeaderMs(value: string | null, now: number): number | undefined {
  const seconds = toNumber(value);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(value ?? "");
  return Number.isNaN(date) ? undefined : date - now;
}

/** Seconds since 1970, or a date. */
function toResetMs(value: string | null, now: number): number | undefined {
  const seconds = toNumber(value);
  return seconds === undefined ? toHeaderMs(value, now) : seconds * 1000 - now;
}

/** Google's `RetryInfo` (`retryDelay: "34s"`); `resets_at` and `resets_in_seconds` of others. */
function toBodyMs(body: unknown, now: number): number | undefined {
  const error = toObject(toObject(body)["error"] ?? body);
  const details: readonly unknown[] = Array.isArray(error["details"]) ? error["details"] : [];
  for (const detail of details) {
    const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(String(toObject(detail)["retryDelay"])) ?? [];
    if (seconds !== undefined) return Number(seconds) * 1000;
  }
  const { resets_in_seconds: inSeconds, resets_at: at } = error;
  if (typeof inSeconds === "number") return inSeconds * 1000;
  if (typeof at === "number" || typeof at === "string") return toResetMs(String(at), now);
  return undefined;
}

function toNumber(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}
