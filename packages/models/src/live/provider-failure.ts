/** Describes failures of a try and of its connection (R-10, C21). */
import { SheafError, type ErrorCode } from "@sheaf/base/errors";
import { isLoopback } from "@sheaf/base/host-pattern";
import type { ProviderIdentity, RequestLimits } from "../endpoint.ts";
import { createSafeText } from "./secrets.ts";

/** A failed try. Failures are expected, so it is a value. */
export interface ProviderFailure {
  readonly error: SheafError;
  /** True if the same request may succeed later. */
  readonly isRetryable: boolean;
  /** Milliseconds until the provider accepts the next request, by its own account; 0 if that time is over. */
  readonly waitMs?: number;
  /** True if an idle connection broke. The server may be well, so a new connection can be tried at once. */
  readonly isRested?: true;
  /** Most tries in total, if more would not help. */
  readonly maxTries?: number;
}

/** The provider's reason, without secrets. */
export interface FailureReason {
  readonly code: ErrorCode;
  /** Reason such as `HTTP 429: slow down`, `overloaded_error: …` or `no byte for 120 s`. */
  readonly reason: string;
  readonly details?: string;
  readonly resetsAt?: string;
  /** The remedy. Default: by the code. */
  readonly advice?: string | undefined;
  /** True if a later try may work. Default: by the code. */
  readonly retryable?: boolean;
}

/** Creates the error for a failure: one line with provider, model and remedy (C21). */
export function createProviderError(endpoint: ProviderIdentity, failure: FailureReason): SheafError {
  const { code, reason, details = "", resetsAt } = failure;
  const [happening, usualAdvice] = toWords(code, endpoint, resetsAt);
  const message = `${endpoint.provider}, model ${endpoint.modelId}: ${happening} (${reason}): ${failure.advice ?? usualAdvice}`;
  return new SheafError(code, message, { ...failure, source: "provider", details });
}

/**
 * Creates the failure for an answer of which no part arrived within the silence limit. It is not retried, since
 * the next try could take as long. `isKeptOpen`: the server did send pings or comments.
 */
export function createStallFailure(
  endpoint: ProviderIdentity,
  { silenceMs }: RequestLimits,
  { isKeptOpen }: { readonly isKeptOpen: boolean },
): ProviderFailure {
  const what = isKeptOpen ? "only signs of life" : "no data";
  const reason = `${what} for ${Math.round(silenceMs / 100) / 10} s`;
  const advice = "try again, use another model, or raise limits.silenceSeconds in the configuration";
  return { error: createProviderError(endpoint, { code: "STREAM_STALLED", reason, advice }), isRetryable: false };
}

const keyPlaces = { env: "the environment", flag: "the command line", login: "sheaf login", none: "nowhere" } as const;

const OTHER_ADVICE = "change the request or the configuration, or use another model";
const RETRY_ADVICE = "try again, or use another model";

/** Returns the failure and the remedy for a code. */
function toWords(code: ErrorCode, endpoint: ProviderIdentity, resetsAt?: string): readonly [string, string] {
  const { provider, apiKey, apiKeySource } = endpoint;
  const host = formatHost(endpoint);
  const login = `run "sheaf login ${provider}"`;
  const words: Partial<Record<ErrorCode, readonly [happening: string, advice: string]>> = {
    AUTH_REJECTED: [
      apiKey === undefined
        ? "the provider needs a key"
        : `the provider rejected the key from ${keyPlaces[apiKeySource]}`,
      apiKeySource === "none" ? `${login}, or give --api-key` : `check the key and its rights, or ${login}`,
    ],
    MODEL_NOT_FOUND: [`no such model at ${host}`, "check the name and the base URL; sheaf models lists what is there"],
    CONTEXT_LENGTH: [
      "the request is longer than the model accepts",
      "ask for less at once, start a new conversation, or use a model with a larger window",
    ],
    CONTENT_FILTER: ["the content filter refused the request", "change the prompt"],
    RATE_LIMITED: [
      "too many requests, or the quota is used up",
      resetsAt === undefined
        ? "try again later, or check plan and billing"
        : `try again after ${resetsAt}, or use --wait-for-quota`,
    ],
    OVERLOADED: ["the provider has an error or no capacity", RETRY_ADVICE],
    NETWORK: [`the connection to ${host} failed`, "check the network and the base URL, then try again"],
    STREAM_STALLED: ["the answer stalled", OTHER_ADVICE],
    STREAM_TRUNCATED: ["the answer broke off without its end marker", RETRY_ADVICE],
  };
  return words[code] ?? ["the provider refused the request", OTHER_ADVICE];
}

/** Returns host and port of the base URL, whose other parts may contain a password or a key. */
function formatHost({ baseUrl }: ProviderIdentity): string {
  if (baseUrl === "") return "the provider";
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : "its base URL";
}

const longestReason = 300;

