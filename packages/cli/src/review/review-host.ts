/** The port of a host, GitHub or GitLab, and its HTTP requests (C221). */
import { parseJson } from "@sheaf/protocol/check-value";
import { type ErrorCode, SheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import { toOneLine } from "@sheaf/base/to-one-line";
import type { ChangedLines, PlacedFinding } from "./findings.ts";

/** A pull request or a merge request. */
export interface ReviewHost {
  /** Reads the change, and the comments of earlier reviews with the same token. */
  read(): Promise<PostedReview>;
  /** Number of findings in one call at most. */
  readonly batchSize: number;
  /** Posts comments at lines of the change: all of them, or none. */
  postFindings(findings: readonly PlacedFinding[]): Promise<void>;
  /** Marks the comment as resolved or unresolved. */
  setResolved(comment: PostedComment, isResolved: boolean): Promise<void>;
  writeSummary(body: string, id: string | undefined): Promise<void>;
}

export interface PostedReview {
  /** The newest commit of the change. */
  readonly head: string;
  readonly lines: ChangedLines;
  /** Comments by the id of their finding. */
  readonly comments: ReadonlyMap<string, PostedComment>;
  readonly summary: { readonly id: string; readonly body: string } | undefined;
}

export interface PostedComment {
  readonly id: string;
  /** Id of the comment's thread. */
  readonly threadId: string;
  readonly isResolved: boolean;
  /** True if a person resolved it, so that it stays resolved. */
  readonly isSettled: boolean;
  /** True if the token can resolve or reopen the thread. */
  readonly mayResolve: boolean;
}

/** Limit of one request, in milliseconds. */
const REQUEST_MS = 60_000;

interface ApiRequest {
  readonly method?: "POST" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Returns the answer as JSON. Only this address gets the token. @throws SheafError with the request's name. */
export async function callApi({ method, url, headers, body }: ApiRequest, signal: AbortSignal) {
  const name = `${method ?? "GET"} ${url}`;
  const response = await fetch(url, {
    method: method ?? "GET",
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new SheafError("NETWORK", `${name} got no answer: run the command again`, { cause: error });
  });
  const text = await response.text();
  if (response.ok) return { json: parseJson(text), headers: response.headers };
  throw new SheafError(
    toCode(response),
    `${name} was answered with ${response.status}: ${toOneLine(text).slice(0, 200)}`,
  );
}

function toCode({ status, headers }: Response): ErrorCode {
  if (status === 429 || (status === 403 && headers.get("x-ratelimit-remaining") === "0")) return "RATE_LIMITED";
  if (status === 401 || status === 403) return "AUTH_REJECTED";
  return status < 500 ? "USAGE" : "OVERLOADED";
}

/** Reads a variable. @throws SheafError AUTH_REQUIRED or USAGE if it isn't set. */
export function readVariable(
  environment: Environment,
  name: string,
  code: "USAGE" | "AUTH_REQUIRED" = "USAGE",
): string {
  const value = environment[name];
  if (value) return value;
  throw new SheafError(code, `${name} is not set: sheaf review post runs in a job of GitHub or GitLab that sets it`);
}
