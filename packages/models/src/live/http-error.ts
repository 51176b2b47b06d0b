/** Turns answers other than streams, and errors in streams, into failures of the closed table (C20, R-10). */
import {
  findWaitMs,
  formatTime,
  isMoneyQuota,
  longestWaitMs,
  toRefusalCode,
  toWaitUntil,
  type AnswerFailure,
} from "@sheaf/documents/model-streams";
import { parseJson, toJsonObject } from "@sheaf/protocol/check-value";
import type { ProviderIdentity } from "../endpoint.ts";
import type { HeaderReader } from "./http-client.ts";
import { createProviderError, type ProviderFailure } from "./provider-failure.ts";
import { createSafeText, type ToSafeText } from "./secrets.ts";

/** An HTTP answer with its body as text, of which it needs the first 64 KiB. */
export interface HttpRefusal {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: string;
  /** Address of the request; undefined if a package sent it. */
  readonly url?: string | undefined;
  /** True if the request had images or PDF files. */
  readonly hasAttachments?: boolean;
}

const longestReason = 300;
const longestDetails = 2000;

/** Returns the failure for an HTTP status other than 2xx. */
export function toHttpFailure(endpoint: ProviderIdentity, refusal: HttpRefusal, now: number): ProviderFailure {
  const { status, headers, body } = refusal;
  if (status >= 300 && status < 400) return toRedirectFailure(endpoint, refusal);
  const toSafeText = createSafeText(endpoint);
  const parsed = parseJson(body);
  const said = readError(parsed);
  const words = `${said.code} ${said.type} ${said.message || (said.isObject ? "" : body)}`;
  const isAboutImages = refusal.hasAttachments === true && refusesImages(status, words);
  const code = isAboutImages ? "PROVIDER_REJECTED" : toRefusalCode({ status, words });
  // Some servers answer a wrong request with a 500.
  const isWrong = isAboutImages || code === "CONTEXT_LENGTH" || (status >= 500 && code === "PROVIDER_REJECTED");
  const isLasting = isMoneyQuota(words);
  const waitMs = toRetryAfterMs(headers, parsed, now);
  const resetsAt = waitMs !== undefined && waitMs > longestWaitMs ? formatTime(now + waitMs) : undefined;
  const text = toSafeText(said.message || formatPlainBody(body, headers), longestReason);
  return {
    error: createProviderError(endpoint, {
      code,
      reason: text === "" ? `HTTP ${status}` : `HTTP ${status}: ${text}`,
      details: formatDetails(toSafeText, refusal),
      ...(isAboutImages && { advice: formatImageAdvice(endpoint) }),
      ...(/requires --jinja/.test(words) && { advice: "start llama-server with --jinja" }),
      ...(isLasting && { retryable: false }),
      ...(resetsAt !== undefined && (code === "RATE_LIMITED" || code === "OVERLOADED") && { resetsAt }),
    }),
    isRetryable: !isWrong && !isLasting && isRetryableAnswer(refusal, resetsAt),
    ...(waitMs !== undefined && { waitMs }),
  };
}

/** True if the server refuses images: servers use several statuses for this, llama.cpp 500 (N67). */
function refusesImages(status: number, words: string): boolean {
  const isRefusal = [400, 404, 413, 415, 422, 500].includes(status);
  return (
    isRefusal && /\b(images?|image_url|input_image|vision|multi-?modal|mmproj|pdf|input_file|media type)\b/i.test(words)
  );
}

/** Advises how to continue the conversation, whose log still has the attachments. */
function formatImageAdvice({ displayName }: ProviderIdentity): string {
  const example = JSON.stringify({ images: { [displayName]: false } });
  return `use a model that takes them, undo the message with sheaf revert, or go on without images and PDF: put ${example} into the configuration`;
}

/**
 * True if another try may help. The provider's own header decides, except for keys: a refused key stays refused (C20).
 * A quota with a time waits only with `--wait-for-quota`.
 */
