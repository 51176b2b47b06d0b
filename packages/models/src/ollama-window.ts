/** Finds the window with which Ollama runs a model: it cuts longer requests in silence. */
import { isJsonObject, parseJson, type JsonObject } from "@sheaf/protocol/check-value";
import type { ProviderEndpoint } from "./endpoint.ts";
import { toRequestTokens } from "./known-windows.ts";
import { createHttpClient } from "./live/http-client.ts";
import { readBounded } from "./model-list.ts";

/** Milliseconds. A server on this machine answers at once, or is busy with its model. */
const LIMIT_MS = 2000;

/** Returns the most tokens of one request; undefined if the server does not report them. Never rejects. */
export async function readOllamaWindow(
  { baseUrl, modelId, headers, proxy }: Pick<ProviderEndpoint, "baseUrl" | "modelId" | "headers" | "proxy">,
  signal: AbortSignal,
): Promise<number | undefined> {
  const client = createHttpClient(proxy);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  const ask = async (method: string, path: string, body: string): Promise<JsonObject> => {
    const url = `${baseUrl.replace(/\/v1$/, "")}${path}`;
    const sent = { ...(body !== "" && { "content-type": "application/json" }), ...headers };
    const answer = await client.send({ method, url, headers: sent, body }, limit);
    const value = parseJson(await readBounded(answer.body));
    return isJsonObject(value) ? value : {};
  };
  try {
    const { models } = await ask("GET", "/api/ps", "");
    const running = (Array.isArray(models) ? models : []).find(
      (model: unknown) => isJsonObject(model) && [modelId, `${modelId}:latest`].includes(String(model["model"])),
    ) as JsonObject | undefined;
    // If the model is not running, its own file may set a window. The server does not report its default.
    const { parameters } = running ? {} : await ask("POST", "/api/show", JSON.stringify({ model: modelId }));
    const tokens = Number(running?.["context_length"] ?? /^num_ctx\s+(\d+)/m.exec(String(parameters))?.[1]);
    return tokens >= 1000 ? toRequestTokens(tokens, 0) : undefined;
  } catch {
    return undefined;
  }
}
