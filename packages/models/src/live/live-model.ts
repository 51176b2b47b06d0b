/** Makes a model that Sheaf reaches by HTTP: a package writes the request, Sheaf's decoder reads the answer. */
import type { Effort, ModelEvent } from "@sheaf/protocol";
import type { ProviderEndpoint, RequestLimits, LivePorts } from "../endpoint.ts";
import { hasAttachments } from "../attachments.ts";
import type { Model, ModelRequest } from "../provider.ts";
import { runAttempt } from "./attempt.ts";
import { addNotice, createEffortFallback, findEffortNotice } from "./effort.ts";
import { createHttpClient, type HttpRequest } from "./http-client.ts";
import { toAttachmentTypes, toCallOptions } from "./prompt.ts";
import { endRepetition } from "./repetition-guard.ts";
import { runTries } from "./tries.ts";
import { findSearchTool } from "./web-search.ts";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { SheafError } from "@sheaf/base/errors";
import { createSafeText } from "./secrets.ts";

/** Creates the package's model, which writes the requests for a family of providers. Each one ends at `fetch`. */
export type CreateLanguageModel = (endpoint: ProviderEndpoint, fetch: typeof globalThis.fetch) => LanguageModelV4;

/** Creates the model of an endpoint. It connects for the first request, and reuses the connection for later ones. */
export function createLiveModel(
  endpoint: ProviderEndpoint,
  createLanguageModel: CreateLanguageModel,
  limits: RequestLimits,
  ports: LivePorts,
): Model {
  const http = createHttpClient(endpoint.proxy);
  const writer = createRequestWriter(endpoint, createLanguageModel);

  const notices = new Map<Effort, string | undefined>();

  /** The package replaces an unknown effort by the nearest one. It is compared once, since a request can be large. */
  const findNotice = ({ effort }: ModelRequest, body: string): string | undefined => {
    if (effort === undefined) return undefined;
    if (!notices.has(effort)) notices.set(effort, findEffortNotice(effort, body, endpoint.displayName));
    return notices.get(effort);
  };

  async function* send(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const { newCallId, tap, messages } = request;
    const context = { endpoint, limits, ports, newCallId, http, tap, hasAttachments: messages.some(hasAttachments) };
    const wireRequest = await writer.write(toCallOptions(request, endpoint));
    const answer = runTries(() => runAttempt(wireRequest, context, signal), limits, ports, signal);
    const { displayName } = endpoint;
    yield* addNotice(endRepetition(answer, displayName), findNotice(request, wireRequest.body));
  }

  return {
    id: endpoint.modelId,
    name: endpoint.displayName,
    apiKeySource: endpoint.apiKeySource,
    attachmentTypes: toAttachmentTypes(endpoint),
    hasWebSearch: findSearchTool(endpoint) !== undefined,
    stream: createEffortFallback(endpoint.displayName, send),
  };
}

const keyHeaders: ReadonlySet<string> = new Set(["authorization", "x-api-key", "x-goog-api-key"]);

interface RequestWriter {
  /** @throws SheafError AUTH_REJECTED or CONFIG_INVALID for a key, a header or an address that cannot be sent. */
  write(options: LanguageModelV4CallOptions): Promise<HttpRequest>;
}

/** The package receives this error instead of an answer. */
const isWritten = new Error("the request is written");

/**
 * Lets the package write the requests of an endpoint. Its `fetch` notes the request and rejects, so the package never
 * sees an answer and has no stream to read or close. It creates its model once, for the first request.
 */
function createRequestWriter(endpoint: ProviderEndpoint, createLanguageModel: CreateLanguageModel): RequestWriter {
  let model: LanguageModelV4 | undefined;
  let noted: HttpRequest | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const note: typeof globalThis.fetch = (input, init) => {
    const url = typeof input === "string" || !("url" in input) ? String(input) : input.url;
    noted = {
      url,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: typeof init?.body === "string" ? init.body : "",
    };
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
    // The compiler does not see that `note` sets it.
    const written = noted as HttpRequest | undefined;
    if (!written) throw createWritingError(endpoint, reason);
    return { ...written, headers: toHeaders(endpoint, written.headers) };
  }

  return {
    write(options) {
      // Requests are written one after the other, so that the noted one has these options.
      const next = last.then(
        () => writeNext(options),
        () => writeNext(options),
      );
      last = next;
      return next;
    },
  };
}

function toHeaders({ apiKey, headers }: ProviderEndpoint, written: HttpRequest["headers"]): HttpRequest["headers"] {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  // `absentKey` stays out of the request.
  const kept = Object.entries(written).filter(([name]) => apiKey !== undefined || !keyHeaders.has(name));
  return Object.fromEntries([...kept, ...own]);
}

/** An error of the HTTP client would show the address with its password. */
function checkBaseUrl({ provider, baseUrl }: ProviderEndpoint): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return;
  const message = `the base URL for ${provider} must be http:// or https://, without user and password: correct it`;
  throw new SheafError("CONFIG_INVALID", message);
}

/** An error of the HTTP client would show the value. */
function checkHeaders({ provider, apiKey, headers }: ProviderEndpoint): void {
  if (apiKey !== undefined && !/^[\x21-\x7E]+$/.test(apiKey)) {
    const message = `the key for ${provider} is empty or contains spaces or characters that keys never have: enter it again`;
    throw new SheafError("AUTH_REJECTED", message, { source: "provider" });
  }
  for (const [name, value] of Object.entries(headers)) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7E\x80-\xFF]*$/.test(value)) continue;
    const message = `the header ${JSON.stringify(name)} for ${provider} is not a valid HTTP header: correct it`;
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
