/** Makes a model from a package that the user configures: the package's stream parts become Sheaf's events. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { toErrorFailure } from "@sheaf/documents/model-streams";
import type { ModelEvent } from "@sheaf/protocol";
import type { PackageEndpoint, RequestLimits, LivePorts } from "../endpoint.ts";
import { toFailedEnd, type Attempt } from "../live/attempt.ts";
import { createConnection, type Connection } from "../live/connection.ts";
import { createEffortFallback } from "../live/effort.ts";
import { toAttachmentTypes, toCallOptions } from "../live/prompt.ts";
import { toOrigin } from "../live/provider-data.ts";
import {
  createProviderError,
  createStallFailure,
  type ProviderFailure,
  toNetworkFailure,
} from "../live/provider-failure.ts";
import { endRepetition } from "../live/repetition-guard.ts";
import { runTries } from "../live/tries.ts";
import { hasAttachments } from "../attachments.ts";
import type { Model, ModelRequest } from "../provider.ts";
import { createPackageLanguageModel } from "./create-language-model.ts";
import { createPartReader, type PartReader } from "./part-reader.ts";
import { toHttpFailure, toStreamFailure, toText } from "../live/http-error.ts";
import { createSafeText } from "../live/secrets.ts";
import { SheafError } from "@sheaf/base/errors";
import { untilAborted } from "@sheaf/base/until-aborted";

/**
 * Creates the model of a package, from its exports. It connects for the first request only.
 * @throws SheafError CONFIG_INVALID if the package does not have the interface.
 */
export function createPackageModel(
  endpoint: PackageEndpoint,
  exported: Readonly<Record<string, unknown>>,
  limits: RequestLimits,
  ports: LivePorts,
): Model {
  return toModel(endpoint, createPackageLanguageModel(exported, endpoint), limits, ports);
}

/** Creates a model from a language model that a program created with a package of the AI SDK. */
export function createSdkModel(languageModel: LanguageModelV4, limits: RequestLimits, ports: LivePorts): Model {
  const { provider, modelId } = languageModel;
  const endpoint: PackageEndpoint = {
    provider,
    modelId,
    displayName: `${provider}/${modelId}`,
    baseUrl: "",
    // The package itself has the key.
    apiKey: undefined,
    apiKeySource: "none",
    headers: {},
    settings: { package: provider },
    folder: "",
  };
  return toModel(endpoint, languageModel, limits, ports);
}

function toModel(
  endpoint: PackageEndpoint,
  languageModel: LanguageModelV4,
  limits: RequestLimits,
  ports: LivePorts,
): Model {
  return {
    id: endpoint.modelId,
    name: endpoint.displayName,
    apiKeySource: endpoint.apiKeySource,
    attachmentTypes: toAttachmentTypes(endpoint),
    stream: createEffortFallback(endpoint.displayName, (request, signal) => {
      const context = { endpoint, languageModel, limits, ports, request };
      const answer = runTries(() => runPackageAttempt(context, signal), limits, ports, signal);
      return endRepetition(answer, endpoint.displayName);
    }),
  };
}

interface PackageContext {
  readonly endpoint: PackageEndpoint;
  readonly languageModel: LanguageModelV4;
  readonly limits: RequestLimits;
  readonly ports: LivePorts;
  readonly request: ModelRequest;
}

/** Tries once, like an attempt at a protocol of Sheaf, with the package's parts instead of bytes. */
async function* runPackageAttempt(context: PackageContext, signal: AbortSignal): Attempt {
  const { endpoint, limits, ports, request } = context;
  const connection = createConnection(signal, limits.silenceMs, ports);
  const reader = createPartReader({ newCallId: request.newCallId, origin: toOrigin(endpoint) });
  let hasYielded = false;
  let lost: ProviderFailure | undefined;
  try {
    for await (const events of readParts(context, reader, connection)) {
      yield events;
      hasYielded = true;
    }
  } catch (error) {
    if (!signal.aborted)
      lost = connection.isStalled
        ? createStallFailure(endpoint, limits, connection)
        : toPackageFailure(endpoint, error, ports.now(), request.messages.some(hasAttachments));
  } finally {
    connection.close();
  }
  if (signal.aborted) return undefined;
  const rest = reader.end();
  const failure = lost ?? toAnswerFailure(endpoint, reader, rest, ports.now());
  if (failure && !hasYielded && rest.length === 1) return failure;
  yield failure ? rest.map(toFailedEnd) : rest;
  return failure;
}

