/** The agent for clients of OpenAI, byte by byte (X20, X21, N71); its own client is in test/conformance. */
import { createSseDecoder } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { createModelServer } from "../../../test/support/model-server.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const start = (script?: unknown, args: readonly string[] = []): Promise<TestApp> => openApp({ script, args });

const send = (server: TestApp, body: object, init: RequestInit = {}): Promise<Response> =>
  server.send("POST", "/v1/chat/completions", body, init);

const user = (content: unknown) => ({ role: "user", content });

interface Chunk {
  readonly choices: readonly {
    readonly delta: Readonly<Record<string, string>>;
    readonly finish_reason: string | null;
  }[];
  readonly usage?: unknown;
  readonly error?: Record<string, unknown>;
}

/** The chunks of a stream, which ends with `[DONE]`. */
async function readChunks(answer: Response): Promise<Chunk[]> {
  const decoder = createSseDecoder();
  const data = [...decoder.push(await answer.text()), ...decoder.end()].map((message) => message.data);
  expect(data.at(-1)).toBe("[DONE]");
  return data.slice(0, -1).map((text) => JSON.parse(text) as Chunk);
}

const script = {
  turns: [
    {
      events: [
        { reasoning: "I must look." },
        { text: "I will look.\n", chunk: 4 },
        { call: { tool: "read_file", arguments: { target_file: "README.md" } } },
      ],
      usage: { promptTokens: 100, completionTokens: 20 },
    },
    { events: [{ text: "It is a project.", chunk: 5 }], usage: { promptTokens: 150, completionTokens: 10 } },
  ],
  after: "loop",
};
const text = "I will look.\n\nIt is a project.";
const usage = { prompt_tokens: 250, completion_tokens: 30, total_tokens: 280 };

