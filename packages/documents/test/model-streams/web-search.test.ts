/** Calls that a provider runs itself, decoded from bodies in the shape of its documentation. */
import { describe, expect, test } from "vitest";
import type { ModelEvent } from "@sheaf/protocol";
import { verifies } from "../../../../test/support/verifies.ts";
import { readPayloads } from "./read-every-cut.ts";
import type { ReadTurn } from "./read-turn.ts";

type Calls = Record<string, { toolName: string; arguments: unknown; status: string; output: string; code?: string }>;

/** The searches of a turn by the provider's ids. */
function readSearches({ events }: ReadTurn): Calls {
  const of = <Type extends ModelEvent["type"]>(type: Type, callId: string) =>
    events
      .filter((event): event is Extract<ModelEvent, { type: Type }> => event.type === type)
      .filter((event) => "callId" in event && event.callId === callId);
  const entries = events.flatMap((event) => {
    if (event.type !== "tool_call_start") return [];
    expect(event).toMatchObject({ origin: "provider", documentType: "tool_call" });
    const { callId, toolName, providerCallId = "" } = event;
    const [asked, ...more] = of("tool_call_arguments", callId);
    const [result, ...others] = of("tool_result", callId);
    expect([more, others]).toEqual([[], []]);
    const { status, output, error } = result!;
    return [
      [providerCallId, { toolName, arguments: asked!.arguments, status, output, ...(error && { code: error.code }) }],
    ];
  });
  return Object.fromEntries(entries) as Calls;
}

const sealed = ({ events }: ReadTurn) =>
  events.flatMap((event) => (event.type === "provider_data" ? [event.data] : []));

describe("Anthropic", () => {
  const result = {
    type: "web_search_result",
    url: "https://a.example/x",
    title: "A\npage",
    encrypted_content: "cipher",
  };
  const unsafe = { type: "web_search_result", url: "javascript:alert(1)", title: "no", encrypted_content: "cipher" };
  const start = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block });
  const stop = (index: number) => ({ type: "content_block_stop", index });
  const call = (index: number, id: string) => [
    start(index, { type: "server_tool_use", id, name: "web_search", input: {} }),
    { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: '{"query": "é ' } },
    { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: 'sheaf"}' } },
    stop(index),
  ];
  const end = (stop_reason: string) => [{ type: "message_delta", delta: { stop_reason } }, { type: "message_stop" }];
  const read = (...payloads: readonly unknown[]) =>
    readPayloads("anthropic-messages", [
      { type: "message_start", message: { id: "m", model: "claude", content: [] } },
      ...payloads,
    ]);

  test(verifies("N69", "a search has its query and its sources, and goes back whole"), () => {
    const block = { type: "web_search_tool_result", tool_use_id: "srv_1", content: [result, unsafe] };
    const turn = read(
      ...call(0, "srv_1"),
      start(1, block),
      stop(1),
      start(2, { type: "text", text: "", citations: [] }),
      { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "Found." } },
      { type: "content_block_delta", index: 2, delta: { type: "citations_delta", citation: { url: result.url } } },
      stop(2),
      ...end("end_turn"),
    );
    expect(readSearches(turn)).toEqual({
      srv_1: {
        toolName: "web_search",
        arguments: { query: "é sheaf" },
        status: "success",
        output: "https://a.example/x A page",
      },
    });
    expect(turn).toMatchObject({ text: "Found.", toolCalls: [], end: { finishReason: "stop" } });
    expect(sealed(turn)).toEqual([
      { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "é sheaf" } },
      block,
    ]);
  });

  test(verifies("N69", "one that failed names the provider's code, and one without a result was not run"), () => {
    const turn = read(
      ...call(0, "srv_1"),
      start(1, {
        type: "web_search_tool_result",
        tool_use_id: "srv_1",
        content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
      }),
      stop(1),
      ...call(2, "srv_2"),
      ...end("pause_turn"),
    );
    expect(readSearches(turn)).toMatchObject({
      srv_1: { status: "error", output: "", code: "WEB_SEARCH_FAILED" },
      srv_2: { arguments: { query: "é sheaf" }, status: "error", code: "NOT_EXECUTED" },
    });
    expect(turn.end).toMatchObject({ finishReason: "unknown", rawFinishReason: "pause_turn" });
  });

  test(verifies("N69", "the result of a search that was paused comes with the next answer"), () => {
    const turn = read(
      start(0, { type: "web_search_tool_result", tool_use_id: "srv_0", content: [result] }),
      ...end("end_turn"),
    );
    expect(readSearches(turn)).toMatchObject({
      srv_0: { arguments: {}, status: "success", output: "https://a.example/x A page" },
    });
  });

  test(verifies("N69", "code that ran, a page, a tool of a server, and calls that failed"), () => {
    const ran = (index: number, id: string, name: string, found: object, type = "server_tool_use") => [
      start(index, { type, id, name, server_name: "srv", input: { code: id } }),
      stop(index),
      start(index + 1, { tool_use_id: id, ...found }),
      stop(index + 1),
    ];
    const turn = read(
      ...ran(0, "s1", "code_execution", {
        type: "code_execution_tool_result",
        content: { type: "code_execution_result", stdout: "1\n", stderr: "", return_code: 0, content: [] },
      }),
      ...ran(2, "s2", "bash_code_execution", {
        type: "bash_code_execution_tool_result",
        content: { type: "bash_code_execution_tool_result_error", error_code: "unavailable" },
      }),
      ...ran(
        4,
        "s3",
        "create_plan",
        { type: "mcp_tool_result", content: [{ type: "text", text: "hi" }] },
        "mcp_tool_use",
      ),
      ...ran(
        6,
        "s4",
        "echo",
        { type: "mcp_tool_result", is_error: true, content: [{ type: "text", text: "no" }] },
        "mcp_tool_use",
      ),
      ...end("end_turn"),
    );
    expect(readSearches(turn)).toMatchObject({
      s1: { toolName: "code_execution", arguments: { code: "s1" }, status: "success", output: "1\n" },
      s2: { status: "error", code: "PROVIDER_TOOL_FAILED" },
      s3: { toolName: "srv.create_plan", output: "hi" },
      s4: { status: "error", code: "PROVIDER_TOOL_FAILED" },
    });
    expect(sealed(turn)).toEqual([]);
  });

  test(verifies("N69", "citations without a search name their sources"), () => {
    const citation = { type: "web_search_result_location", url: "https://a.example/x", title: "A", cited_text: "…" };
    const turn = read(
      start(0, { type: "text", text: "Found.", citations: [citation] }),
      { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation } },
      stop(0),
      ...end("end_turn"),
    );
    expect(readSearches(turn)).toMatchObject({ "": { toolName: "web_search", output: "https://a.example/x A" } });
  });
});

