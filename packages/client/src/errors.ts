/** Errors between a client and a server. */
import type { ErrorBody } from "@sheaf/protocol";

/** An error answer of the server (N52, section 7). */
export interface ApiErrorFields {
  /** HTTP status of the answer. */
  readonly status: number;
  /** Code from the published list; `HTTP_<status>` if the answer isn't from Sheaf. */
  readonly errorCode: string;
  readonly message: string;
  readonly source: string;
  readonly details: string;
  /** Milliseconds to wait; undefined if the server sent no time. */
  readonly retryAfter: number | undefined;
}

/** The server refused a request. */
export class SheafApiError extends Error implements ApiErrorFields {
  override readonly name = "SheafApiError";
  declare readonly status: number;
  declare readonly errorCode: string;
  declare readonly source: string;
  declare readonly details: string;
  declare readonly retryAfter: number | undefined;

  constructor(fields: ApiErrorFields) {
    super(fields.message);
    Object.assign(this, fields);
  }
}

/** No answer, or an incomplete one: the network, a proxy, or a server that went away. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** True if the address itself is wrong, as far as the platform reports it: Node does, browsers don't. */
  readonly isWrongAddress: boolean;

  constructor(message = "", options: { readonly cause?: unknown; readonly isWrongAddress?: boolean } = {}) {
    super(message, options);
    this.isWrongAddress = options.isWrongAddress ?? false;
  }
}

/** A stream broke before `done` and could not be resumed: the answer is incomplete (N51). */
export class StreamBrokenError extends Error {
  override readonly name = "StreamBrokenError";
  /** Id of the response; undefined if the server never sent it. */
  readonly responseId: string | undefined;
  /** Highest id received; `follow` continues after it. */
  readonly lastEventId: number;

  constructor(message: string, options: { responseId: string | undefined; lastEventId: number; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.responseId = options.responseId;
    this.lastEventId = options.lastEventId;
  }
}

/** Reads an answer with a status of 400 or more, from Sheaf or anything else. */
export async function toApiError(answer: Response): Promise<SheafApiError> {
  const text = await answer.text().catch(() => "");
  return new SheafApiError({
    status: answer.status,
    errorCode: `HTTP_${answer.status}`,
    message: `The server answered ${answer.status}${answer.statusText && ` ${answer.statusText}`}.`,
    source: "server",
    details: text.slice(0, 1000),
    ...readErrorBody(text),
    retryAfter: parseRetryAfter(answer.headers.get("retry-after")),
  });
}

function readErrorBody(text: string): Partial<ErrorBody["error"]> {
  try {
    const { error } = JSON.parse(text) as { readonly error?: Partial<ErrorBody["error"]> };
    if (typeof error?.errorCode !== "string" || typeof error.message !== "string") return {};
    const { errorCode, message, source, details } = error;
    return {
      errorCode,
      message,
      ...(typeof source === "string" && { source }),
      ...(typeof details === "string" && { details }),
    };
  } catch {
    return {};
  }
}

/** Converts seconds or a date (RFC 9110) to milliseconds. */
function parseRetryAfter(value: string | null): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const seconds = Number(value);
  const milliseconds = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000;
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}

export function toError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}
