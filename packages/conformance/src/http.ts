/** Plain requests to the server under test: no fixing, no redirects, no retries. */
import { parseJson } from "@sheaf/protocol/check-value";
import { explainErrorBody } from "./error-body.ts";
import { EventStream } from "./event-stream.ts";
import { demand, demandNone, show, Violation } from "./violation.ts";

export interface RequestOptions {
  /** Body to send as JSON. */
  readonly body?: unknown;
  /** Body to send unchanged, instead of `body`. */
  readonly rawBody?: string | Uint8Array<ArrayBuffer>;
  /** Headers that override the defaults; undefined removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** True if the messages of the event stream stay unread. */
  readonly isOther?: boolean;
}

/** A complete answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Value of the text as JSON; undefined if it isn't JSON. */
  readonly json: unknown;
}

export interface HttpOptions {
  /** Address of the server, such as `http://127.0.0.1:7433`. */
  readonly baseUrl: string;
  readonly token: string | undefined;
  /** Milliseconds for one answer, or for the next piece of a stream. */
  readonly waitMs: number;
  /** Sends a request. Default: `fetch`; a server in the same process may answer without a socket. */
  readonly fetch?: (address: string, init: RequestInit) => Promise<Response>;
}

export class Http {
  readonly #options: HttpOptions;

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  async send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const signal = AbortSignal.timeout(this.#options.waitMs);
    const answer = await this.#request(method, path, options, "application/json", signal);
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: parseJson(text) };
  }

  /** Sends a request, and expects one of the statuses. */
  async expect(
    status: number | readonly number[],
    clause: string,
    method: string,
    path: string,
    options?: RequestOptions,
  ): Promise<Answer> {
    const answer = await this.send(method, path, options);
    const allowed = [status].flat();
    demand(
      allowed.includes(answer.status),
      clause,
      `${method} ${path}: status ${answer.status}, not ${allowed.join(" or ")}: ${show(answer.text)}`,
    );
    return answer;
  }

  /** Sends a request, and expects an error of the contract (N52, section 7). */
  async expectError(
    status: number | readonly number[],
    method: string,
    path: string,
    options?: RequestOptions,
  ): Promise<string> {
    const { headers, json } = await this.expect(status, "N52", method, path, options);
    const type = headers.get("content-type") ?? "none";
    demand(/^application\/json\b/i.test(type), "N52", `${method} ${path}: the error has the content type ${type}`);
    demandNone(explainErrorBody(json), "N52", `${method} ${path}: the body of the error`);
    return (json as { error: { errorCode: string } }).error.errorCode;
  }

  /** Opens an event stream. @throws Violation if the answer is not one. */
  async open(method: string, path: string, options: RequestOptions = {}): Promise<EventStream> {
    const { waitMs } = this.#options;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), waitMs);
    const answer = await this.#request(method, path, options, "text/event-stream", controller.signal);
    clearTimeout(timer);
    if (answer.status !== 200) {
      throw new Violation("R14", `${method} ${path}: status ${answer.status}, not 200: ${show(await answer.text())}`);
    }
    const { isOther = false } = options;
    return new EventStream(answer, { waitMs, address: `${method} ${path}`, controller, isOther });
  }

  async #request(
    method: string,
    path: string,
    options: RequestOptions,
    accept: string,
    signal: AbortSignal,
  ): Promise<Response> {
    const { baseUrl, token, waitMs, fetch = globalThis.fetch } = this.#options;
    const { body, rawBody } = options;
    const content = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const headers = new Headers({ accept });
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    if (content !== undefined) headers.set("content-type", "application/json");
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      if (value === undefined) headers.delete(name);
      else headers.set(name, value);
    }
    const init = {
      method,
      headers,
      signal,
      redirect: "manual",
      ...(content !== undefined && { body: content }),
    } as const;
    try {
      return await fetch(baseUrl.replace(/\/+$/, "") + path, init);
    } catch (error) {
      if (signal.aborted) throw new Violation("N52", `${method} ${path}: no answer within ${waitMs} ms`);
      const { cause } = error as Error;
      throw new Violation("N52", `${method} ${path}: the connection failed: ${String(cause ?? error)}`);
    }
  }
}