describe("OpenAI Responses", () => {
  const item = (output_index: number, id: string, action?: object, status = "completed") => [
    { type: "response.output_item.added", output_index, item: { id, type: "web_search_call", status: "in_progress" } },
    { type: "response.web_search_call.searching", output_index, item_id: id },
    { type: "response.output_item.done", output_index, item: { id, type: "web_search_call", status, action } },
  ];
  const completed = { type: "response.completed", response: { status: "completed" } };

  test(verifies("N69", "searches, pages that were opened, and a search that failed"), () => {
    const sources = [
      { type: "url", url: "https://a.example/" },
      { type: "api", name: "weather" },
    ];
    const turn = readPayloads("openai-responses", [
      ...item(0, "ws_1", { type: "search", query: "sheaf", queries: ["sheaf"], sources }),
      ...item(1, "ws_2", { type: "search", queries: ["a", "b"] }),
      ...item(2, "ws_3", { type: "open_page", url: "https://a.example/" }),
      ...item(3, "ws_4", { type: "find_in_page", url: "https://a.example/", pattern: "price" }),
      ...item(4, "ws_5", undefined, "failed"),
      completed,
    ]);
    const done = { toolName: "web_search", status: "success", output: "https://a.example/" };
    expect(readSearches(turn)).toEqual({
      ws_1: { ...done, arguments: { query: "sheaf" } },
      ws_2: { ...done, arguments: { queries: ["a", "b"] }, output: "" },
      ws_3: { ...done, arguments: { url: "https://a.example/" } },
      ws_4: { ...done, arguments: { url: "https://a.example/", pattern: "price" } },
      ws_5: { ...done, arguments: {}, status: "error", output: "", code: "WEB_SEARCH_FAILED" },
    });
    expect(sealed(turn).map(({ id }) => id)).toEqual(["ws_1", "ws_2", "ws_3", "ws_4"]);
    // The sources would cost tokens in every later request.
    expect(JSON.stringify(sealed(turn))).not.toContain("sources");
  });
});

test(verifies("N69", "OpenAI's code, files, images and tools of servers"), () => {
  const done = (output_index: number, item: object) => ({ type: "response.output_item.done", output_index, item });
  const turn = readPayloads("openai-responses", [
    done(0, { id: "c", type: "code_interpreter_call", code: "1+1", outputs: [{ type: "logs", logs: "2" }] }),
    done(1, { id: "f", type: "file_search_call", queries: ["a"], results: [{ filename: "a.md", text: "found" }] }),
    done(2, { id: "i", type: "image_generation_call", status: "completed", result: "AAAA", output_format: "webp" }),
    done(3, { id: "m", type: "mcp_call", name: "echo", server_label: "s", arguments: "{}", output: "hi", error: null }),
    done(4, { id: "e", type: "mcp_call", name: "echo", server_label: "s", arguments: "{}", error: "refused" }),
    { type: "response.completed", response: { status: "completed" } },
  ]);
  expect(readSearches(turn)).toMatchObject({
    c: { toolName: "code_interpreter", arguments: { code: "1+1" }, output: "2" },
    f: { toolName: "file_search", arguments: { queries: ["a"] }, output: "found" },
    i: { toolName: "image_generation", output: "image/webp, 3 bytes" },
    m: { toolName: "s.echo", arguments: { server_label: "s", arguments: "{}" }, output: "hi" },
    e: { status: "error", code: "PROVIDER_TOOL_FAILED" },
  });
});

