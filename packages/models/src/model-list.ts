/** Gets the list of models from a provider. */
import { SheafError } from "@sheaf/base/errors";
import type { ProviderEndpoint } from "./endpoint.ts";
import { toRequestTokens } from "./known-windows.ts";
import { type BodyReader, createHttpClient } from "./live/http-client.ts";

/** Most bytes of a list. */
const MAX_BYTES = 8 * 1024 * 1024;

/** The part of an endpoint that the request needs. */
export type ListedEndpoint = Pick<
  ProviderEndpoint,
  "provider" | "protocol" | "baseUrl" | "apiKey" | "headers" | "proxy"
>;

/**
 * Returns the models, in the provider's order. It follows no redirect, so that the key reaches no other host (S-42).
 * @throws SheafError NETWORK, AUTH_REJECTED, RATE_LIMITED, OVERLOADED or PROVIDER_REJECTED, without text of the server,
 * which might repeat the key. After an abort it throws the signal's reason.
 */
export async function listModels(endpoint: ListedEndpoint, signal: AbortSignal): Promise<ListedModel[]> {
  const { provider, baseUrl } = endpoint;
  const where = `the list of models of ${provider} (${baseUrl}/models)`;
  const end = new AbortController();
  try {
    const request = { method: "GET", url: toAddress(endpoint), headers: toHeaders(endpoint), body: "" } as const;
    const response = await createHttpClient(endpoint.proxy).send(request, AbortSignal.any([signal, end.signal]));
    const { status, body } = response;
    if (status < 200 || status >= 300) throw createStatusError(where, status);
    return parseModelList(await readBounded(body));
  } catch (error) {
    if (error instanceof SheafError) throw error;
    signal.throwIfAborted();
    if (error instanceof SyntaxError) {
      throw new SheafError("PROVIDER_REJECTED", `${where} cannot be read: check the address`, { source: "provider" });
    }
    const code = toNetworkCode(error);
    throw new SheafError("NETWORK", `${where} cannot be reached (${code}): ${adviseOnNetwork(code)}`, {
      cause: error,
      source: "provider",
    });
  } finally {
    end.abort();
  }
}

function toAddress({ protocol, baseUrl }: ListedEndpoint): string {
  switch (protocol) {
    case "anthropic-messages":
      return `${baseUrl}/models?limit=1000`;
    case "gemini":
      return `${baseUrl}/models?pageSize=1000`;
    case "openai-chat":
    case "openai-responses":
      return `${baseUrl}/models`;
  }
}

function toHeaders({ protocol, apiKey, headers }: ListedEndpoint): Record<string, string> {
  const version: Record<string, string> =
    protocol === "anthropic-messages" ? { "anthropic-version": "2023-06-01" } : {};
  return { accept: "application/json", ...version, ...toKeyHeader(protocol, apiKey), ...headers };
}

function toKeyHeader(protocol: ListedEndpoint["protocol"], apiKey: string | undefined): Record<string, string> {
  if (apiKey === undefined) return {};
  if (protocol === "anthropic-messages") return { "x-api-key": apiKey };
  if (protocol === "gemini") return { "x-goog-api-key": apiKey };
  return { authorization: `Bearer ${apiKey}` };
}

function createStatusError(where: string, status: number): SheafError {
  const create = (code: ConstructorParameters<typeof SheafError>[0], advice: string): SheafError =>
    new SheafError(code, `${where} is refused (status ${status}): ${advice}`, { source: "provider" });
  if (status === 401 || status === 403)
    return create("AUTH_REJECTED", "check the key (sheaf doctor shows where it is)");
  if (status === 429) return create("RATE_LIMITED", "try again later");
  if (status >= 500) return create("OVERLOADED", "try again later");
  if (status >= 300 && status < 400) return create("PROVIDER_REJECTED", "it redirects; correct the address");
  return create("PROVIDER_REJECTED", "check the address");
}

/** @throws SyntaxError for more bytes than a list may have. */
export async function readBounded(body: BodyReader): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (let chunk = await body.read(); chunk; chunk = await body.read()) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new SyntaxError("too large");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

export interface ListedModel {
  readonly id: string;
  /** Most tokens of one request; undefined if the list lacks it. */
  readonly windowTokens: number | undefined;
}

type Fields = Readonly<Record<string, unknown>> | null;

/**
 * Parses `{data:[{id}]}` of OpenAI and Anthropic, or `{models:[{name}]}` of Gemini. @throws SyntaxError for other text.
 */
function parseModelList(text: string): ListedModel[] {
  const value = JSON.parse(text) as Fields;
  const entries: unknown = value?.data ?? value?.models;
  if (!Array.isArray(entries)) throw new SyntaxError("no list");
  return entries.flatMap((entry: Fields) => {
    const id = entry?.id ?? entry?.name;
    if (typeof id !== "string" || id === "") return [];
    return [{ id: id.replace(/^models\//, ""), windowTokens: findWindow(entry) }];
  });
}

/** Fields of OpenRouter and Together, Groq, Mistral, vLLM, Anthropic, Gemini. */
const windowFields = [
  "context_length",
  "context_window",
  "max_context_length",
  "max_model_len",
  "max_input_tokens",
  "inputTokenLimit",
];

function findWindow(entry: Fields): number | undefined {
  const context = windowFields.map((name) => entry?.[name]).find((value) => typeof value === "number");
  const { max_completion_tokens: longest } = (entry?.top_provider ?? {}) as {
    readonly max_completion_tokens?: unknown;
  };
  const answer = longest ?? entry?.outputTokenLimit ?? entry?.max_tokens;
  return context && toRequestTokens(context, typeof answer === "number" ? answer : 0);
}

function adviseOnNetwork(code: string): string {
  switch (code) {
    case "ECONNREFUSED":
      return "no server listens there; start it, or correct the address";
    case "ENOTFOUND":
      return "no host has this name; correct the address, or check the network";
    default:
      return "check the server and the network";
  }
}

/** Returns the code, such as `ECONNREFUSED`, without the message, which might quote a header. */
function toNetworkCode(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "no answer";
}
