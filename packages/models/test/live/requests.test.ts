/** What goes over the wire, per provider. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createModelServer, type ModelServer } from "../../../../test/support/model-server.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { RunEventBody } from "@sheaf/protocol";
import type { ProviderEndpoint, WireProtocol } from "../../src/endpoint.ts";
import { languageModels } from "../../src/live/language-models.ts";
import type { ModelMessage, ModelRequest, ToolDefinition } from "../../src/provider.ts";
import { createHistory } from "../../../agent/src/run/history.ts";
import { start } from "../../../agent/test/run/fake-ports.ts";
import {
  canaryKey,
  createLiveSetup,
  createRequest,
  formatEvent,
  protocols,
  readOutcome,
  shortAnswers,
} from "./live-setup.ts";

const tools: readonly ToolDefinition[] = [
  {
    name: "list_dir",
    description: "Lists a folder.",
    parameters: { type: "object", properties: { target_directory: { type: "string" } } },
  },
  {
    name: "read_file",
    description: "Reads a file.",
    parameters: {
      type: "object",
      properties: { target_file: { type: "string" }, limit: { type: "integer" } },
      required: ["target_file"],
      additionalProperties: false,
    },
  },
];

const uuidCallId = "call_0f8fad5b-d9cb-469f-a165-70867728950e";

/** The arguments of a broken call, as every protocol shows them to the model (N30). */
const raw = { rawArguments: '{"target_file": ' };

/** Two parallel calls, one of which failed; a broken call; an empty answer; two prompts in a row. */
const messages: readonly ModelMessage[] = [
  { role: "user", text: "Look around" },
  {
    role: "assistant",
    content: [
      { type: "text", text: "I look." },
      { type: "tool_call", callId: "call_1", providerCallId: "own_1", toolName: "list_dir", arguments: {} },
      {
        type: "tool_call",
        callId: uuidCallId,
        providerCallId: "own_1",
        toolName: "read_file",
        arguments: { target_file: "a.md" },
      },
    ],
  },
  { role: "tool", callId: "call_1", toolName: "list_dir", output: "a.md", isError: false },
  { role: "tool", callId: uuidCallId, toolName: "read_file", output: "FILE_NOT_FOUND: a.md", isError: true },
  {
    role: "assistant",
    content: [
      { type: "text", text: "\n" },
      { type: "tool_call", callId: "call_3", toolName: "read_file", arguments: {}, ...raw },
    ],
  },
  { role: "tool", callId: "call_3", toolName: "read_file", output: "", isError: true },
  { role: "assistant", content: [] },
  { role: "user", text: "Go on" },
  { role: "assistant", content: [] },
  { role: "user", text: "Please" },
];

// What a provider's wire format holds is looked at freely here.
type Wire = Record<string, Record<string, unknown>[]>;

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

async function sendRequest(protocol: WireProtocol, more: Partial<ModelRequest> = {}): Promise<Wire> {
  server.answer({ chunks: shortAnswers[protocol] });
  const { model } = createLiveSetup(protocol, server.url);
  const { error, text } = await readOutcome(model, createRequest({ messages, tools, ...more }));
  expect(error).toBeUndefined();
  expect(text).toBe("Hello");
  return JSON.parse(server.requests.at(-1)?.body ?? "") as Wire;
}