/** Yields the events of each part, up to the end of the answer or an error. */
async function* readParts(
  { endpoint, languageModel, request }: PackageContext,
  reader: PartReader,
  connection: Connection,
): AsyncGenerator<readonly ModelEvent[]> {
  const { signal } = connection;
  const options: LanguageModelV4CallOptions = { ...toCallOptions(request, endpoint), abortSignal: signal };
  // A package may ignore the signal.
  const { stream } = await untilAborted(Promise.resolve(languageModel.doStream(options)), signal);
  const parts = stream.getReader();
  try {
    while (!reader.hasEnded) {
      connection.setWaiting(true);
      const step = await untilAborted(parts.read(), signal);
      connection.setWaiting(false);
      if (step.done) return;
      const events = reader.push(step.value);
      if (events.length === 0) continue;
      connection.noteProgress();
      yield events;
    }
  } finally {
    void parts.cancel().catch(() => undefined);
  }
}

function toAnswerFailure(
  endpoint: PackageEndpoint,
  { error, finish }: PartReader,
  rest: readonly ModelEvent[],
  now: number,
): ProviderFailure | undefined {
  if (error !== undefined) return toPackageFailure(endpoint, error.value, now);
  if (finish === undefined || finish === "interrupted") {
    const reason = finish === undefined ? "the package gave no finish" : "the package gave an interrupted finish";
    return { error: createProviderError(endpoint, { code: "STREAM_TRUNCATED", reason }), isRetryable: true };
  }
  const end = rest.at(-1);
  if (end?.type !== "turn_end" || end.finishReason !== "error") return undefined;
  const reason = `the answer ended with "${end.rawFinishReason}"`;
  return { error: createProviderError(endpoint, { code: "OVERLOADED", reason }), isRetryable: true };
}

/** Fields of the interface's errors. The name identifies an error, since a package has its own copy of the classes. */
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

/** Returns the failure for an error of a package, which is not trusted. */
function toPackageFailure(endpoint: PackageEndpoint, thrown: unknown, now: number, hasImages = false): ProviderFailure {
  if (thrown instanceof SheafError) return { error: thrown, isRetryable: false };
  const error = toFields(thrown);
  const { statusCode, responseBody, responseHeaders } = error;
  if (typeof statusCode === "number" && (statusCode < 200 || statusCode >= 300)) {
    const body = typeof responseBody === "string" ? responseBody : toText(error.message);
    return toHttpFailure(
      endpoint,
      { status: statusCode, headers: toHeaders(responseHeaders), body, hasAttachments: hasImages },
      now,
    );
  }
  if (isNetworkError(error)) return toNetworkFailure(endpoint, thrown);
  const code = toKnownCode(toText(error.name));
  if (code === undefined) {
    const said = { code: toText(error.code), type: toText(error.type), message: toText(error.message) };
    return toStreamFailure(endpoint, toErrorFailure({ ...said, raw: said }, now));
  }
  const reason = createSafeText(endpoint)(toText(error.message), longestReason);
  return { error: createProviderError(endpoint, { code, reason }), isRetryable: false };
}

function toFields(thrown: unknown): PackageError {
  if (typeof thrown === "object" && thrown !== null) return thrown;
  return { message: String(thrown) };
}

/** True for `fetch failed`, or for its cause, a lost connection: no status, and a code of the system at the bottom. */
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