function isRetryableAnswer({ status, headers }: HttpRefusal, resetsAt: string | undefined): boolean {
  const word = headers.get("x-should-retry")?.trim().toLowerCase();
  if (word === "true" && status !== 401 && status !== 403) return true;
  if (word === "false" && resetsAt === undefined) return false;
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/**
 * Returns the failure for a redirect. Sheaf does not follow it, since the key and the prompt are for the configured
 * host (S-42). If the server wants the same request at another address, the error has the base URL for it.
 */
function toRedirectFailure(endpoint: ProviderIdentity, { status, headers, url = "" }: HttpRefusal): ProviderFailure {
  const toSafeText = createSafeText(endpoint);
  const location = headers.get("location") ?? "";
  const target = location === "" ? null : URL.parse(location, url || endpoint.baseUrl);
  // The part after ? or # may be a key.
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

/** Returns the address without the part that the request adds to the base URL; undefined if it has another end. */
function findNewBaseUrl(baseUrl: string, url: string, address: string): string | undefined {
  if (baseUrl === "" || !url.startsWith(baseUrl)) return undefined;
  const path = url.slice(baseUrl.length).replace(/[?#].*$/s, "");
  const isSame = path !== "" && address.endsWith(path);
  const found = isSame ? address.slice(0, -path.length) : "";
  return found === baseUrl || !URL.canParse(found) ? undefined : found;
}

/** Returns the failure for a body of the wrong type, such as the page of a proxy or a login. */
export function toWrongTypeFailure(endpoint: ProviderIdentity, type: string): ProviderFailure {
  const reason = createSafeText(endpoint)(
    `the answer is ${type} and not an event stream: is there a proxy in between, or is the base URL that of another service?`,
    longestReason,
  );
  return { error: createProviderError(endpoint, { code: "PROVIDER_REJECTED", reason }), isRetryable: false };
}

/** Returns the failure for an answer that is not whole, such as an error object in its stream. */
export function toStreamFailure(endpoint: ProviderIdentity, failure: AnswerFailure): ProviderFailure {
  const { code, reason, isRetryable, error, waitMs, resetsAt } = failure;
  const toSafeText = createSafeText(endpoint);
  return {
    error: createProviderError(endpoint, {
      code,
      reason: toSafeText(reason, longestReason),
      ...(error && { details: toSafeText(JSON.stringify(error.raw), longestDetails) }),
      ...(resetsAt !== undefined && { resetsAt }),
      ...(!isRetryable && { retryable: false }),
    }),
    isRetryable,
    ...(waitMs !== undefined && { waitMs }),
  };
}

interface SaidError {
  readonly code: string;
  readonly type: string;
  readonly message: string;
  readonly isObject: boolean;
}

/**
 * Reads `{error: {code, type, status, message}}`, `{error: "…"}`, `{message}`, `{detail}`, or Gemini's array of one.
 */
function readError(parsed: unknown): SaidError {
  const body = toJsonObject(Array.isArray(parsed) ? parsed[0] : parsed);
  const error = toJsonObject(body["error"]);
  const inner = toJsonObject(toJsonObject(error["innererror"]));
  const plain = typeof body["error"] === "string" ? body["error"] : "";
  const reasons = Array.isArray(error["details"])
    ? error["details"].map((detail) => toText(toJsonObject(detail)["reason"]))
    : [];
  const codes = [error["code"], body["code"], inner["code"], ...reasons].map(toText);
  return {
    code: codes.filter((code) => code !== "").join(" "),
    type: [error["type"], error["status"], body["type"]].map(toText).join(" ").trim(),
    message: toText(error["message"]) || plain || toText(body["message"]) || toText(body["detail"]),
    isObject: Object.keys(body).length > 0,
  };
}

/** Shortens a web page, which does not fit into one line. */
function formatPlainBody(body: string, headers: HeaderReader): string {
  const isPage = /html/i.test(headers.get("content-type") ?? "") || body.trimStart().startsWith("<");
  return isPage ? "a web page and not an answer of the provider; is there a proxy in between?" : body;
}

function formatDetails(toSafeText: ToSafeText, { headers, body }: HttpRefusal): string {
  const requestId = headers.get("request-id") ?? headers.get("x-request-id") ?? "";
  return toSafeText([requestId === "" ? "" : `request ${requestId}`, body].join(" "), longestDetails);
}

/** Returns a word or a number of the provider; "" for other values. */
export function toText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/**
 * Returns the milliseconds until the next try, from headers and body; undefined if they have no time. Never negative.
 */
function toRetryAfterMs(headers: HeaderReader, body: unknown, now: number): number | undefined {
  const reset = headers.get("anthropic-ratelimit-unified-reset");
  const wait =
    toNumber(headers.get("retry-after-ms")) ??
    toHeaderMs(headers.get("retry-after"), now) ??
    (reset === null ? undefined : toWaitUntil(reset, now)) ??
    findWaitMs(body, now);
  return wait === undefined ? undefined : Math.max(0, Math.ceil(wait));
}

/** Reads seconds, or an HTTP date. */
function toHeaderMs(value: string | null, now: number): number | undefined {
  const seconds = toNumber(value);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(value ?? "");
  return Number.isNaN(date) ? undefined : date - now;
}

function toNumber(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}
