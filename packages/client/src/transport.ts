/** HTTP requests to one server. */
import { protocolVersion } from "@sheaf/protocol";
import { ConnectionError, toApiError } from "./errors.ts";

export interface TransportOptions {
  /** Address of the server, for instance `http://127.0.0.1:4096`; "" means the origin of the page. */
  readonly baseUrl: string;
  /** Token for `Authorization: Bearer`, or a function to call before each request. A page can use its cookie. */
  readonly token?: string | (() => string | Promise<string>);
  /** Function that sends requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface TransportRequest {
  /** Method of the request; `GET` by default. */
  readonly method?: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly accept?: string;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request to a path. @throws SheafApiError for a status of 400 or more, ConnectionError without an answer. */
export type Transport = (path: string, request?: TransportRequest) => Promise<Response>;

/** Node's codes for an unknown host and an invalid address. A restarting server refuses connections, which passes. */
const wrongAddress = /^(getaddrinfo ENOTFOUND|Invalid URL|unknown scheme|bad port)/;

/** Finds the reason that `fetch` failed, which in Node only the cause contains. */
function toReason(error: unknown): string {
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: unknown };
  return cause ? toReason(cause) : String(message || code || error);
}

export function createTransport({ baseUrl, token, fetch: send = fetch }: TransportOptions): Transport {
  const root = baseUrl.replace(/\/+$/, "");
  return async (path, { method = "GET", body, accept = "application/json", idempotencyKey, signal } = {}) => {
    const headers: Record<string, string> = { accept, "sheaf-protocol": protocolVersion };
    const bearer = typeof token === "function" ? await token() : token;
    if (bearer !== undefined) headers["authorization"] = `Bearer ${bearer}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    if (idempotencyKey !== undefined) headers["idempotency-key"] = idempotencyKey;
    const init = {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    };
    const answer = await send(root + path, init).catch((cause: unknown) => {
      signal?.throwIfAborted();
      const reason = toReason(cause);
      const isWrongAddress = wrongAddress.test(reason);
      throw new ConnectionError(`${method} ${root}${path} got no answer: ${reason}.`, { cause, isWrongAddress });
    });
    if (!answer.ok) throw await toApiError(answer);
    return answer;
  };
}
