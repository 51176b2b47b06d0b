/** The chat of the AI SDK with its own transport, which knows the address and the token only (X22, X23). */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  AbstractChat,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai";
import type { ChatResponse, ConversationSummary } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const folders = createTestFolder();
const start = (script?: unknown, args: readonly string[] = []): Promise<TestApp> => openApp({ script, args });

type State = ConstructorParameters<typeof AbstractChat<UIMessage>>[0]["state"];

/** What the hooks of the frameworks are made of, without a framework. */
class Chat extends AbstractChat<UIMessage> {
  constructor(server: TestApp, body: object = {}, id = "my chat", messages: UIMessage[] = []) {
    const state: State = {
      status: "ready",
      error: undefined,
      messages,
      pushMessage: (message) => (state.messages = [...state.messages, message]),
      popMessage: () => (state.messages = state.messages.slice(0, -1)),
      replaceMessage: (index, message) => (state.messages = state.messages.with(index, structuredClone(message))),
      snapshot: structuredClone,
    };
    const transport = new DefaultChatTransport<UIMessage>({
      api: `${server.address}/v1/ui/chat`,
      headers: { Authorization: `Bearer ${server.token}` },
      body,
      fetch: (address, init) => server.request(new Request(address).url, init),
    });
    super({ id, state, transport, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
  }
}

const textOf = ({ parts }: UIMessage): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("");
const toolsOf = (chat: Chat) => (chat.lastMessage?.parts ?? []).filter((part) => part.type === "dynamic-tool");
const waitForEnd = async (chat: Chat, text: string): Promise<void> => {
  await expect.poll(() => [chat.status, textOf(chat.lastMessage!)], { timeout: 20_000 }).toEqual(["ready", text]);
};

const listMessages = async (server: TestApp): Promise<string[][]> => {
  const whole = (await server.listConversations()).map(({ id }) => server.readConversation(id));
  return (await Promise.all(whole)).map(({ turns }) => turns.map(({ message }) => message));
};

const write = (name: string, contents: string) => ({
  call: { tool: "write_file", arguments: { target_file: name, contents } },
});

describe("POST /v1/ui/chat", () => {
  test(verifies("X22", "a chat is one conversation, with reasoning and tools"), async () => {
    const server = await start({
      turns: [
        {
          events: [
            { reasoning: "I must look." },
            { text: "I look." },
            { call: { tool: "read_file", arguments: { target_file: "README.md" } } },
          ],
        },
        { events: [{ text: "A project." }] },
        { events: [{ text: "Again." }] },
      ],
    });
    const chat = new Chat(server);
    await chat.sendMessage({ text: "One" });
    expect(chat.error).toBeUndefined();
    expect(chat.lastMessage!.id).toMatch(/^chat_/);
    // forms.test.ts has the parts in detail.
    expect(chat.lastMessage!.parts.map(({ type }) => type)).toEqual([
      "step-start",
      "reasoning",
      "text",
      "dynamic-tool",
      "step-start",
      "text",
    ]);
    await chat.sendMessage({ text: "Two" });
    expect(textOf(chat.lastMessage!)).toBe("Again.");
    expect(await listMessages(server)).toEqual([["One", "Two"]]);
    // Another device that knows the id goes on with it, by either name.
    const { conversationId } = chat.lastMessage!.metadata as { readonly conversationId: string };
    const other = new Chat(server, { accept: { reasoning: false } }, conversationId);
    await other.sendMessage({ text: "Three" });
    await new Chat(server, {}, "another chat").sendMessage({ text: "Four" });
    expect(await listMessages(server)).toEqual([["Four"], ["One", "Two", "Three"]]);
    const missing = new Chat(server, {}, "conv_missing");
    await missing.sendMessage({ text: "Five" });
    expect(missing.error!.message).toMatch(/^NOT_FOUND: the conversation "conv_missing"/);
  });

  test(verifies("X22", "regenerate and an edited message revert what they replace, files too"), async () => {
    // A scripted model answers by the length of the history: the first message gets the first two turns.
    const turns = [
      { events: [write("a.txt", "one\n")] },
      { events: [{ text: "First." }] },
      { events: [{ text: "Second." }] },
    ];
    const server = await start({ turns });
    const readOperations = async (chat: Chat): Promise<unknown> => {
      const { documents } = await server.read<ChatResponse>(`/v1/responses/${chat.lastMessage!.id}`);
      return documents.flatMap((document) => (document.type === "file_edit" ? document.metadata.operation : []));
    };
    const chat = new Chat(server);
    await chat.sendMessage({ text: "One" });
    const { id } = chat.lastMessage!;
    await chat.regenerate();
    expect([chat.error, textOf(chat.lastMessage!)]).toEqual([undefined, "First."]);
    expect(chat.lastMessage!.id).not.toBe(id);
    expect(await readOperations(chat)).toEqual(["create"]);
    await chat.sendMessage({ text: "Two" });
    await chat.sendMessage({ text: "Uno", messageId: chat.messages[0]!.id });
    expect(chat.error).toBeUndefined();
    expect(chat.messages.map(textOf)).toEqual(["Uno", "First."]);
    expect(await readOperations(chat)).toEqual(["create"]);
    expect(await listMessages(server)).toEqual([["Uno"]]);
    writeFileSync(join(server.cwd, "a.txt"), "mine\n");
    await chat.regenerate();
    expect(chat.error!.message).toMatch(/^FILES_CHANGED: .*onConflict/);
    expect(readFileSync(join(server.cwd, "a.txt"), "utf8")).toBe("mine\n");
  });

  test(verifies(["X22", "X9"], "regenerate that comes again reverts nothing that it made"), async () => {
    const server = await start();
    const message = { id: "1", role: "user", parts: [{ type: "text", text: "One" }] };
    const post = (body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      server.send("POST", "/v1/ui/chat", { id: "my chat", messages: [message], ...body }, { headers });
    await (await post({})).text();
    const ids: (string | null)[] = [];
    for (const key of ["a", "a", "b"]) {
      const answer = await post({ trigger: "regenerate-message" }, { "Idempotency-Key": key });
      ids.push(answer.headers.get("x-response-id"));
      await answer.text();
      expect(await listMessages(server)).toEqual([["One"]]);
    }
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[1]);
  });

  test(verifies("X22", "a chat that two first messages begin at the same moment stays in one workspace"), async () => {
    const other = folders.newFolder();
    const cwd = folders.newFolder();
    const server = await openApp({
      cwd,
      home: `${cwd}-home`,
      args: ["--workspace", `one=${cwd}`, "--workspace", `two=${other}`],
    });
    const send = async (workspace: string): Promise<void> => {
      const chat = new Chat(server, { workspace, whenBusy: "queue" });
      await chat.sendMessage({ text: workspace });
    };
    await Promise.all(["one", "two", "one", "two"].map(send));
    const conversations = await server.listConversations();
    expect(conversations).toHaveLength(1);
    const [{ id, workspace }] = conversations as [ConversationSummary];
    const { turns } = await server.readConversation(id);
    const root = workspace === "one" ? cwd : other;
    for (const { response } of turns) {
      const events = await server.fetch(`/v1/responses/${response.id}/events?format=stream-json`);
      expect(await events.text()).toContain(`"cwd":${JSON.stringify(root)}`);
    }
  });

  test(verifies(["X22", "S-55"], "the whole chat may be larger than one message may be"), async () => {
    const server = await start();
    const words = "a".repeat(1024 * 1024 + 1);
    const chat = new Chat(server, {}, "my chat", [{ id: "0", role: "user", parts: [{ type: "text", text: words }] }]);
    await chat.sendMessage({ text: "One" });
    expect(chat.error).toBeUndefined();
    await chat.sendMessage({ text: words });
    expect(chat.error!.message).toMatch(/^PAYLOAD_TOO_LARGE: /);
  });

  test(verifies("X22", "stop cancels the run, and the chat goes on"), async () => {
    const server = await start({
      turns: [{ events: [{ text: "Begun." }, { wait_ms: 60_000 }] }, { events: [{ text: "Next." }] }],
    });
    const chat = new Chat(server);
    const sent = chat.sendMessage({ text: "One" });
    await expect.poll(() => chat.lastMessage && textOf(chat.lastMessage)).toBe("Begun.");
    const { id } = chat.lastMessage!;
    await chat.stop();
    await sent;
    await expect
      .poll(async () => (await server.fetch(`/v1/responses/${id}`)).json())
      .toMatchObject({ metadata: { finishReason: "cancelled" } });
    await chat.sendMessage({ text: "Two" });
    expect([chat.error, textOf(chat.lastMessage!)]).toEqual([undefined, "Next."]);
  });

  test(verifies("X22", "failures reach the chat, before the stream and in it"), async () => {
    const server = await start({
      turns: [{ events: [{ error: { code: "OVERLOADED", message: "full" } }] }],
      after: "loop",
    });
    const chat = new Chat(server);
    await chat.sendMessage({ text: "One" });
    expect([chat.status, chat.error!.message]).toEqual(["error", expect.stringMatching(/^OVERLOADED: /)]);
    const wrong = new Chat(server, { mode: "fast" });
    await wrong.sendMessage({ text: "One" });
    expect(wrong.error!.message).toMatch(/^USAGE: the body is not valid at mode/);
    const picture = new Chat(server);
    await picture.sendMessage({ files: [{ type: "file", mediaType: "image/png", url: "https://example.org/a.png" }] });
    expect(picture.error!.message).toMatch(/^USAGE: .*is not a file/);
  });
});

test(verifies("X22", "calls are shown while they are written where nothing is asked"), async () => {
  const read = (name: string) => ({ tool: "read_file", arguments: { target_file: name } });
  const server = await start({
    turns: [{ events: [{ calls: [read("a"), read("b")] }] }, { events: [{ text: "Done." }] }],
  });
  const message = { id: "2", role: "user", parts: [{ type: "text", text: "go" }] };
  const answer = await server.send("POST", "/v1/ui/chat", { id: "1", messages: [message] });
  const types = [...(await answer.text()).matchAll(/"type":"(tool-(?:input-start|output-error))"/g)].map(
    ([, type]) => type,
  );
  expect(types).toEqual(["tool-input-start", "tool-input-start", "tool-output-error", "tool-output-error"]);
});

describe("approvals", () => {
  const command = (text: string) => ({ tool: "run_terminal_cmd", arguments: { command: text } });
  const script = {
    turns: [
      {
        events: [
          { text: "I run. " },
          {
            calls: [
              { tool: "read_file", arguments: { target_file: "README.md" } },
              command("node -p 6*7"),
              command("node -p 7*7"),
            ],
          },
        ],
      },
      { events: [{ text: "Done." }] },
      { events: [{ text: "Next." }] },
    ],
  };

  const record = (server: TestApp) => {
    const bodies: Promise<string>[] = [];
    const request: TestApp["request"] = async (...asked) => {
      const answer = await server.request(...asked);
      bodies.push(answer.clone().text());
      return answer;
    };
    return { bodies, request };
  };

  test(verifies("X23", "each question ends the stream; its answer brings the rest"), async () => {
    const server = await start(script, ["--sandbox", "disabled"]);
    const { bodies, request } = record(server);
    const chat = new Chat({ ...server, request }, { approvals: "ask" });
    await chat.sendMessage({ text: "One" });
    const states = (): string[] => toolsOf(chat).map(({ state }) => state);
    const answer = (approved: boolean, reason?: string) => {
      const part = toolsOf(chat).find(({ state }) => state === "approval-requested")!;
      return chat.addToolApprovalResponse({ id: part.approval!.id, approved, ...(reason && { reason }) });
    };
    expect([chat.status, states()]).toEqual(["ready", ["output-available", "approval-requested"]]);
    await answer(true);
    await expect.poll(states).toEqual(["output-available", "output-available", "approval-requested"]);
    await expect.poll(() => chat.status).toBe("ready");
    await answer(false, "not that one");
    await waitForEnd(chat, "I run. Done.");
    expect(chat.error).toBeUndefined();
    expect(toolsOf(chat)).toMatchObject([
      { toolName: "read_file" },
      { toolName: "run_terminal_cmd", output: "42\n", approval: { approved: true } },
      { toolName: "run_terminal_cmd", state: "output-denied", approval: { approved: false } },
    ]);
    expect((await Promise.all(bodies)).join("")).not.toContain("tool-approval-response");
    expect(chat.messages).toHaveLength(2);
    const path = `/v1/responses/${chat.lastMessage!.id}/events?format=stream-json`;
    expect(await (await server.fetch(path)).text()).toContain("not that one");
    await chat.sendMessage({ text: "Two" });
    expect(textOf(chat.lastMessage!)).toBe("Next.");
  });

  test(verifies("X23", "a page that was loaded again finds the open question, and answers it"), async () => {
    const server = await start(script, ["--sandbox", "disabled"]);
    const chat = new Chat(server, { approvals: "ask" });
    await chat.sendMessage({ text: "One" });
    const { bodies, request } = record(server);
    const asked = structuredClone(chat.messages.slice(0, 1));
    const again = new Chat({ ...server, request }, { approvals: "ask" }, "my chat", asked);
    for (const approved of [true, true]) {
      if (approved) await again.resumeStream();
      const part = toolsOf(again).find(({ state }) => state === "approval-requested")!;
      await again.addToolApprovalResponse({ id: part.approval!.id, approved });
      await expect.poll(() => toolsOf(again).filter(({ state }) => state === "approval-requested")).not.toEqual([part]);
      await expect.poll(() => again.status).toBe("ready");
    }
    await waitForEnd(again, "I run. Done.");
    expect(toolsOf(again).map(({ output }) => output)).toEqual(["# A project\n", "42\n", "49\n"]);
    expect((await Promise.all(bodies)).join("")).not.toContain("tool-approval-response");
    await again.resumeStream();
    expect([again.status, again.messages.length]).toEqual(["ready", 2]);
  });

  test(verifies("X23", "a message instead of an answer cancels what waits"), async () => {
    const server = await start({ turns: [script.turns[0], script.turns[2]] }, ["--sandbox", "disabled"]);
    const chat = new Chat(server, { approvals: "ask" });
    await chat.sendMessage({ text: "One" });
    await chat.sendMessage({ text: "Two" });
    expect([chat.error, textOf(chat.lastMessage!)]).toEqual([undefined, "Next."]);
  });

  test(verifies(["X22", "X23"], "regenerate instead of an answer ends what waits, and asks again"), async () => {
    const server = await start(script, ["--sandbox", "disabled"]);
    const chat = new Chat(server, { approvals: "ask" });
    await chat.sendMessage({ text: "One" });
    const { id } = chat.lastMessage!;
    await chat.regenerate();
    expect(chat.error).toBeUndefined();
    expect(chat.lastMessage!.id).not.toBe(id);
    expect(toolsOf(chat).at(-1)).toMatchObject({ state: "approval-requested" });
    expect(await listMessages(server)).toEqual([["One"]]);
  });

  test(verifies("X23", "a chat of somebody else, and an answer to nothing, are refused"), async () => {
    const server = await start(script, ["--sandbox", "disabled"]);
    const chat = new Chat(server, { approvals: "ask" });
    await chat.sendMessage({ text: "One" });
    const stranger = new Chat(server, {}, "another chat", structuredClone(chat.messages));
    await stranger.sendMessage();
    expect(stranger.error!.message).toMatch(/^NOT_FOUND: the response/);
    await chat.sendMessage();
    expect(chat.error!.message).toMatch(/^USAGE: .*answers no question/);
    expect((await server.fetch("/v1/ui/chat/unknown/stream")).status).toBe(204);
  });
});
