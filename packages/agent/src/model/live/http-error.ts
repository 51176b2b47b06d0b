/** Answers that are no stream, and streams that hold an error, as failures of the closed table (C20, R-10). */
import type { ProviderError } from "@sheaf/documents/model-streams";
import type { ProviderIdentity } from "../endpoint.ts";
import { toErrorCode, toStatus } from "./error-code.ts";
import type { HeaderReader } from "./http-client.ts";
import { createProviderError, type ProviderFailure } from "./provider-failure.ts";
import { toRetryAfterMs } from "./retry-after.ts";
import { createSafeText, type ToSafeText } from "./safe-text.ts";

/** An HTTP answer with its body as text, of which the first 64 KiB are enough. */
export interface HttpRefusal {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: string;
  /** Of the request; undefined where a package made it. */
  readonly url?: string | undefined;
}

const noHeaders: HeaderReader = { get: () => null };
const longestReason = 300;
const longestDetails = 2000;
/** A longer wait is nothing to wait for in silence. */
export const longestWaitMs = 60_000;

/** The failure that an HTTP status other than 2xx is. */
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
    // A quota of money does not come back by waiting.
    isRetryable: isRetryableStatus(status) && code !== "CONTEXT_LENGTH" && !/insufficient_quota/.test(words),
    ...(waitMs !== undefined && { waitMs }),
  };
}

function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/**
 * Redirects are not followed: the key and the prompt are for the host that was configured (S-42). Where the same request
 * is wanted at another address, the error names the base URL that leads there.
 */
function toRedirectFailure(endpoint: ProviderIdentity, { status, headers, url = "" }: HttpRefusal): ProviderFailure {
  const toSafeText = createSafeText(endpoint);
  const location = headers.get("location") ?? "";
  const target = location === "" ? null : URL.parse(location, url || endpoint.baseUrl);
  // What stands behind ? and # may be a key of somebody's.
  const address = target && `${target.origin}${target.pathname}`;
  const reason = `HTTP ${status}: a redirect to ${address ?? "nowhere"}, which is not followed`;
  const baseUrl = address && findNewBaseUrl(endpoint.baseUrl, url, address);
  const advice = baseUrl
    ? `if you trust that address, use --base-url ${baseUrl}`
    : "correct the base URL; if it is right, a proxy or a login stands in between";
  const error = createProviderError(endpoint, {
    code: "PROVIDER_REJECTED",
    reason: toSafeText(reason, longestReason),
    advice: toSafeText(advice, longestReason),
  });
  return { error, isRetryable: false };
}

/** The address without what the request put behind the base URL; undefined if it does not end with that. */
function findNewBaseUrl(baseUrl: string, url: string, address: string): string | undefined {
  if (baseUrl === "" || !url.startsWith(baseUrl)) return undefined;
  const path = url.slice(baseUrl.length).replace(/[?#].*$/s, "");
  const isSame = path !== "" && address.endsWith(path);
  const found = isSame ? address.slice(0, -path.length) : "";
  return found === baseUrl || !URL.canParse(found) ? undefined : found;
}

/** The failure that a body of the wrong kind is: a page of a proxy or of a login, where a stream should be. */
export function toWrongTypeFailure(endpoint: ProviderIdentity, type: string): ProviderFailure {
  const reason = createSafeText(endpoint)(
    `the answer is ${type}, no event stream: is a proxy in between, or is the base URL of another service?`,
    longestReason,
  );
  return { error: createProviderError(endpoint, { code: "PROVIDER_REJECTED", reason }), isRetryable: false };
}

/** The failure that an error object in a stream is. */
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

/** A page says nothing that fits into a line. */
function formatPlainBody(body: string, headers: HeaderReader): string {
  const isPage = /html/i.test(headers.get("content-type") ?? "") || body.trimStart().startsWith("<");
  return isPage ? "a web page and no answer of the provider; is a proxy in between?" : body;
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
