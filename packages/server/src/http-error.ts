/** Errors before the first event: a status, and the fields of an error document (N52). */
import type { ErrorBody } from "@sheaf/protocol";
import { securityHeaders } from "./security-headers.ts";
import { toOpenAiError } from "@sheaf/agent/output/openai-chat";
import { errorTable, SheafError, toSheafError, type ErrorCode } from "@sheaf/base/errors";

/** Statuses of request errors by code. The closed table of run errors has other codes (C20). */
const requestErrorTable = {
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  IDEMPOTENCY_CONFLICT: 409,
  APPROVAL_RESOLVED: 409,
  FILES_CHANGED: 409,
  PAYLOAD_TOO_LARGE: 413,
  URI_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  HEADERS_TOO_LARGE: 431,
  LIMIT_REACHED: 429,
} as const satisfies Record<string, number>;

/** A code in the body of an error. */
export type HttpErrorCode = ErrorCode | keyof typeof requestErrorTable;

interface HttpErrorOptions {
  readonly details?: string;
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number;
  /** Methods, for `Allow`. */
  readonly allowed?: readonly string[];
  /** Field of the body. */
  readonly field?: string;
}

/** The error of a request that gets no response. Its message has the problem, the value and the remedy. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code: HttpErrorCode;
  readonly details: string;
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: HttpErrorCode, message: string, options: HttpErrorOptions = {}) {
    const { details = "", retryAfter, allowed, field } = options;
    super(message);
    this.code = code;
    this.field = field;
    this.details = details;
    this.headers = {
      ...(retryAfter !== undefined && { "Retry-After": `${retryAfter}` }),
      ...(allowed && { Allow: allowed.join(", ") }),
      // The server doesn't read on after such a head or body.
      ...((code === "PAYLOAD_TOO_LARGE" || code === "URI_TOO_LONG") && { Connection: "close" }),
    };
  }
}

/** Seconds after which a request that failed for now may be sent again. */
const RETRY_AFTER_SECONDS = 1;

/** An error in the form that the client gets. Unexpected errors appear only in the log, never here. */
export interface ErrorAnswer {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

/** Turns a thrown value into the error that clients see. `isForLog`: the operator must see more. */
export function toClientError(error: unknown): { readonly told: SheafError; readonly isForLog: boolean } {
  const known = toSheafError(error);
  if (known.code !== "INTERNAL") return { told: known, isForLog: known.cause instanceof SheafError };
  const message = "the server failed: see its log";
  return { told: new SheafError("INTERNAL", message, { source: "server" }), isForLog: true };
}

/** Turns any thrown value into the answer to a request. */
export function toErrorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof HttpError) {
    return createAnswer(toStatus(error.code), error.code, error.message, "server", error.details, error.headers);
  }
  const { told } = toClientError(error);
  const { httpStatus, retryable } = errorTable[told.code];
  const headers: Record<string, string> = retryable ? { "Retry-After": `${RETRY_AFTER_SECONDS}` } : {};
  return createAnswer(httpStatus, told.code, told.message, told.source, told.details, headers);
}

/** Forms of errors on a route: Sheaf's own, the form of OpenAI (X20), or a text, which the AI SDK shows (X22). */
type ErrorForm = "sheaf" | "openai" | "text";

export function toErrorResponse(error: unknown, form: ErrorForm = "sheaf"): Response {
  const { status, body, headers } = toErrorAnswer(error);
  const { errorCode, message } = body.error;
  const field = error instanceof HttpError ? error.field : undefined;
  const value = form === "openai" ? { error: toOpenAiError(errorCode, message, status, field) } : body;
  const type = form === "text" ? "text/plain; charset=utf-8" : "application/json";
  return new Response(form === "text" ? `${errorCode}: ${message}` : JSON.stringify(value), {
    status,
    headers: { ...securityHeaders, "Content-Type": type, "Cache-Control": "no-store", ...headers },
  });
}

function toStatus(code: HttpErrorCode): number {
  return Object.hasOwn(requestErrorTable, code)
    ? requestErrorTable[code as keyof typeof requestErrorTable]
    : errorTable[code as ErrorCode].httpStatus;
}

function createAnswer(
  status: number,
  errorCode: string,
  message: string,
  source: string,
  details: string,
  headers: Readonly<Record<string, string>>,
): ErrorAnswer {
  return {
    status,
    body: { error: { errorCode, message, source, details } },
    headers: { ...headers, ...(status === 401 && { "WWW-Authenticate": 'Bearer realm="sheaf"' }) },
  };
}

/** Creates the answer for a missing item. An item of another owner looks the same (S-53). */
export function createNotFoundError(
  kind: "response" | "conversation" | "approval" | "change" | "attachment",
  id: string,
): HttpError {
  return new HttpError("NOT_FOUND", `the ${kind} ${JSON.stringify(id.slice(0, 100))} does not exist: check its id`);
}
