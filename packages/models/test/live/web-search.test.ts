/** Requests with the provider's search, compared with the shape in the documentation of each provider. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createModelServer, type ModelServer } from "../../../../test/support/model-server.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { WireProtocol } from "../../src/endpoint.ts";
import { toOrigin } from "../../src/live/provider-data.ts";
import type { AssistantPart, ModelMessage } from "../../src/provider.ts";
import { createEndpoint, createLiveSetup, createRequest, protocols, readOutcome, shortAnswers } from "./live-setup.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

interface Body {
  readonly tools?: readonly object[];
  readonly include?: readonly string[];
  readonly messages?: readonly { readonly content: unknown }[];
  readonly input?: readonly object[];
  readonly contents?: readonly { readonly parts: unknown }[];
}

type Asked = Partial<Parameters<typeof createRequest>[0]> & { readonly modelId?: string };

async function send(protocol: WireProtocol, { modelId, ...asked }: Asked): Promise<Body> {
  server.answer({ chunks: shortAnswers[protocol] });
  const { model } = createLiveSetup(protocol, server.url, modelId === undefined ? {} : { endpoint: { modelId } });
  expect((await readOutcome(model, createRequest(asked))).error).toBeUndefined();
  return JSON.parse(server.requests.at(-1)!.body) as Body;
}

const tool = { name: "list_dir", description: "Lists.", parameters: { type: "object", properties: {} } };

// https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
// https://platform.openai.com/docs/guides/tools-web-search
// https://ai.google.dev/gemini-api/docs/google-search
const searchTools = {
  "anthropic-messages": { type: "web_search_20250305", name: "web_search", max_uses: 8 },
  "openai-responses": { type: "web_search" },
  gemini: { googleSearch: {} },
} as const;

test.each(["anthropic-messages", "openai-responses", "gemini"] as const)(
  verifies("C48", "%s: the request has the provider's tool beside the others, if it was asked for"),
  async (protocol) => {
    const { tools, include } = await send(protocol, { tools: [tool], webSearch: true });
    expect(tools![0]).toEqual(searchTools[protocol]);
    expect(JSON.stringify(tools!.slice(1))).toContain("list_dir");
    if (protocol === "openai-responses") expect(include).toContain("web_search_call.action.sources");
    const without = await send(protocol, { tools: [tool] });
    expect(JSON.stringify(without.tools)).not.toMatch(/search/i);
  },
);

test(verifies("C48", "with the cache mark of Anthropic on the last of the other tools, or without any"), async () => {
  const { tools } = await send("anthropic-messages", { tools: [tool], webSearch: true });
  expect(tools).toMatchObject([{ name: "web_search" }, { name: "list_dir", cache_control: { type: "ephemeral" } }]);
  expect((await send("anthropic-messages", { webSearch: true })).tools).toHaveLength(1);
});

test.each([
  ["anthropic-messages", undefined, true],
  ["openai-responses", undefined, true],
  ["openai-chat", undefined, false],
  ["gemini", "gemini-3-pro-preview", true],
  ["gemini", "gemini-flash-latest", true],
  ["gemini", "gemini-2.5-pro", false],
  ["gemini", "gemini-pro", false],
  ["gemini", "gemma-3-27b", false],
] as const)(verifies("C48", "%s, %s: can search: %s"), (protocol, modelId, can) => {
  const { model } = createLiveSetup(protocol, "http://127.0.0.1:9", modelId ? { endpoint: { modelId } } : {});
  expect(model.hasWebSearch).toBe(can);
});

/** An answer with these blocks between two texts, and what follows it. */
function createMessages(protocol: WireProtocol, data: readonly object[], isPaused = false): ModelMessage[] {
  const origin = toOrigin(createEndpoint(protocol, ""));
  const sealed = data.map((value): AssistantPart => ({ type: "provider_data", origin, data: { ...value } }));
  const content: AssistantPart[] = [{ type: "text", text: "Let me see." }, ...sealed];
  const answered: ModelMessage[] = [
    { role: "assistant", content: [...content, { type: "text", text: "Found." }] },
    { role: "user", text: "And now?" },
  ];
  return [{ role: "user", text: "What is new?" }, ...(isPaused ? [{ role: "assistant", content } as const] : answered)];
}

