/**
 * The bundles of the provider packages have stand-ins for `Headers` and for zod, so that a start need not load these:
 * they must write the very requests that the packages write as they are.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProviderEndpoint, WireProtocol } from "../../packages/agent/src/model/endpoint.ts";
import type { CreateLanguageModel } from "../../packages/agent/src/model/live/live-model.ts";
import { createAnthropicLanguageModel } from "../../packages/agent/src/model/live/anthropic.ts";
import { createGoogleLanguageModel } from "../../packages/agent/src/model/live/google.ts";
import type { HttpRequest } from "../../packages/agent/src/model/live/http-client.ts";
import { createOpenAiCompatibleLanguageModel } from "../../packages/agent/src/model/live/openai-compatible.ts";
import { createOpenAiLanguageModel } from "../../packages/agent/src/model/live/openai.ts";
import { toCallOptions } from "../../packages/agent/src/model/live/prompt.ts";
import { toOrigin } from "../../packages/agent/src/model/live/provider-data.ts";
import { createRequestWriter } from "../../packages/agent/src/model/live/live-model.ts";
import type { AssistantPart, ModelMessage } from "../../packages/agent/src/model/provider.ts";
import { toDefinitions } from "../../packages/agent/src/tools/registry.ts";
import { cliFolder } from "../support/built-program.ts";
import { verifies } from "../support/verifies.ts";

interface Writer {
  readonly bundle: string;
  readonly create: CreateLanguageModel;
  readonly protocol: WireProtocol;
  readonly models: readonly string[];
  /** What the provider wants back, as the decoder makes it. */
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

const summary = [{ type: "summary_text", text: "Let me look." }];
const reasoning = { type: "reasoning", id: "rs_1", encrypted_content: "cipher", summary };

const writers: readonly Writer[] = [
  {
    bundle: "anthropic",
    create: createAnthropicLanguageModel,
    protocol: "anthropic-messages",
    models: ["claude-sonnet-4-5", "claude-opus-4-1", "glm-4.6"],
    data: [
      { type: "thinking", thinking: "Hm.", signature: "signed" },
      { type: "redacted_thinking", data: "cipher" },
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
      {
        type: "web_search_tool_result",
        tool_use_id: "srvtoolu_1",
        content: [{ url: "https://a.example", title: "A" }],
      },
    ],
  },
  {
    bundle: "openai",
    create: createOpenAiLanguageModel,
    protocol: "openai-responses",
    models: ["gpt-5.5", "gpt-4.1", "o4-mini"],
    data: [
      reasoning,
      { type: "web_search_call", id: "ws_1", action: { type: "search", query: "q" } },
      { type: "message", phase: "commentary" },
    ],
  },
  {
    bundle: "openai",
    create: createOpenAiLanguageModel,
    protocol: "openai-chat",
    models: ["gpt-5", "gpt-4o"],
    data: [],
  },
  {
    bundle: "google",
    create: createGoogleLanguageModel,
    protocol: "gemini",
    models: ["gemini-3-pro-preview", "gemini-2.5-flash"],
    data: [
      { thoughtSignature: "signed" },
      { toolCall: { toolType: "GOOGLE_SEARCH_WEB", id: "g1", args: { queries: ["q"] } }, thoughtSignature: "signed" },
      { toolResponse: { toolType: "GOOGLE_SEARCH_WEB", id: "g1", response: {} } },
    ],
  },
  {
    bundle: "openai-compatible",
    create: createOpenAiCompatibleLanguageModel,
    protocol: "openai-chat",
    models: ["qwen3", "deepseek-v3.2"],
    data: [{ reasoning_content: "Hm.", reasoning_details: [{ type: "reasoning.text", text: "Hm.", signature: "s" }] }],
  },
];

function createMessages(origin: string, data: Writer["data"]): ModelMessage[] {
  const sealed = data.map((value): AssistantPart => ({ type: "provider_data", origin, data: value }));
  return [
    { role: "user", text: "Look around" },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        ...sealed,
        { type: "tool_call", callId: "call_1", providerCallId: "own_1", toolName: "list_dir", arguments: {} },
        {
          type: "tool_call",
          callId: "call_2",
          toolName: "read_file",
          arguments: { target_file: "a" },
          rawArguments: "{",
        },
      ],
    },
    { role: "tool", callId: "call_1", toolName: "list_dir", output: "a.md", isError: false },
    { role: "tool", callId: "call_2", toolName: "read_file", output: "FILE_NOT_FOUND", isError: true },
    { role: "assistant", content: [{ type: "text", text: "Done." }] },
    { role: "user", text: "Go on" },
  ];
}

async function write(create: CreateLanguageModel, { protocol, data }: Writer, modelId: string): Promise<HttpRequest> {
  const endpoint: ProviderEndpoint = {
    provider: "test",
    protocol,
    baseUrl: "http://127.0.0.1:9/v1",
    modelId,
    displayName: "Test",
    apiKey: "key",
    apiKeySource: "env",
    headers: { "X-Team": "sheaf" },
  };
  const messages = createMessages(toOrigin(endpoint), data);
  const tools = toDefinitions({ mode: "agent", hasPlan: true });
  const asked = { effort: "high", includesReasoning: true, webSearch: true } as const;
  const request = { system: "Be brief.", messages, tools, mode: "agent", ...asked, newCallId: () => "call_x" } as const;
  return createRequestWriter(endpoint, create).write(toCallOptions(request, endpoint));
}

describe.each(writers)("$bundle, $protocol", (writer) => {
  const { bundle, create, models } = writer;
  test.each(models)(verifies("S-42", "%s: the bundle writes what the package writes"), async (modelId) => {
    const file = join(cliFolder, "adapters", `${bundle}.js`);
    expect(existsSync(file), "run npm run build").toBe(true);
    const built = (await import(file)) as Readonly<Record<string, CreateLanguageModel>>;
    const [createBuilt] = Object.values(built);
    const expected = await write(create, writer, modelId);
    expect(JSON.parse(expected.body)).toBeTruthy();
    expect(await write(createBuilt!, writer, modelId)).toEqual(expected);
  });
});

test("requests that are written at once do not mix", async () => {
  const [writer] = writers;
  const bodies = await Promise.all(
    ["claude-sonnet-4-5", "claude-opus-4-1"].map((id) => write(writer!.create, writer!, id)),
  );
  expect(bodies.map(({ body }) => (JSON.parse(body) as { model: string }).model)).toEqual([
    "claude-sonnet-4-5",
    "claude-opus-4-1",
  ]);
});