describe("the request", () => {
  test("is that of its own stream, however many are written at once", async () => {
    server.answer({ chunks: shortAnswers["anthropic-messages"] });
    const { model } = createLiveSetup("anthropic-messages", server.url);
    const asked = ["first", "second", "third"];
    const before = server.requests.length;
    await Promise.all(asked.map((text) => readOutcome(model, createRequest({ messages: [{ role: "user", text }] }))));
    const bodies = server.requests.slice(before).map(({ body }) => body);
    expect(asked.map((text) => bodies.filter((body) => body.includes(text)).length)).toEqual([1, 1, 1]);
  });

  test("Anthropic: system, tools, results, cache marks", async () => {
    const body = await sendRequest("anthropic-messages");
    const cache = { cache_control: { type: "ephemeral" } };
    expect(server.requests.at(-1)?.path).toBe("/v1/messages");
    expect(body).toMatchObject({ model: "claude-sonnet-4-5", stream: true });
    expect(body["system"]).toEqual([{ type: "text", text: "You are a coding agent.", ...cache }]);
    expect(body["tools"]).toMatchObject([
      { name: "list_dir", description: "Lists a folder.", input_schema: tools[0]?.parameters },
      { name: "read_file", description: "Reads a file.", input_schema: tools[1]?.parameters, ...cache },
    ]);
    const shortId = uuidCallId.replaceAll("-", "");
    expect(body["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "Look around" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: "own_1", name: "list_dir", input: {} },
          { type: "tool_use", id: shortId, name: "read_file", input: { target_file: "a.md" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "own_1", content: "a.md" },
          { type: "tool_result", tool_use_id: shortId, content: "FILE_NOT_FOUND: a.md", is_error: true },
        ],
      },
      { role: "assistant", content: [{ type: "tool_use", id: "call_3", name: "read_file", input: raw }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_3", content: "(no output)", is_error: true, ...cache },
          { type: "text", text: "Go on\n\nPlease", ...cache },
        ],
      },
    ]);
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
  });

  test("Responses: nothing is stored, no parameter becomes required", async () => {
    const body = await sendRequest("openai-responses");
    expect(server.requests.at(-1)?.path).toBe("/v1/responses");
    expect(body).toMatchObject({ model: "gpt-5", stream: true, store: false });
    expect(body["include"]).toContain("reasoning.encrypted_content");
    expect(body["tools"]).toMatchObject([
      { type: "function", name: "list_dir", strict: false },
      { type: "function", name: "read_file", strict: false, parameters: { required: ["target_file"] } },
    ]);
    expect(body["input"]).toMatchObject([
      { role: "developer", content: "You are a coding agent." },
      { role: "user", content: [{ type: "input_text", text: "Look around" }] },
      { role: "assistant", content: "I look." },
      { type: "function_call", call_id: "own_1", name: "list_dir", arguments: "{}" },
      { type: "function_call", name: "read_file", arguments: '{"target_file":"a.md"}' },
      { type: "function_call_output", call_id: "own_1", output: "a.md" },
      { type: "function_call_output", output: "FILE_NOT_FOUND: a.md" },
      { type: "function_call", call_id: "call_3", arguments: JSON.stringify(raw) },
      { type: "function_call_output", call_id: "call_3", output: "(no output)" },
      { role: "user", content: [{ type: "input_text", text: "Go on\n\nPlease" }] },
    ]);
  });

  const chatMessages = [
    { role: "system", content: "You are a coding agent." },
    { role: "user", content: "Look around" },
    {
      role: "assistant",
      content: "I look.",
      tool_calls: [
        { id: "own_1", type: "function", function: { name: "list_dir", arguments: "{}" } },
        { type: "function", function: { name: "read_file", arguments: '{"target_file":"a.md"}' } },
      ],
    },
    { role: "tool", tool_call_id: "own_1", content: "a.md" },
    { role: "tool", content: "FILE_NOT_FOUND: a.md" },
    {
      role: "assistant",
      tool_calls: [{ id: "call_3", function: { name: "read_file", arguments: JSON.stringify(raw) } }],
    },
    { role: "tool", tool_call_id: "call_3", content: "(no output)" },
    { role: "user", content: "Go on\n\nPlease" },
  ];

  test("chat completions: usage is asked for, ids are at most 40 long", async () => {
    const body = await sendRequest("openai-chat");
    expect(server.requests.at(-1)?.path).toBe("/v1/chat/completions");
    expect(body).toMatchObject({ model: "small-model", stream: true, stream_options: { include_usage: true } });
    expect(body["messages"]).toMatchObject(chatMessages);
    expect(body["tools"]).toMatchObject([
      { type: "function", function: { name: "list_dir", parameters: tools[0]?.parameters } },
      { type: "function", function: { name: "read_file", parameters: tools[1]?.parameters } },
    ]);
    const ids = [...JSON.stringify(body).matchAll(/"(?:tool_call_)?id":"([^"]*)"/g)].map(([, id = ""]) => id);
    expect(ids).toHaveLength(6);
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(40);
  });

  test("OpenAI's own chat completions", async () => {
    server.answer({ chunks: shortAnswers["openai-chat"] });
    const { model } = createLiveSetup("openai-chat", server.url, {
      createLanguageModel: await languageModels.openai(),
      endpoint: { modelId: "gpt-4.1" },
    });
    expect((await readOutcome(model, createRequest({ messages, tools }))).text).toBe("Hello");
    expect(server.requests.at(-1)?.path).toBe("/v1/chat/completions");
    expect(JSON.parse(server.requests.at(-1)?.body ?? "")["messages"]).toMatchObject(chatMessages);
  });

  test("Gemini: parallel results in one turn, the key in a header", async () => {
    const body = await sendRequest("gemini");
    expect(server.requests.at(-1)?.path).toBe("/v1/models/gemini-3-pro-preview:streamGenerateContent?alt=sse");
    expect(server.requests.at(-1)?.headers["x-goog-api-key"]).toBe(canaryKey);
    expect(body["systemInstruction"]).toEqual({ parts: [{ text: "You are a coding agent." }] });
    expect(body["contents"]).toMatchObject([
      { role: "user", parts: [{ text: "Look around" }] },
      {
        role: "model",
        parts: [
          { text: "I look." },
          { functionCall: { name: "list_dir", args: {} } },
          { functionCall: { name: "read_file", args: { target_file: "a.md" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "list_dir", response: { content: "a.md" } } },
          { functionResponse: { name: "read_file", response: { error: "FILE_NOT_FOUND: a.md" } } },
        ],
      },
      { role: "model", parts: [{ functionCall: { name: "read_file", args: raw } }] },
      { role: "user", parts: [{ functionResponse: { name: "read_file", response: { error: "(no output)" } } }] },
      { role: "user", parts: [{ text: "Go on\n\nPlease" }] },
    ]);
    const names = body["tools"]?.[0]?.["functionDeclarations"] as { name: string }[];
    expect(names.map(({ name }) => name)).toEqual(["list_dir", "read_file"]);
  });

  test.each(protocols)("%s: a call without a result gets one, no tools are no tools", async (protocol) => {
    const body = await sendRequest(protocol, {
      tools: [],
      messages: [
        { role: "user", text: "Go" },
        { role: "assistant", content: [{ type: "tool_call", callId: "c", toolName: "list_dir", arguments: {} }] },
        { role: "user", text: "And?" },
      ],
    });
    expect(JSON.stringify(body)).toContain("This call has no result.");
    expect(body["tools"]).toBeUndefined();
  });
});