const anthropicCall = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "new" } };
const anthropicResult = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [
    {
      type: "web_search_result",
      url: "https://a.example/",
      title: "A",
      page_age: "May 1",
      encrypted_content: "cipher",
    },
  ],
};
const anthropicFailure = {
  ...anthropicResult,
  content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
};
const openAiItem = { type: "web_search_call", id: "ws_1", action: { type: "search", query: "new", queries: ["new"] } };
const openAiPage = { type: "web_search_call", id: "ws_2", action: { type: "open_page", url: "https://a.example/" } };
const geminiCall = { toolCall: { toolType: "GOOGLE_SEARCH_WEB", id: "g1", args: { queries: ["new"] } } };
const geminiResponse = { toolResponse: { toolType: "GOOGLE_SEARCH_WEB", id: "g1", response: { suggestions: "<b>" } } };

const text = (value: string) => ({ type: "text", text: value });

test.each([
  ["whole", [anthropicCall, anthropicResult], [anthropicCall, anthropicResult]],
  ["a failure", [anthropicCall, anthropicFailure], [anthropicCall, anthropicFailure]],
  ["a call without its result", [anthropicCall], []],
  ["a result without its call", [anthropicResult], []],
])(verifies("N69", "Anthropic gets its search back: %s"), async (_, data, sent) => {
  const messages = createMessages("anthropic-messages", data);
  const body = await send("anthropic-messages", { messages, webSearch: true });
  expect(body.messages![1]!.content).toEqual([text("Let me see."), ...sent, text("Found.")]);
});

test(verifies("N69", "a search that Anthropic paused is the end of the request, so that it goes on"), async () => {
  const messages = createMessages("anthropic-messages", [anthropicCall], true);
  const body = await send("anthropic-messages", { messages, webSearch: true });
  expect(body.messages!.at(-1)!.content).toEqual([text("Let me see."), anthropicCall]);
});

test(verifies("N69", "OpenAI gets its items back, complete, without the sources"), async () => {
  const messages = createMessages("openai-responses", [openAiItem, openAiPage]);
  const { input } = await send("openai-responses", { messages, webSearch: true });
  const items = input!.filter((item) => "type" in item && item.type === "web_search_call");
  expect(items).toEqual([
    { ...openAiItem, status: "completed" },
    { ...openAiPage, status: "completed" },
  ]);
});

test(verifies("N69", "Gemini gets its call and its response back, with the signature"), async () => {
  const messages = createMessages("gemini", [{ ...geminiCall, thoughtSignature: "signed" }, geminiResponse]);
  const body = await send("gemini", { messages, webSearch: true });
  const parts = body.contents![1]!.parts;
  expect(parts).toMatchObject([{}, { ...geminiCall, thoughtSignature: "signed" }, geminiResponse, {}]);
});

test.each([
  ["anthropic-messages", [anthropicCall, anthropicResult]],
  ["gemini", [geminiCall, geminiResponse]],
] as const)(verifies("N69", "%s gets none of it where the request has no search"), async (protocol, data) => {
  const body = await send(protocol, { messages: createMessages(protocol, data) });
  expect(JSON.stringify(body)).not.toMatch(/server_tool_use|web_search|toolCall|toolResponse/);
});

test.each(protocols)(verifies("N69", "%s gets nothing of another model's search"), async (protocol) => {
  const origin = "other other/other";
  const data = [anthropicCall, openAiItem, geminiCall].map(
    (value) => ({ type: "provider_data", origin, data: value }) as const,
  );
  const messages: ModelMessage[] = [
    { role: "user", text: "What is new?" },
    { role: "assistant", content: [...data, { type: "text", text: "Found." }] },
    { role: "user", text: "And now?" },
  ];
  const body = await send(protocol, { messages, webSearch: true });
  const { messages: sent, input, contents } = body;
  expect(JSON.stringify([sent, input, contents])).not.toMatch(/server_tool_use|web_search|toolCall/);
});
