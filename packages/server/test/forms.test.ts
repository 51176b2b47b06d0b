/** Other wire forms of the same log, read by the programs that they are for (X17). */
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const start = (script: unknown): Promise<TestApp> => openApp({ script });

const script = {
  turns: [
    {
      events: [
        { reasoning: "I must look." },
        { text: "I read two files. ", chunk: 4 },
        {
          calls: [
            { tool: "read_file", arguments: { target_file: "README.md" }, chunk: 5 },
            { tool: "read_file", arguments: { target_file: "missing.md" } },
          ],
        },
      ],
    },
    { events: [{ text: "Done.\n\n```js\nlet a;\n```\n", chunk: 3 }] },
  ],
  after: "loop",
};

/** Talks to the server as a front end of the AI SDK does. */
function createTransport(server: TestApp, reasoning = false): DefaultChatTransport<UIMessage> {
  return new DefaultChatTransport({
    api: `${server.address}/v1/chat?format=ai-sdk-ui`,
    fetch: (address, init) => server.fetch(new Request(address).url, init),
    prepareSendMessagesRequest: ({ messages }) => ({
      body: {
        message: messages
          .at(-1)!
          .parts.map((part) => (part.type === "text" ? part.text : ""))
          .join(""),
        stream: true,
        accept: { reasoning },
      },
    }),
    prepareReconnectToStreamRequest: ({ id }) => ({
      api: `${server.address}/v1/responses/${id}/events?format=ai-sdk-ui`,
    }),
  });
}

const user: UIMessage = { id: "1", role: "user", parts: [{ type: "text", text: "go" }] };

async function readMessage(
  stream: Awaited<ReturnType<DefaultChatTransport<UIMessage>["sendMessages"]>>,
): Promise<{ readonly message: UIMessage | undefined; readonly errors: readonly string[] }> {
  const errors: string[] = [];
  let message: UIMessage | undefined;
  const onError = (error: unknown): void => void errors.push((error as Error).message);
  for await (const state of readUIMessageStream({ stream, onError, terminateOnError: false })) message = state;
  return { message, errors };
}

const send = (transport: DefaultChatTransport<UIMessage>): ReturnType<typeof transport.sendMessages> =>
  transport.sendMessages({
    chatId: "1",
    messageId: undefined,
    messages: [user],
    trigger: "submit-message",
    abortSignal: undefined,
  });

describe("the AI SDK's own reader", () => {
  test(verifies("X17", "shows text, reasoning, tools and their failures"), async () => {
    const server = await start(script);
    const { message, errors } = await readMessage(await send(createTransport(server, true)));
    expect(errors).toEqual([]);
    expect(message!.id).toMatch(/^chat_/);
    expect(message!.metadata).toMatchObject({ conversationId: expect.stringMatching(/^conv_/), mode: "agent" });
    expect(message!.parts).toMatchObject([
      { type: "step-start" },
      { type: "reasoning", text: "I must look.", state: "done" },
      { type: "text", text: "I read two files. ", state: "done" },
      {
        type: "dynamic-tool",
        toolName: "read_file",
        state: "output-available",
        input: { target_file: "README.md" },
        output: "# A project\n",
      },
      {
        type: "dynamic-tool",
        toolName: "read_file",
        state: "output-error",
        errorText: expect.stringContaining("FILE_NOT_FOUND"),
      },
      { type: "step-start" },
      { type: "text", text: "Done.\n\n```js\nlet a;\n```\n", state: "done" },
    ]);
    const again = await readMessage((await createTransport(server).reconnectToStream({ chatId: message!.id }))!);
    expect(again.message!.parts).toEqual(message!.parts.filter(({ type }) => type !== "reasoning"));
  });

  test(verifies("X17", "learns why an answer failed, and that it was cancelled"), async () => {
    const failing = await start({
      turns: [{ events: [{ text: "Begun. " }, { error: { code: "OVERLOADED", message: "too much" } }] }],
    });
    const failed = await readMessage(await send(createTransport(failing)));
    expect(failed.errors).toEqual([expect.stringContaining("OVERLOADED: ")]);
    expect(failed.message!.parts).toMatchObject([{ type: "step-start" }, { type: "text", text: "Begun. " }]);
    const waiting = await start({ turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }] }] });
    const stream = await send(createTransport(waiting));
    const [forLater, forId] = stream.tee();
    const reader = forId.getReader();
    const { value } = await reader.read();
    await waiting.fetch(`/v1/responses/${(value as { messageId: string }).messageId}/cancel`, { method: "POST" });
    const types: string[] = [];
    for await (const chunk of forLater) types.push(chunk.type);
    expect(types).toEqual(["start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "abort"]);
  });
});
