/** The HTTP request of a turn: written by a provider's package, sent by us. */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { SheafError } from "../../errors.ts";
import type { ProviderEndpoint } from "../endpoint.ts";
import type { CreateLanguageModel } from "./language-model.ts";
import { createSafeText } from "./safe-text.ts";

/** What goes over the wire; the same for every try. */
export interface WireRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

const keyHeaders = ["authorization", "x-api-key", "x-goog-api-key"];

/**
 * Lets the package write the request. Its `fetch` notes the request and throws, so the package never sees an answer:
 * there is no stream of its own to read, to tee or to close.
 * @throws SheafError AUTH_REJECTED or CONFIG_INVALID for a key, a header or an address that no request can carry.
 */
export async function toWireRequest(
  endpoint: ProviderEndpoint,
  createLanguageModel: CreateLanguageModel,
  options: LanguageModelV4CallOptions,
): Promise<WireRequest> {
  checkBaseUrl(endpoint);
  checkHeaders(endpoint);
  let written: WireRequest | undefined;
  const note: typeof globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    written = { url, headers: new Headers(init?.headers), body: typeof init?.body === "string" ? init.body : "" };
    return Promise.reject(new Error("the request is written"));
  };
  try {
    await createLanguageModel(endpoint, note).doStream(options);
  } catch (error) {
    if (!written) throw createWritingError(endpoint, error);
  }
  if (!written) throw createWritingError(endpoint, "the package sent nothing");
  return { ...written, headers: toHeaders(endpoint, written.headers) };
}

function toHeaders({ apiKey, headers }: ProviderEndpoint, written: Headers): Headers {
  const all = new Headers(written);
  // The stand-in for a missing key.
  if (apiKey === undefined) for (const name of keyHeaders) all.delete(name);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  return all;
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