test("a model of another maker behind Anthropic's protocol gets a limit for a whole file, and no newer fields", async () => {
  server.answer({ chunks: shortAnswers["anthropic-messages"] });
  const { model } = createLiveSetup("anthropic-messages", server.url, { endpoint: { modelId: "glm-4.6" } });
  await readOutcome(model, createRequest({ tools }));
  const body = server.requests.at(-1)?.body ?? "";
  expect(JSON.parse(body)["max_tokens"]).toBe(16_384);
  expect(body).not.toContain("eager_input_streaming");
});

describe("credentials", () => {
  const places: readonly [WireProtocol, string, string][] = [
    ["openai-responses", "authorization", `Bearer ${canaryKey}`],
    ["openai-chat", "authorization", `Bearer ${canaryKey}`],
    ["anthropic-messages", "x-api-key", canaryKey],
    ["gemini", "x-goog-api-key", canaryKey],
  ];
  test.each(places)(
    verifies("S-42", "%s: the key is in the header %s, nowhere else"),
    async (protocol, name, value) => {
      await sendRequest(protocol);
      const { path, headers, body } = server.requests.at(-1) ?? { path: "", headers: {}, body: "" };
      expect(headers[name]).toBe(value);
      expect(JSON.stringify([path, body, { ...headers, [name]: "" }])).not.toContain(canaryKey);
    },
  );

  test.each(protocols)(
    verifies("S-42", "%s: without a key none is sent; headers of the user's are"),
    async (protocol) => {
      server.answer({ chunks: shortAnswers[protocol] });
      const { model } = createLiveSetup(protocol, server.url, {
        endpoint: { apiKey: undefined, apiKeySource: "none", headers: { "X-Team": "sheaf" } },
      });
      expect((await readOutcome(model)).text).toBe("Hello");
      const headers = server.requests.at(-1)?.headers ?? {};
      expect(headers["x-team"]).toBe("sheaf");
      expect([headers.authorization, headers["x-api-key"], headers["x-goog-api-key"]]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    },
  );
});

describe("what a provider wants back", () => {
  /** Two turns of a run, the first one through the history as a log brings it back: the second request's body. */
  async function sendSecondTurn(
    protocol: WireProtocol,
    firstAnswer: string,
    nextModel?: Partial<ProviderEndpoint>,
  ): Promise<string> {
    server.answer({ chunks: [firstAnswer.slice(0, 97), firstAnswer.slice(97)] });
    const first = await readOutcome(createLiveSetup(protocol, server.url).model, createRequest({ tools }));
    expect(first.error).toBeUndefined();
    const history = createHistory();
    history.push({ type: "run_start", ...start, prompt: "Go" });
    history.push({ type: "turn_start", turn: 1 });
    for (const event of JSON.parse(JSON.stringify(first.events)) as RunEventBody[]) {
      history.push(event);
      if (event.type !== "tool_call_arguments") continue;
      const { callId } = event;
      history.push({ type: "tool_result", callId, status: "success", output: "a.md", durationMs: 0 });
    }
    history.push({ type: "run_start", ...start, prompt: "And now?" });
    server.answer({ chunks: shortAnswers[protocol] });
    const { model } = createLiveSetup(protocol, server.url, nextModel && { endpoint: nextModel });
    await readOutcome(model, createRequest({ tools, messages: history.messages }));
    return server.requests.at(-1)?.body ?? "";
  }

  const thinkingBody = [
    { type: "message_start", message: { id: "m" } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Let me " } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "look." } },
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "signed" } },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "I look." } },
    { type: "content_block_stop", index: 1 },
    { type: "content_block_start", index: 2, content_block: { type: "redacted_thinking", data: "cipher" } },
    { type: "content_block_stop", index: 2 },
    { type: "content_block_start", index: 3, content_block: { type: "tool_use", id: "t", name: "list_dir" } },
    { type: "content_block_delta", index: 3, delta: { type: "input_json_delta", partial_json: "{}" } },
    { type: "content_block_stop", index: 3 },
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
    { type: "message_stop" },
  ]
    .map(formatEvent)
    .join("");

  test("Anthropic's thinking, signed or redacted, each where it stood", async () => {
    const body = await sendSecondTurn("anthropic-messages", thinkingBody);
    expect(JSON.parse(body)["messages"][1]).toMatchObject({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Let me look.", signature: "signed" },
        { type: "text", text: "I look." },
        { type: "redacted_thinking", data: "cipher" },
        { type: "tool_use", name: "list_dir" },
      ],
    });
  });

  test("of another model or provider it gets nothing", async () => {
    for (const next of [{ modelId: "claude-opus-4-5" }, { provider: "gateway" }]) {
      const body = await sendSecondTurn("anthropic-messages", thinkingBody, next);
      expect(body).not.toMatch(/signed|cipher/);
      expect(JSON.parse(body)["messages"][1]).toMatchObject({
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", name: "list_dir" },
        ],
      });
    }
  });

  test("not reasoning that led to nothing, which providers refuse", async () => {
    const events = [
      { type: "message_start", message: { id: "m" } },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "thinking", thinking: "Hm", signature: "signed" },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ];
    const body = await sendSecondTurn("anthropic-messages", events.map(formatEvent).join(""));
    expect(body).not.toContain("signed");
    expect(JSON.parse(body)["messages"]).toMatchObject([{ role: "user" }]);
  });

  test("Gemini's signature on its call, and only there", async () => {
    const calls = [
      { functionCall: { name: "list_dir", args: {} }, thoughtSignature: "signed" },
      { functionCall: { name: "list_dir", args: { target_directory: "src" } } },
    ];
    const body = await sendSecondTurn(
      "gemini",
      formatEvent({ candidates: [{ content: { parts: calls }, finishReason: "STOP" }] }),
    );
    const parts = JSON.parse(body)["contents"][1]["parts"] as Wire[];
    expect(parts.map((part) => part["thoughtSignature"])).toEqual(["signed", undefined]);
  });

  test("Gemini's signature behind a text", async () => {
    const parts = [{ text: "Look" }, { text: "ing." }, { text: "", thoughtSignature: "signed" }];
    const body = await sendSecondTurn(
      "gemini",
      formatEvent({ candidates: [{ content: { parts }, finishReason: "STOP" }] }),
    );
    expect(JSON.parse(body)["contents"][1]["parts"]).toEqual([{ text: "Looking.", thoughtSignature: "signed" }]);
  });

  test("the encrypted reasoning of Responses", async () => {
    const item = { type: "reasoning", id: "rs_1", encrypted_content: "cipher", summary: [] };
    const call = { type: "function_call", id: "fc", call_id: "call_x", name: "list_dir", arguments: "{}" };
    const body = await sendSecondTurn(
      "openai-responses",
      [
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.output_item.done", output_index: 1, item: call },
        { type: "response.completed", response: { status: "completed" } },
      ]
        .map(formatEvent)
        .join(""),
    );
    expect(JSON.parse(body)["input"].slice(2, 4)).toMatchObject([item, { type: "function_call" }]);
  });

  test("the phase of a message of Responses", async () => {
    const toItem = (text: string, phase: string) => ({
      type: "message",
      phase,
      content: [{ type: "output_text", text }],
    });
    const body = await sendSecondTurn(
      "openai-responses",
      [
        { type: "response.output_item.done", output_index: 0, item: toItem("I look.", "commentary") },
        { type: "response.output_item.done", output_index: 1, item: toItem("There.", "final_answer") },
        { type: "response.completed", response: { status: "completed" } },
      ]
        .map(formatEvent)
        .join(""),
    );
    expect(JSON.parse(body)["input"].slice(2, 4)).toEqual([
      { role: "assistant", content: "I look.", phase: "commentary" },
      { role: "assistant", content: "There.", phase: "final_answer" },
    ]);
  });

  test("`reasoning_details` of gateways, their pieces joined", async () => {
    const toChunk = (details: object[], more: object = {}): string =>
      formatEvent({ choices: [{ delta: { reasoning_details: details, ...more } }] });
    const text = { type: "reasoning.text", index: 0, format: "f" };
    const call = { index: 0, id: "c1", function: { name: "list_dir", arguments: "{}" } };
    const body = await sendSecondTurn(
      "openai-chat",
      `${toChunk([{ ...text, text: "Let " }])}${toChunk([{ ...text, text: "me.", signature: null }])}${toChunk([
        { type: "reasoning.text", index: 0, signature: "signed" },
      ])}${toChunk([{ type: "reasoning.encrypted", index: 1, data: "cipher" }], { tool_calls: [call] })}data: [DONE]\n\n`,
    );
    expect(JSON.parse(body)["messages"][2]["reasoning_details"]).toEqual([
      { ...text, text: "Let me.", signature: "signed" },
      { type: "reasoning.encrypted", index: 1, data: "cipher" },
    ]);
  });

  test("Google's mark of a call in its chat completions", async () => {
    const call = {
      index: 0,
      id: "c1",
      function: { name: "list_dir", arguments: "{}" },
      extra_content: { google: { thought_signature: "signed" } },
    };
    const body = await sendSecondTurn(
      "openai-chat",
      `${formatEvent({ choices: [{ delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] })}data: [DONE]\n\n`,
    );
    expect(JSON.parse(body)["messages"][2]["tool_calls"]).toMatchObject([{ extra_content: call.extra_content }]);
  });

  test("`reasoning_content`, where the server sent it", async () => {
    const call = { index: 0, id: "c1", function: { name: "list_dir", arguments: "{}" } };
    const toBody = (name: string): Promise<string> =>
      sendSecondTurn(
        "openai-chat",
        `${formatEvent({ choices: [{ delta: { [name]: "Let me " } }] })}${formatEvent({
          choices: [{ delta: { [name]: "look.", tool_calls: [call] }, finish_reason: "tool_calls" }],
        })}data: [DONE]\n\n`,
      );
    expect(JSON.parse(await toBody("reasoning_content"))["messages"][2]).toMatchObject({
      reasoning_content: "Let me look.",
    });
    expect(await toBody("reasoning")).not.toContain("Let me");
  });
});