describe("POST /v1/chat/completions", () => {
  test(verifies("X20", "one object, or chunks that add up to it"), async () => {
    const server = await start(script);
    const answer = await send(server, { messages: [user("What is it?")] });
    expect(answer.headers.get("x-conversation-id")).toMatch(/^conv_/);
    const body = (await answer.json()) as Record<string, unknown>;
    expect(body).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
      usage,
    });
    expect(JSON.stringify(body)).not.toContain("I must look");
    const options = { stream: true, stream_options: { include_usage: true }, accept: { reasoning: true } };
    const chunks = await readChunks(await send(server, { messages: [user("go")], ...options }));
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    expect(deltas[0]).toEqual({ role: "assistant", content: "" });
    expect(deltas.map(({ content }) => content ?? "").join("")).toBe(text);
    expect(deltas.map(({ reasoning_content }) => reasoning_content ?? "").join("")).toBe("I must look.");
    expect(chunks.at(-2)!.choices).toEqual([{ index: 0, delta: {}, finish_reason: "stop" }]);
    expect(chunks.at(-1)).toMatchObject({ object: "chat.completion.chunk", choices: [], usage });
    const plain = await readChunks(await send(server, { messages: [user("go")], stream: true, stream_options: null }));
    expect(plain.every((chunk) => chunk.choices.length === 1 && !("usage" in chunk))).toBe(true);
    expect(JSON.stringify(plain)).not.toContain("I must look");
  });

  test(verifies("X20", "the posted messages are the conversation that the model sees and the store has"), async () => {
    const chunk = { choices: [{ index: 0, delta: { content: "Hello." }, finish_reason: "stop" }] };
    const provider = await createModelServer({ chunks: [`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`] });
    const server = await start(undefined, ["--model", "openai-compatible/m", "--base-url", `${provider.url}/v1`]);
    const messages = [
      { role: "system", content: "Answer in rhymes." },
      user("One."),
      user([{ type: "text", text: "Two." }]),
      { role: "assistant", content: "Three." },
      { role: "developer", content: "Be short." },
      user("Four."),
    ];
    const answer = await send(server, { messages });
    const id = answer.headers.get("x-conversation-id");
    const stored = await server.readConversation(id!);
    expect(stored.title).toBe("One.");
    expect(stored.turns.map(({ message }) => message)).toEqual(["One.\n\nTwo.", "Four."]);
    expect(stored.turns[0]!.response).toMatchObject({
      status: "completed",
      documents: [{ content: "Three." }],
      usage: { totalTokens: 0 },
    });
    expect(stored.turns[1]!.response).toMatchObject({ documents: [{ content: "Hello." }] });
    const sent = JSON.parse(provider.requests[0]!.body) as { messages: { role: string; content: string }[] };
    const [system, ...rest] = sent.messages;
    expect(system!.content).toMatch(/\n\nAnswer in rhymes\.\n\nBe short\.$/);
    expect(rest.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      "user: One.\n\nTwo.",
      "assistant: Three.",
      expect.stringMatching(/^user: (.|\n)*Four\.$/),
    ]);
    await provider.close();
  });

  test(verifies("X20", "a plan and questions at the end are part of the text"), async () => {
    const plan = { title: "Count", overview: "Words.", plan: "Split.", todos: [{ id: "a", content: "Split it" }] };
    const question = { title: "", questions: [{ id: "q1", text: "Which?", options: [{ id: "w", label: "Words" }] }] };
    const server = await start({
      turns: [
        { events: [{ text: "Here." }, { call: { tool: "create_plan", arguments: plan } }] },
        { events: [{ call: { tool: "ask_question", arguments: question } }] },
      ],
      after: "loop",
    });
    const { choices } = (await (await send(server, { messages: [user("go")], mode: "plan" })).json()) as {
      readonly choices: readonly { readonly message: { readonly content: string }; readonly finish_reason: string }[];
    };
    expect(choices[0]!.message.content).toMatch(/^Here\.\n\n# Count\n\nWords\./);
    expect(choices[0]!.finish_reason).toBe("stop");
  });

  test(verifies("X20", "a failure is OpenAI's error, before the first event and in a stream"), async () => {
    const failing = {
      turns: [{ events: [{ text: "Begun. " }, { error: { code: "OVERLOADED", message: "full" } }] }],
      after: "loop",
    };
    const server = await start(failing);
    const answer = await send(server, { messages: [user("go")] });
    expect(answer.status).toBe(503);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    const error = { type: "server_error", param: null, code: "OVERLOADED", message: expect.any(String) as string };
    expect(await answer.json()).toEqual({ error });
    const chunks = await readChunks(await send(server, { messages: [user("go")], stream: true }));
    expect(chunks.at(-1)).toEqual({ error });
    const key = await start({
      turns: [{ events: [{ error: { code: "AUTH_REJECTED", message: "no" } }] }],
      after: "loop",
    });
    expect((await send(key, { messages: [user("go")] })).status).toBe(502);
    const unknown = await send(server, { messages: [user("go")], model: "gpt-99" });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { code: "model_not_found" } });
    const stranger = await server.request("/v1/chat/completions", { method: "POST", body: "{}" });
    expect(stranger.status).toBe(401);
    expect(await stranger.json()).toMatchObject({ error: { code: "invalid_api_key", type: "authentication_error" } });
  });

  test(verifies("X20", "an answer that was cut says length"), async () => {
    const server = await start({ ...script, turns: script.turns.slice(0, 1) }, ["--max-turns", "2"]);
    const body = await (await send(server, { messages: [user("go")] })).json();
    expect(body).toMatchObject({ choices: [{ finish_reason: "length" }] });
  });

  test(verifies("X20", "a client that leaves cancels the run"), async () => {
    const server = await start({ turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }] }] });
    const leaving = new AbortController();
    const answer = await send(server, { messages: [user("go")], stream: true }, { signal: leaving.signal });
    const path = answer.headers.get("location")!;
    leaving.abort();
    await expect
      .poll(async () => (await server.fetch(path)).json(), { timeout: 10_000 })
      .toMatchObject({ metadata: { finishReason: "cancelled" } });
  });

  test(verifies("X21", "what would change the answer is refused by name, and the rest ignored"), async () => {
    const server = await start();
    const tool = { type: "function", function: { name: "f" } };
    const refusals: Readonly<Record<string, object>> = {
      tools: { tools: [tool] },
      functions: { functions: [{ name: "f" }] },
      n: { n: 2 },
      stop: { stop: "END" },
      logprobs: { logprobs: true },
      audio: { audio: { voice: "x" } },
      response_format: { response_format: { type: "json_object" } },
      messages: { messages: [] },
      "messages.1.role": { messages: [user("a"), { role: "tool", content: "b", tool_call_id: "c" }] },
      "messages.0.tool_calls": { messages: [{ role: "assistant", content: "", tool_calls: [tool] }, user("a")] },
      "messages.2.role": { messages: [user("a"), user("b"), { role: "assistant", content: "c" }] },
      "messages.0.content": { messages: [user(" ")] },
      "messages.0.content.0": {
        messages: [user([{ type: "image_url", image_url: { url: "https://example.org/a.png" } }])],
      },
      "messages.0.content.1": {
        messages: [
          user([
            { type: "text", text: "a" },
            { type: "input_audio", input_audio: {} },
          ]),
        ],
      },
    };
    for (const [param, body] of Object.entries(refusals)) {
      const answer = await send(server, { messages: [user("go")], ...body });
      expect(answer.status, param).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { param, type: "invalid_request_error" } });
    }
    expect(await server.read("/v1/conversations")).toEqual({ conversations: [] });
    const harmless = {
      tools: [],
      stop: null,
      n: 1,
      logprobs: false,
      response_format: { type: "text" },
      temperature: 0.2,
    };
    expect((await send(server, { messages: [user("go")], ...harmless, max_tokens: 5, user: "u" })).status).toBe(200);
  });

  test(verifies(["X21", "N65", "N126"], "images and texts come as data addresses, earlier ones too"), async () => {
    const server = await start();
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } };
    const messages = [
      user([picture, { type: "text", text: "One." }]),
      { role: "assistant", content: "A." },
      user([picture, { type: "file", file: { filename: "a.md", file_data: "data:text/markdown;base64,aGVsbG8=" } }]),
    ];
    const answer = await send(server, { messages });
    expect(answer.status).toBe(200);
    const { turns } = await server.readConversation(answer.headers.get("x-conversation-id")!);
    expect(turns).toMatchObject([
      { attachments: [{ mediaType: "image/png" }] },
      { attachments: [{ mediaType: "image/png" }, { name: "a.md", mediaType: "text/plain" }] },
    ]);
    const bad = { type: "image_url", image_url: { url: "data:image/png;base64,aGVsbG8=" } };
    expect((await send(server, { messages: [user([bad])] })).status).toBe(400);
  });

  test(verifies("X17", "any response can be read in this form"), async () => {
    const server = await start(script);
    const path = (await server.chat({ message: "go" })).headers.get("location")!;
    const chunks = await readChunks(await server.fetch(`${path}/events?format=openai-chat`));
    expect(chunks.map(({ choices }) => choices[0]!.delta.content ?? "").join("")).toBe(text);
  });
});

