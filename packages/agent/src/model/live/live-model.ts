/** A model behind HTTP: the package writes the request, our decoder reads the answer. */
import type { ModelEvent } from "@sheaf/protocol";
import type { ProviderEndpoint, RequestLimits, CreateLanguageModel, LivePorts } from "../endpoint.ts";
import type { Model, ModelRequest } from "../provider.ts";
import { runAttempt } from "./attempt.ts";
import { createHttpClient, type HttpRequest } from "./http-client.ts";
import { toCallOptions } from "./prompt.ts";
import { runTries } from "./tries.ts";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { SheafError } from "../../base/errors.ts";
import { createSafeText } from "./secrets.ts";

/** The model of an endpoint. Connects to nothing before the first request; between two it keeps the connection. */
export function createLiveModel(
  endpoint: ProviderEndpoint,
  createLanguageModel: CreateLanguageModel,
  limits: RequestLimits,
  ports: LivePorts,
): Model {
  const http = createHttpClient(endpoint.proxy);
  const writer = createRequestWriter(endpoint, createLanguageModel);

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const context = { endpoint, limits, ports, newCallId: request.newCallId, http, tap: request.tap };
    const wireRequest = await writer.write(toCallOptions(request, endpoint));
    yield* runTries(() => runAttempt(wireRequest, context, signal), limits, ports, signal);
  }

  return {
    id: endpoint.modelId,
    name: endpoint.displayName,
    apiKeySource: endpoint.apiKeySource,
    stream,
  };
}

const keyHeaders: ReadonlySet<string> = new Set(["authorization", "x-api-key", "x-goog-api-key"]);

/** Writes requests with a provider's package. */
export interface RequestWriter {
  /** @throws SheafError AUTH_REJECTED or CONFIG_INVALID for a key, a header or an address that no request can carry. */
  write(options: LanguageModelV4CallOptions): Promise<HttpRequest>;
}

/** What the package hears in place of an answer. */
const isWritten = new Error("the request is written");

/**
 * Lets the package write the requests of an endpoint. Its `fetch` notes a request and throws, so the package never sees
 * an answer: there is no stream of its own to read, to tee or to close. It makes its model once, at the first request.
 */
export function createRequestWriter(
  endpoint: ProviderEndpoint,
  createLanguageModel: CreateLanguageModel,
): RequestWriter {
  let model: LanguageModelV4 | undefined;
  let noted: HttpRequest | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const note: typeof globalThis.fetch = (input, init) => {
    const url = typeof input === "string" || !("url" in input) ? String(input) : input.url;
    noted = { url, headers: toRecord(init?.headers), body: typeof init?.body === "string" ? init.body : "" };
    return Promise.reject(isWritten);
  };

  async function writeNext(options: LanguageModelV4CallOptions): Promise<HttpRequest> {
    checkBaseUrl(endpoint);
    checkHeaders(endpoint);
    noted = undefined;
    let reason: unknown = "the package sent nothing";
    try {
      model ??= createLanguageModel(endpoint, note);
      await model.doStream(options);
    } catch (error) {
      reason = error;
    }
    // What `note` sets, the compiler does not see.
    const written = noted as HttpRequest | undefined;
    if (!written) throw createWritingError(endpoint, reason);
    return { ...written, headers: toHeaders(endpoint, written.headers) };
  }

  return {
    write(options) {
      // One after the other: what is noted must be the request of these options.
      const next = last.then(
        () => writeNext(options),
        () => writeNext(options),
      );
      last = next;
      return next;
    },
  };
}

/** The packages give a plain object; nothing here may touch `Headers`, which would load all of `fetch`. */
function toRecord(headers: RequestInit["headers"]): Record<string, string> {
  const entries = Array.isArray(headers) ? headers : Object.entries(headers ?? {});
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function toHeaders({ apiKey, headers }: ProviderEndpoint, written: HttpRequest["headers"]): HttpRequest["headers"] {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  // The stand-in for a missing key.
  const kept = Object.entries(written).filter(([name]) => apiKey !== undefined || !keyHeaders.has(name));
  return Object.fromEntries([...kept, ...own]);
}

/** `fetch` would name an address that it refuses, password and all. */
function checkBaseUrl({ provider, baseUrl }: ProviderEndpoint): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return;
  const message = `the base URL for ${provider} must be http:// or https://, without user and password: correct it`;
  throw new SheafError("CONFIG_INVALID", message);
}

/** `Headers` would name the value that it refuses. */
function checkHeaders({ provider, apiKey, headers }: ProviderEndpoint): void {
  if (apiKey !== undefined && !/^[\x21-\x7E]+$/.test(apiKey)) {
    const message = `the key for ${provider} is empty or holds blanks or characters that no key has: give it again`;
    throw new SheafError("AUTH_REJECTED", message, { source: "provider" });
  }
  for (const [name, value] of Object.entries(headers)) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7E\x80-\xFF]*$/.test(value)) continue;
    const message = `the header ${JSON.stringify(name)} for ${provider} is no valid HTTP header: correct it`;
    throw new SheafError("CONFIG_INVALID", message);
  }
}

function createWritingError(endpoint: ProviderEndpoint, error: unknown): SheafError {
  const text = error instanceof Error ? error.message : String(error);
  const reason = createSafeText(endpoint)(text, 300);
  return new SheafError(
    "INTERNAL",
    `the request to ${endpoint.provider}, model ${endpoint.modelId}, could not be written: ${reason}`,
  );
}