/** Most tries if only another configuration, or a server that is starting, can help: they take a second or two. */
const fewTries = 3;

/** The consequences of a reason. */
interface Diagnosis {
  readonly advice: string;
  /** Most tries; undefined for the default. */
  readonly maxTries: number | undefined;
}

/** Returns the failure for a connection that broke or was not made. It drops the cause, which may contain headers. */
export function toNetworkFailure(endpoint: ProviderIdentity, cause: unknown): ProviderFailure {
  const fault = toFault(cause);
  const toSafeText = createSafeText(endpoint);
  const reason = toSafeText(formatFault(fault), longestReason);
  const diagnosis = diagnose(endpoint, fault, reason);
  const advice = diagnosis && toSafeText(diagnosis.advice, longestReason);
  const { maxTries } = diagnosis ?? {};
  // The next run fails as well, until the user corrects the cause (C20).
  const isLasting = maxTries === 1 || fault.code === "ENOTFOUND";
  const error = createProviderError(endpoint, {
    code: "NETWORK",
    reason,
    advice,
    ...(isLasting && { retryable: false }),
  });
  return { error, isRetryable: maxTries !== 1, ...(maxTries !== undefined && { maxTries }) };
}

/** Node's facts about a connection. */
interface Fault {
  readonly code: string;
  readonly message: string;
  /** Address of the server, or of a proxy. */
  readonly address: string;
  readonly port: number | undefined;
}

function toFault(cause: unknown): Fault {
  if (!(cause instanceof Error)) return { code: "", message: String(cause), address: "", port: undefined };
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  // A name can have several addresses. Node has tried each.
  const first: unknown = inner instanceof AggregateError ? inner.errors[0] : inner;
  const { address, port } = (first ?? {}) as { address?: unknown; port?: unknown };
  return {
    code: "code" in inner && typeof inner.code === "string" ? inner.code : "",
    message: inner.message || (first instanceof Error ? first.message : ""),
    address: typeof address === "string" ? address : "",
    port: typeof port === "number" ? port : undefined,
  };
}

function formatFault({ code, message }: Fault): string {
  const isTold = message.includes(code);
  return (isTold ? message : [code, message].filter((part) => part !== "").join(": ")) || "it gave no reason";
}

function diagnose(endpoint: ProviderIdentity, fault: Fault, reason: string): Diagnosis | undefined {
  // An unknown name stays unknown; a failed lookup (EAI_AGAIN) may succeed later.
  if (fault.code === "ENOTFOUND") {
    const [, host] = /ENOTFOUND (\S+)/.exec(fault.message) ?? [];
    const own = URL.parse(endpoint.baseUrl)?.hostname;
    const isProxy = host !== undefined && own !== undefined && host !== own;
    const advice = isProxy ? "correct the name of the proxy in HTTPS_PROXY and HTTP_PROXY" : "correct the base URL";
    return { advice: `no host has this name: ${advice}`, maxTries: fewTries };
  }
  if (fault.code === "ECONNREFUSED" && isLoopback(fault.address)) {
    const place = `nothing listens on port ${fault.port} of this machine`;
    const advice = isOwnAddress(endpoint, fault)
      ? `${place}: start the server of ${endpoint.provider}, or correct the base URL`
      : `${place}, where a proxy should be: start it, or correct HTTPS_PROXY and HTTP_PROXY`;
    return { advice, maxTries: fewTries };
  }
  if (fault.code === "ERR_PROXY_TUNNEL") {
    const advice = "check the address, user and password in HTTPS_PROXY, and whether the proxy allows this host";
    return { advice, maxTries: /: HTTP\/1\.\d 4/.test(fault.message) ? 1 : fewTries };
  }
  const advice = findTlsAdvice(reason);
  return advice === undefined ? undefined : { advice, maxTries: 1 };
}

/** True if the address belongs to the server itself. */
function isOwnAddress({ baseUrl }: ProviderIdentity, { address, port }: Fault): boolean {
  const url = URL.parse(baseUrl);
  if (!url) return false;
  const ownPort = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  return ownPort === port && (url.hostname === "localhost" || url.hostname.replaceAll(/[[\]]/g, "") === address);
}

/** Returns the remedy if no encrypted connection can be made: another try would not help. */
function findTlsAdvice(reason: string): string | undefined {
  if (/wrong version number|packet length too long|http request/.test(reason)) {
    return "the server answers without encryption: use http:// in the base URL, or check its port";
  }
  if (/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/.test(reason)) {
    return "renew the certificate of the server, or set the clock of this machine";
  }
  if (/ALTNAME_INVALID|HOSTNAME_MISMATCH/.test(reason)) return "use the host name of the certificate in the base URL";
  if (!/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/.test(reason)) return undefined;
  return "if the server or a proxy has its own certificate authority, set NODE_EXTRA_CA_CERTS=FILE to its certificate";
}
