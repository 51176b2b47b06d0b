/** Images and PDF on the wire, in the shapes of the providers' documentation. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attach, createGif, createPng, pdf } from "../../../../test/support/images.ts";
import { createModelServer, type ModelServer } from "../../../../test/support/model-server.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { WireProtocol } from "../../src/endpoint.ts";
import type { ModelMessage } from "../../src/provider.ts";
import { createLiveSetup, createRequest, protocols, readOutcome, shortAnswers } from "./live-setup.ts";

const png = attach(createPng(4, 3), "shot.png");
const document = attach(pdf, "spec.pdf");
const image = `data:image/png;base64,${png.data}`;
const file = `data:application/pdf;base64,${document.data}`;

/** A prompt with both; a call whose result has an image, and one beside it. */
const messages: readonly ModelMessage[] = [
  { role: "user", text: "Compare", attachments: [png, document] },
  {
    role: "assistant",
    content: [
      { type: "tool_call", callId: "call_1", toolName: "read_file", arguments: { target_file: "shot.png" } },
      { type: "tool_call", callId: "call_2", toolName: "list_dir", arguments: {} },
    ],
  },
  { role: "tool", callId: "call_1", toolName: "read_file", output: "shot.png", isError: false, attachments: [png] },
  { role: "tool", callId: "call_2", toolName: "list_dir", output: "a.md", isError: false },
];

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

async function send(
  protocol: WireProtocol,
  given: readonly ModelMessage[] = messages,
  options: Parameters<typeof createLiveSetup>[2] = {},
): Promise<Record<string, unknown>> {
  server.answer({ chunks: shortAnswers[protocol] });
  const { error } = await readOutcome(
    createLiveSetup(protocol, server.url, options).model,
    createRequest({ messages: given }),
  );
  expect(error).toBeUndefined();
  return JSON.parse(server.requests.at(-1)?.body ?? "") as Record<string, unknown>;
}

describe("images and PDF on the wire", () => {
  // platform.claude.com/docs/en/build-with-claude/vision, …/pdf-support, …/tool-use/handle-tool-calls
  test(verifies("N68", "Anthropic: image and document blocks, in prompts and in tool results"), async () => {
    const body = await send("anthropic-messages");
    const source = { type: "base64", media_type: "image/png", data: png.data };
    expect(body["messages"]).toMatchObject([
      {
        role: "user",
        content: [
          { type: "image", source },
          { type: "document", source: { type: "base64", media_type: "application/pdf", data: document.data } },
          { type: "text", text: "Compare" },
        ],
      },
      { role: "assistant" },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            content: [
              { type: "text", text: "shot.png" },
              { type: "image", source },
            ],
          },
          { type: "tool_result", content: "a.md" },
        ],
      },
    ]);
  });

  // platform.openai.com/docs/guides/images-vision, …/pdf-files, …/function-calling
  test(verifies("N68", "Responses: input_image and input_file, in prompts and in outputs of functions"), async () => {
    const body = await send("openai-responses");
    expect(body["input"]).toMatchObject([
      { role: "developer" },
      {
        role: "user",
        content: [
          { type: "input_image", image_url: image },
          { type: "input_file", filename: "spec.pdf", file_data: file },
          { type: "input_text", text: "Compare" },
        ],
      },
      { type: "function_call" },
      { type: "function_call" },
      {
        type: "function_call_output",
        output: [
          { type: "input_text", text: "shot.png" },
          { type: "input_image", image_url: image },
        ],
      },
      { type: "function_call_output", output: "a.md" },
    ]);
  });

  // platform.openai.com/docs/api-reference/chat/create: tool messages take text only
  test(verifies("N68", "chat completions: a user message after all results has the images of results"), async () => {
    const body = await send("openai-chat", [...messages, { role: "user", text: "Go on" }]);
    expect(body["messages"]).toMatchObject([
      { role: "system" },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: image } },
          { type: "file", file: { filename: "spec.pdf", file_data: file } },
          { type: "text", text: "Compare" },
        ],
      },
      { role: "assistant" },
      { role: "tool", tool_call_id: "call_1", content: "shot.png" },
      { role: "tool", tool_call_id: "call_2", content: "a.md" },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: image } },
          { type: "text", text: "(Attached to the result of read_file, call call_1: shot.png)\n\nGo on" },
        ],
      },
    ]);
  });

  // ai.google.dev/gemini-api/docs/image-understanding, …/document-processing, …/function-calling (multimodal responses)
  test(verifies("N68", "Gemini: inline data in prompts, and as parts of function responses"), async () => {
    const body = await send("gemini");
    const inlineData = { mimeType: "image/png", data: png.data };
    expect(body["contents"]).toMatchObject([
      {
        role: "user",
        parts: [
          { inlineData },
          { inlineData: { mimeType: "application/pdf", data: document.data } },
          { text: "Compare" },
        ],
      },
      { role: "model" },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "read_file", response: { content: "shot.png" }, parts: [{ inlineData }] } },
          { functionResponse: { name: "list_dir", response: { content: "a.md" } } },
        ],
      },
    ]);
  });

  test(verifies("N68", "older Gemini models: the image follows the function response"), async () => {
    const body = await send("gemini", messages, { endpoint: { modelId: "gemini-2.5-pro" } });
    expect((body["contents"] as { parts: unknown[] }[])[2]?.parts).toMatchObject([
      { functionResponse: { name: "read_file", response: { content: "shot.png" } } },
      { inlineData: { mimeType: "image/png", data: png.data } },
      { text: expect.any(String) },
      { functionResponse: { name: "list_dir" } },
    ]);
  });

  test(verifies("N67", "Gemini takes no GIF: a line of text says so"), async () => {
    const gif = attach(createGif(1, 1), "a.gif");
    const body = await send("gemini", [{ role: "user", text: "Look", attachments: [gif] }]);
    const text = "Look\n[a.gif (image/gif, 1 x 1 px, 13 bytes) is not shown: this model does not take image/gif]";
    expect(body["contents"]).toEqual([{ role: "user", parts: [{ text }] }]);
  });

  test.each(protocols)(verifies("N67", "%s: what is configured to take no images gets none"), async (protocol) => {
    await send(protocol, messages, { endpoint: { takesImages: false } });
    const body = server.requests.at(-1)?.body ?? "";
    expect(body).not.toContain(png.data);
    expect(body).toContain("shot.png (image/png, 4 x 3 px, 33 bytes) is not shown");
  });

  test.each([
    [400, '{"error":{"message":"Invalid content type. image_url is only supported by certain models."}}'],
    [404, '{"error":{"message":"No endpoints found that support image input"}}'],
    [500, '{"error":{"message":"image input is not supported - hint: you may need to provide the mmproj"}}'],
  ])(verifies("N67", "a %s about images says how to go on, once"), async (status, body) => {
    server.answer({ status, chunks: [body] });
    const before = server.requests.length;
    const { model } = createLiveSetup("openai-chat", server.url, { endpoint: { displayName: "lab/small" } });
    const { error } = await readOutcome(model, createRequest({ messages }));
    expect(error?.code).toBe("PROVIDER_REJECTED");
    expect(error?.message).toContain(
      'go on without images and PDF: put {"images":{"lab/small":false}} into the configuration',
    );
    expect(server.requests.length - before).toBe(1);
  });

  test(verifies("N67", "without attachments the same words say nothing of the setting"), async () => {
    server.answer({ status: 400, chunks: ['{"error":{"message":"the image of the container is missing"}}'] });
    const { error } = await readOutcome(createLiveSetup("openai-chat", server.url).model);
    expect(error?.message).not.toContain('"images"');
  });
});