describe("POST /v1/responses", () => {
  const ask = (server: TestApp, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    server.send("POST", "/v1/responses", body, { headers });

  interface Answer {
    readonly id: string;
    readonly output: readonly { readonly id: string; readonly content: readonly { readonly text: string }[] }[];
  }

  test(verifies("N72", "one object, or events that add up to it"), async () => {
    const server = await start(script);
    const whole = (await (await ask(server, { input: "go" })).json()) as Answer;
    expect(whole).toMatchObject({
      id: expect.stringMatching(/^resp_/) as string,
      object: "response",
      status: "completed",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text }] }],
      usage: { input_tokens: 250, output_tokens: 30, total_tokens: 280 },
    });
    const decoder = createSseDecoder();
    const body = await (await ask(server, { input: "go", stream: true })).text();
    const events = [...decoder.push(body), ...decoder.end()].map(
      ({ data }) => JSON.parse(data) as Record<string, unknown>,
    );
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_event, index) => index));
    const types = events.map(({ type }) => type).filter((type) => type !== "response.output_text.delta");
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.map(({ delta }) => (typeof delta === "string" ? delta : "")).join("")).toBe(text);
    const same = { ...whole, id: 0, created_at: 0, output: [{ ...whole.output[0], id: 0 }] };
    const last = events.at(-1)!["response"] as Answer;
    expect({ ...last, id: 0, created_at: 0, output: [{ ...last.output[0], id: 0 }] }).toEqual(same);
  });

  test(verifies("N72", "continues an earlier answer, or takes its text by its id"), async () => {
    const server = await start();
    const first = await ask(server, { input: "One", instructions: "Be short." });
    const { id, output } = (await first.json()) as Answer;
    const second = await ask(server, { input: [{ role: "user", content: "Two" }], previous_response_id: id });
    expect(second.headers.get("x-conversation-id")).toBe(first.headers.get("x-conversation-id"));
    const other = await ask(server, { input: "Three", previous_response_id: id });
    const { turns: shown } = await server.readConversation(other.headers.get("x-conversation-id")!);
    expect(shown.map(({ message, versions = [] }) => [message, versions.length])).toEqual([
      ["One", 0],
      ["Three", 2],
    ]);
    const input = [
      { role: "user", content: [{ type: "input_text", text: "One" }] },
      { type: "item_reference", id: output[0]!.id },
      { type: "message", role: "user", content: "Four" },
    ];
    const posted = await ask(server, { input });
    const { turns } = await server.readConversation(posted.headers.get("x-conversation-id")!);
    expect(turns).toMatchObject([
      { message: "One", response: { documents: [{ content: "Hello world." }] } },
      { message: "Four" },
    ]);
  });

  test(verifies(["N72", "X9"], "continues an earlier answer once, however often the request comes"), async () => {
    const server = await start();
    const { id } = (await (await ask(server, { input: "One" })).json()) as Answer;
    const headers = { "Idempotency-Key": "two" };
    const answers = [1, 2].map(() => ask(server, { input: "Two", previous_response_id: id }, headers));
    answers.push(Promise.all(answers).then(() => ask(server, { input: "Two", previous_response_id: id }, headers)));
    const bodies = (await Promise.all((await Promise.all(answers)).map((each) => each.json()))) as Answer[];
    expect(new Set(bodies.map((each) => each.id)).size).toBe(1);
    expect(bodies[0]).toMatchObject({ id: expect.stringMatching(/^resp_/) as string, status: "completed" });
  });

  test(verifies(["N72", "S-55"], "texts taken by their ids count as if they were sent"), async () => {
    const server = await start({ turns: [{ events: [{ text: "a".repeat(100_000) }] }], after: "loop" });
    const { output } = (await (await ask(server, { input: "One" })).json()) as Answer;
    const input = [
      ...Array.from({ length: 11 }, () => ({ type: "item_reference", id: output[0]!.id })),
      { role: "user", content: "Two" },
    ];
    const answer = await ask(server, { input });
    expect([answer.status, await answer.json()]).toMatchObject([413, { error: { code: "PAYLOAD_TOO_LARGE" } }]);
    expect((await ask(server, { input: input.slice(9) })).status).toBe(200);
  });

  test(verifies(["N72", "X21"], "refuses what would change the answer, and tells of failures and cuts"), async () => {
    const server = await start({ ...script, turns: script.turns.slice(0, 1) }, ["--max-turns", "2"]);
    expect(await (await ask(server, { input: "go" })).json()).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
    const refusals: Readonly<Record<string, object>> = {
      tools: { tools: [{ type: "web_search" }] },
      background: { background: true },
      conversation: { conversation: "conv_1" },
      prompt: { prompt: { id: "pmpt_1" } },
      "text.format": { text: { format: { type: "json_object" } } },
      "input.0.type": { input: [{ type: "function_call_output", call_id: "a", output: "b" }] },
      "input.0.role": { input: [{ content: "a" }] },
      "input.0.id": {
        input: [
          { type: "item_reference", id: "msg_1" },
          { role: "user", content: "a" },
        ],
      },
      previous_response_id: { previous_response_id: "resp_1" },
    };
    for (const [param, body] of Object.entries(refusals)) {
      const answer = await ask(server, { input: "go", ...body });
      expect([param, answer.status]).toEqual([param, 400]);
      expect(await answer.json()).toMatchObject({ error: { param } });
    }
    const failing = await start({
      turns: [{ events: [{ error: { code: "OVERLOADED", message: "full" } }] }],
      after: "loop",
    });
    expect((await ask(failing, { input: "go" })).status).toBe(503);
    expect(await (await ask(failing, { input: "go", stream: true })).text()).toContain('"type":"response.failed"');
  });
});

test(verifies("N71", "the models have OpenAI's form too"), async () => {
  const server = await start(undefined, ["--offer", "offline"]);
  const { object, data, models } = (await server.read("/v1/models")) as {
    readonly object: string;
    readonly data: readonly { readonly id: string }[];
    readonly models: readonly { readonly id: string }[];
  };
  expect(object).toBe("list");
  expect(data.map(({ id }) => ({ id }))).toEqual(models);
  expect(data[1]).toEqual({ id: "offline", object: "model", created: 0, owned_by: "sheaf" });
  const name = "anthropic/claude-sonnet-4-5";
  const offered = await start(undefined, ["--offer", name]);
  expect(await offered.read("/v1/models")).toMatchObject({
    models: [{}, { id: name, contextTokens: 150_000 }],
  });
  expect(await server.read("/v1/models/offline")).toEqual(data[1]);
  expect((await server.fetch(`/v1/models/${encodeURIComponent(data[0]!.id)}`)).status).toBe(200);
  expect(await offered.read(`/v1/models/${name}`)).toMatchObject({ id: name });
  expect((await server.fetch("/v1/models/gpt-99")).status).toBe(404);
});
