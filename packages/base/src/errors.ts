/** One row of the closed table of ends (C20). */
export interface ErrorKind {
  /** Exit code of the command line (C20). */
  readonly exitCode: number;
  /** Status of an HTTP answer before the first event (N52). */
  readonly httpStatus: number;
  /** True if the same call may work later, unchanged. */
  readonly retryable: boolean;
}

/** The closed table of C20: every way in which a run can fail. */
export const errorTable = {
  INTERNAL: { exitCode: 1, httpStatus: 500, retryable: false },
  INTERRUPTED: { exitCode: 1, httpStatus: 500, retryable: true },
  USAGE: { exitCode: 2, httpStatus: 400, retryable: false },
  CONFIG_INVALID: { exitCode: 2, httpStatus: 400, retryable: false },
  AUTH_REQUIRED: { exitCode: 3, httpStatus: 401, retryable: false },
  AUTH_REJECTED: { exitCode: 3, httpStatus: 401, retryable: false },
  PROVIDER_REJECTED: { exitCode: 4, httpStatus: 502, retryable: false },
  CONTEXT_LENGTH: { exitCode: 4, httpStatus: 400, retryable: false },
  CONTENT_FILTER: { exitCode: 4, httpStatus: 400, retryable: false },
  MODEL_NOT_FOUND: { exitCode: 4, httpStatus: 404, retryable: false },
  RATE_LIMITED: { exitCode: 5, httpStatus: 429, retryable: true },
  OVERLOADED: { exitCode: 5, httpStatus: 503, retryable: true },
  NETWORK: { exitCode: 5, httpStatus: 503, retryable: true },
  STREAM_STALLED: { exitCode: 5, httpStatus: 503, retryable: true },
  STREAM_TRUNCATED: { exitCode: 5, httpStatus: 503, retryable: true },
  EMPTY_ANSWER: { exitCode: 6, httpStatus: 502, retryable: true },
  MAX_TOKENS: { exitCode: 6, httpStatus: 502, retryable: false },
  REFUSED: { exitCode: 6, httpStatus: 502, retryable: false },
  OUTPUT_INVALID: { exitCode: 6, httpStatus: 502, retryable: true },
  LOOP_DETECTED: { exitCode: 6, httpStatus: 502, retryable: false },
  BUDGET_TURNS: { exitCode: 7, httpStatus: 429, retryable: false },
  BUDGET_TOOLS: { exitCode: 7, httpStatus: 429, retryable: false },
  BUDGET_TOKENS: { exitCode: 7, httpStatus: 429, retryable: false },
  BUDGET_COST: { exitCode: 7, httpStatus: 429, retryable: false },
  BUDGET_TIME: { exitCode: 7, httpStatus: 429, retryable: false },
  PERMISSION_REQUIRED: { exitCode: 8, httpStatus: 403, retryable: false },
  SANDBOX_UNAVAILABLE: { exitCode: 8, httpStatus: 503, retryable: false },
  SETUP_INCOMPLETE: { exitCode: 8, httpStatus: 503, retryable: false },
  STORAGE_FULL: { exitCode: 9, httpStatus: 507, retryable: true },
  STORAGE_LOCKED: { exitCode: 9, httpStatus: 503, retryable: true },
  STORAGE_CORRUPT: { exitCode: 9, httpStatus: 500, retryable: false },
  CONVERSATION_BUSY: { exitCode: 9, httpStatus: 409, retryable: true },
  NEEDS_INPUT: { exitCode: 10, httpStatus: 200, retryable: false },
  VERIFY_FAILED: { exitCode: 11, httpStatus: 422, retryable: false },
  CANCELLED: { exitCode: 130, httpStatus: 499, retryable: false },
} as const satisfies Record<string, ErrorKind>;

/** A code of the closed table. */
export type ErrorCode = keyof typeof errorTable;

/** The part that failed (N39). */
export type ErrorSource = "provider" | "agent" | "sandbox" | "user" | "server" | "storage";

interface ErrorOptions {
  readonly cause?: unknown;
  readonly source?: ErrorSource;
  /** More text than the one line, for `--verbose` and the error document. */
  readonly details?: string;
  /** RFC 3339 (C20). */
  readonly resetsAt?: string | undefined;
  /** True if a later try may work. Default: by the code. */
  readonly retryable?: boolean;
}

/** The only error class. The message has one line: the failure, the value, and the remedy (C21). */
export class SheafError extends Error {
  override readonly name = "SheafError";
  readonly code: ErrorCode;
  readonly source: ErrorSource;
  readonly details: string;
  readonly resetsAt: string | undefined;
  /** True if the same call may work later, unchanged. */
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.source = options.source ?? "agent";
    this.details = options.details ?? "";
    this.resetsAt = options.resetsAt;
    this.retryable = options.retryable ?? errorTable[code].retryable;
  }

  /** Copies the error with another message. */
  withMessage(message: string): SheafError {
    return new SheafError(this.code, message, this);
  }
}

/** A value of the user in quotation marks; an empty one names its likely cause. */
export function quoteValue(value: string): string {
  return value === "" ? '"" (an unset variable?)' : `"${value}"`;
}

/** True if a value is a code of the closed table. */
export function isErrorCode(value: string): value is ErrorCode {
  return Object.hasOwn(errorTable, value);
}

/** Returns any thrown value as an error of the table. An unknown one becomes INTERNAL, with its cause. */
export function toSheafError(value: unknown): SheafError {
  if (value instanceof SheafError) return value;
  const message = value instanceof Error ? value.message : String(value);
  return new SheafError("INTERNAL", `unexpected: ${message}`, { cause: value });
}
