/** The port of a host, GitHub or GitLab, and its HTTP requests (C221). */
import { parseJson } from "@sheaf/protocol/check-value";
import { type ErrorCode, SheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import { toOneLine } from "@sheaf/base/to-one-line";
import type { ChangedLines, PlacedFinding } from "./findings.ts";

/** A pull request or a merge request. */
export interface ReviewHost {
  /** The change, and the comments that earlier reviews posted with the same token. */
  read(): Promise<PostedReview>;
  /** The most findings that one call takes. */
  readonly batchSize: number;
  /** New comments at lines of the change: all of them, or none. */
  postFindings(findings: readonly PlacedFinding[]): Promise<void>;
  /** Marks the comment as resolved, or takes that back. */
  setResolved(comment: PostedComment, isResolved: boolean): Promise<void>;
  writeSummary(body: string, id: string | undefined): Promise<void>;
}

export interface PostedReview {
  /** The newest commit of the change. */
  readonly head: string;
  readonly lines: ChangedLines;
  /** The comments by the id of their finding. */
  readonly comments: ReadonlyMap<string, PostedComment>;
  readonly summary: { readonly id: string; readonly body: string } | undefined;
}

export interface PostedComment {
  readonly id: string;
  /** The thread that it starts. */
  readonly threadId: string;
  readonly isResolved: boolean;
  /** A person resolved it: it stays so. */
  readonly isSettled: boolean;
  /** The token can resolve the thread, or reopen it. */
  readonly mayResolve: boolean;
}

/** Longest time of one request. Milliseconds. */
const REQUEST_MS = 60_000;

interface ApiRequest {
  readonly method?: "POST" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The answer as JSON. The token goes to this address alone. @throws SheafError that names the request. */
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

/** @throws SheafError AUTH_REQUIRED or USAGE for a variable that is not set. */
export function readVariable(
  environment: Environment,
  name: string,
  code: "USAGE" | "AUTH_REQUIRED" = "USAGE",
): string {
  const value = environment[name];
  if (value) return value;
  throw new SheafError(code, `${name} is not set: sheaf review post runs in a job of GitHub or GitLab that sets it`);
}
