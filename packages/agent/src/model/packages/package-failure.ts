/** What a package throws, or puts into its stream, as a failure of the closed table (C20, R-10). */
import type { PackageEndpoint } from "../endpoint.ts";
import { toHttpFailure, toStreamFailure } from "../live/http-error.ts";
import { toNetworkFailure } from "../live/network-failure.ts";
import { createProviderError, type ProviderFailure } from "../live/provider-failure.ts";
import { createSafeText } from "../live/safe-text.ts";
import { SheafError } from "../../base/errors.ts";

/** Of the errors of the interface; by their names, since a package has a copy of its classes of its own. */
interface PackageError {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly statusCode?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: unknown;
  readonly isRetryable?: unknown;
  readonly cause?: unknown;
}

const longestReason = 300;

/** The failure that an error of a package is. Nothing of it is trusted. */
export function toPackageFailure(endpoint: PackageEndpoint, thrown: unknown, now: number): ProviderFailure {
  if (thrown instanceof SheafError) return { error: thrown, isRetryable: false };
  const error = toFields(thrown);
  const { statusCode, responseBody, responseHeaders } = error;
  if (typeof statusCode === "number" && (statusCode < 200 || statusCode >= 300)) {
    const body = typeof responseBody === "string" ? responseBody : toText(error.message);
    return toHttpFailure(endpoint, { status: statusCode, headers: toHeaders(responseHeaders), body }, now);
  }
  if (isNetworkError(error)) return toNetworkFailure(endpoint, thrown);
  const code = toKnownCode(toText(error.name));
  if (code === undefined) {
    const said = { code: toText(error.code), type: toText(error.type), message: toText(error.message) };
    return toStreamFailure(endpoint, { ...said, raw: said }, now);
  }
  const reason = createSafeText(endpoint)(toText(error.message), longestReason);
  return { error: createProviderError(endpoint, { code, reason }), isRetryable: false };
}

function toFields(thrown: unknown): PackageError {
  if (typeof thrown === "object" && thrown !== null) return thrown;
  return { message: String(thrown) };
}

/** `fetch failed`, or a lost connection behind it: no status, and a system's code at the bottom. */
function isNetworkError({ name, isRetryable, statusCode, cause }: PackageError): boolean {
  const inner = toFields(cause);
  const hasSystemCode = [inner, toFields(inner.cause)].some(({ code }) => /^(E[A-Z]+|UND_ERR_\w+)$/.test(toText(code)));
  return hasSystemCode || name === "TypeError" || (statusCode === undefined && isRetryable === true);
}

function toKnownCode(name: string): "AUTH_REJECTED" | "MODEL_NOT_FOUND" | "STREAM_TRUNCATED" | undefined {
  if (name === "AI_LoadAPIKeyError") return "AUTH_REJECTED";
  if (name === "AI_NoSuchModelError") return "MODEL_NOT_FOUND";
  return name === "AI_EmptyResponseBodyError" ? "STREAM_TRUNCATED" : undefined;
}

function toHeaders(given: Readonly<Record<string, string>> | undefined): Headers {
  try {
    return new Headers(given);
  } catch {
    return new Headers();
  }
}

function toText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