describe("chat completions", () => {
  const chunk = (delta: object, more: object = {}) => ({ choices: [{ delta, finish_reason: "stop" }], ...more });

  test.each([
    [
      chunk({ content: "[1]" }, { search_results: [{ title: "A", url: "https://a.example/" }] }),
      "https://a.example/ A",
    ],
    [chunk({ content: "[1]" }, { citations: ["https://a.example/"] }), "https://a.example/"],
    [
      chunk({ annotations: [{ type: "url_citation", url_citation: { url: "https://a.example/", title: "A" } }] }),
      "https://a.example/ A",
    ],
  ])(verifies("N69", "sources of the text: %j"), (payload, output) => {
    const turn = readPayloads("openai-chat", [payload, payload]);
    expect(readSearches(turn)).toEqual({ "": { toolName: "web_search", arguments: {}, status: "success", output } });
  });

  test(verifies("N69", "an image is named"), () => {
    const images = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }];
    const turn = readPayloads("openai-chat", [chunk({ content: "", images })]);
    expect(readSearches(turn)).toMatchObject({ "": { toolName: "image_generation", output: "image/png, 3 bytes" } });
  });
});

describe("Gemini", () => {
  const grounding = {
    webSearchQueries: ["sheaf", "sheaf agent"],
    groundingChunks: [{ web: { uri: "https://a.example/1", title: "a.example" } }, { retrievedContext: {} }],
  };
  const payload = (parts: readonly object[], more: object = {}) => ({ candidates: [{ content: { parts }, ...more }] });
  const toolCall = { toolType: "GOOGLE_SEARCH_WEB", id: "g1", args: { queries: ["sheaf"] } };
  const toolResponse = { toolType: "GOOGLE_SEARCH_WEB", id: "g1", response: { search_suggestions: "<b>" } };

  test(verifies("N69", "a search begins with its call, and the end of the answer brings its sources"), () => {
    const turn = readPayloads("gemini", [
      payload([{ toolCall, thoughtSignature: "signed" }]),
      payload([{ toolResponse }]),
      payload([{ text: "Found." }]),
      payload([{ text: "" }], { finishReason: "STOP", groundingMetadata: grounding }),
    ]);
    expect(readSearches(turn)).toEqual({
      g1: {
        toolName: "web_search",
        arguments: { queries: ["sheaf"] },
        status: "success",
        output: "https://a.example/1 a.example",
      },
    });
    expect(sealed(turn)).toEqual([{ toolCall, thoughtSignature: "signed" }, { toolResponse }]);
    expect(turn).toMatchObject({ text: "Found.", toolCalls: [], end: { finishReason: "stop" } });
  });

  test(verifies("N69", "what goes back has the same id in call and response, also where Google names none"), () => {
    const turn = readPayloads("gemini", [
      payload([{ toolCall: { ...toolCall, id: undefined } }, { toolResponse: { ...toolResponse, id: "other" } }]),
      payload([{ toolCall }, { toolResponse: { ...toolResponse, id: undefined } }, { text: "Found." }], {
        finishReason: "STOP",
      }),
    ]);
    const ids = sealed(turn).map((data) => (data["toolCall"] ?? data["toolResponse"]) as { readonly id?: string });
    expect(ids.map(({ id }) => id)).toEqual(["search_1", "search_1", "g1", "g1"]);
  });

  test(verifies("N69", "without a call, the queries of the grounding are the search"), () => {
    const turn = readPayloads("gemini", [
      payload([{ text: "Found." }], { finishReason: "STOP", groundingMetadata: grounding }),
    ]);
    expect(readSearches(turn)).toMatchObject({
      "": { arguments: { queries: ["sheaf", "sheaf agent"] }, output: "https://a.example/1 a.example" },
    });
  });

  test(verifies("N69", "code that ran, and an image"), () => {
    const turn = readPayloads("gemini", [
      payload([{ executableCode: { id: "x", language: "PYTHON", code: "print(1)" } }]),
      payload([{ codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } }]),
      payload([{ executableCode: { id: "y", language: "PYTHON", code: "1/0" } }]),
      payload([{ codeExecutionResult: { outcome: "OUTCOME_FAILED", output: "ZeroDivisionError" } }]),
      payload([{ inlineData: { mimeType: "image/png", data: "AAAA" } }], { finishReason: "STOP" }),
    ]);
    expect(readSearches(turn)).toMatchObject({
      x: { toolName: "code_execution", arguments: { language: "PYTHON", code: "print(1)" }, output: "1\n" },
      y: { status: "error", code: "PROVIDER_TOOL_FAILED" },
      "": { toolName: "image_generation", output: "image/png, 3 bytes" },
    });
  });
});
