import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { type ChatsOptions, type ChatsStore, createChats } from "../src/chat.ts";
import { createClient, SheafApiError, type SheafClient } from "../src/index.ts";
import { openConversation, waitForEnd, waitForState } from "./open-conversation.ts";

const hello = { events: [{ text: "Hello." }] };
const slow = { events: [{ text: "Begun." }, { wait_ms: 600_000 }] };
const command = { events: [{ call: { tool: "run_terminal_cmd", arguments: { command: "node -e 0" } } }] };

async function openChats(client: SheafClient, options: ChatsOptions = {}): Promise<ChatsStore> {
  const chats = createChats(client, options);
  onTestFinished(chats.close);
  chats.open();
  await expect.poll(() => chats.getSnapshot().status).toBe("ready");
  return chats;
}

const toAddress = (input: string | URL | Request): string => (input instanceof Request ? input.url : input.toString());
const toTitles = (chats: ChatsStore): string[] => chats.getSnapshot().conversations.map(({ title }) => title);

test(verifies("C230", "a list shows what runs, waits and is unread, and what was deleted"), async () => {
  const { app, client } = await openConversation([command, hello]);
  const chats = await openChats(client);
  expect(chats.getSnapshot()).toMatchObject({ conversations: [], hasMore: false });
  const first = await app.chat({ message: "one", approvals: "ask", stream: true });
  const id = first.headers.get("x-conversation-id")!;
  await expect.poll(() => [...chats.getSnapshot().waiting]).toEqual([id]);
  const [{ runningResponseId, approvals } = { approvals: undefined }] = chats.getSnapshot().conversations;
  await client.resolveApproval(runningResponseId!, approvals![0]!.approvalId, { optionId: "allow_once" });
  await expect.poll(() => [...chats.getSnapshot().unread]).toEqual([id]);
  expect(chats.getSnapshot().waiting.size).toBe(0);
  chats.show(id);
  expect(chats.getSnapshot().unread.size).toBe(0);
  await app.ask({ message: "two", conversationId: id });
  const other = await app.ask({ message: "three" });
  await expect.poll(() => toTitles(chats)).toEqual(["three", "one"]);
  await expect.poll(() => [...chats.getSnapshot().unread]).toEqual([other.conversationId]);
  await client.changeConversation(id, { pinned: true });
  await expect.poll(() => toTitles(chats)).toEqual(["one", "three"]);
  await client.deleteConversation(other.conversationId);
  await expect.poll(() => toTitles(chats)).toEqual(["one"]);
  expect(chats.getSnapshot().unread.size).toBe(0);
});

test(verifies("C230", "another view shows the message, its answer, its approval, and stops it"), async () => {
  const { app, client, open } = await openConversation([hello, command, slow]);
  const { conversationId: id } = await app.ask({ message: "one" });
  const chats = await openChats(client);
  const view = open({ id, chats });
  await view.load();
  void app.chat({ message: "two", conversationId: id, approvals: "ask", stream: true });
  await waitForState(view, ({ approvals }) => approvals.length === 1);
  expect(view.getSnapshot().turns.map(({ message }) => message)).toEqual(["one", "two"]);
  await view.decide(view.getSnapshot().approvals[0]!.approvalId, { optionId: "allow_once" });
  await waitForState(view, ({ turns }) => JSON.stringify(turns.at(-1)).includes("Begun."));
  expect(await view.cancel()).toBe(true);
  await waitForEnd(view);
  expect(view.getSnapshot().turns.at(-1)?.response.metadata.finishReason).toBe("cancelled");
  await client.changeConversation(id, { title: "Another" });
  await waitForState(view, ({ title }) => title === "Another");
  await client.revertConversation(id, view.getSnapshot().turns.at(-1)!.response.id);
  await waitForState(view, ({ turns }) => turns.length === 1);
});

test(verifies("C230", "a hidden conversation holds no stream, and has everything once it is shown again"), async () => {
  const turn = { events: [{ text: "One. " }, { wait_ms: 300 }, { text: "Two." }] };
  const { app, conversation } = await openConversation([turn]);
  await conversation.send({ message: "go" });
  conversation.setShown(false);
  const readMetrics = async (): Promise<string> => (await app.fetch("/metrics")).text();
  await expect.poll(readMetrics).toMatch(/^sheaf_streams_open 0$/m);
  await new Promise((resolve) => void setTimeout(resolve, 500));
  expect(conversation.getSnapshot().isAnswering).toBe(true);
  conversation.setShown(true);
  await waitForEnd(conversation);
  expect(conversation.getSnapshot().turns[0]!.response.documents[0]!.content).toBe("One. Two.");
});

test(verifies("C230", "a broken connection loses nothing, and a refusal is shown"), async () => {
  const { app } = await openConversation([hello]);
  const bodies: AbortController[] = [];
  const send: typeof fetch = (input, init) => {
    const cut = new AbortController();
    bodies.push(cut);
    return app.fetch(toAddress(input), { ...init, signal: AbortSignal.any([cut.signal, init!.signal!]) });
  };
  const options = { baseUrl: app.address, reconnect: { delayMs: 0, maxDelayMs: 0 } };
  const seen: string[] = [];
  const chats = await openChats(createClient({ ...options, fetch: send }), {
    onEvent: ({ event }) => seen.push(event),
  });
  bodies[0]!.abort();
  const { conversationId } = await app.ask({ message: "one" });
  await expect.poll(() => [...chats.getSnapshot().unread]).toEqual([conversationId]);
  expect(seen.filter((event) => event === "snapshot")).toHaveLength(1);
  const refused = createChats(createClient({ ...options, fetch: async (input) => app.request(toAddress(input)) }));
  onTestFinished(refused.close);
  refused.open();
  await expect.poll(() => refused.getSnapshot().status).toBe("failed");
  expect(refused.getSnapshot().error).toBeInstanceOf(SheafApiError);
});

test(verifies("C230", "tabs of one name share a stream; when its tab is closed, another one goes on"), async () => {
  const { app, client } = await openConversation([hello]);
  let open = 0;
  const counted: SheafClient = {
    ...client,
    async *readUserEvents(options) {
      open += 1;
      try {
        yield* client.readUserEvents(options);
      } finally {
        open -= 1;
      }
    },
  };
  const tabs = await Promise.all([1, 2, 3].map(() => openChats(counted, { share: `tabs ${app.home}` })));
  expect(open).toBe(1);
  await app.ask({ message: "one" });
  for (const tab of tabs) await expect.poll(() => toTitles(tab)).toEqual(["one"]);
  tabs[0]!.close();
  await expect.poll(() => open).toBe(1);
  await app.ask({ message: "two" });
  for (const tab of tabs.slice(1)) await expect.poll(() => toTitles(tab)).toEqual(["two", "one"]);
  expect(open).toBe(1);
});

test(verifies("C230", "a tab that opens while no tab reads gets the list from the next one that does"), async () => {
  const { app, client } = await openConversation([hello]);
  await app.ask({ message: "one" });
  const share = `tabs ${app.home}`;
  const first = await openChats(client, { share });
  const between = Promise.withResolvers<void>();
  const isBetween = Promise.withResolvers<void>();
  void navigator.locks.request(share, () => {
    isBetween.resolve();
    return between.promise;
  });
  const second = await openChats(client, { share });
  first.close();
  await isBetween.promise;
  const third = createChats(client, { share });
  onTestFinished(third.close);
  third.open();
  // The second tab has its question, and may not answer it.
  await new Promise((resolve) => void setTimeout(resolve, 100));
  between.resolve();
  await expect.poll(() => toTitles(third)).toEqual(["one"]);
  expect(toTitles(second)).toEqual(["one"]);
});

test(verifies("C230", "a tab whose stream was refused shows what another tab reads"), async () => {
  const { app, client } = await openConversation([hello]);
  const refusal = Promise.withResolvers<never>();
  const refused: SheafClient = {
    ...client,
    async *readUserEvents(options) {
      for await (const event of client.readUserEvents(options)) {
        yield event;
        await refusal.promise;
      }
    },
  };
  const share = `tabs ${app.home}`;
  const first = await openChats(refused, { share });
  const second = await openChats(client, { share });
  refusal.reject(new Error("The server stops."));
  await expect.poll(() => first.getSnapshot().status).toBe("failed");
  await new Promise((resolve) => void setTimeout(resolve, 100));
  expect(first.getSnapshot().status).toBe("failed");
  await app.ask({ message: "one" });
  await expect.poll(() => toTitles(first)).toEqual(["one"]);
  expect(toTitles(second)).toEqual(["one"]);
  expect(first.getSnapshot()).toMatchObject({ status: "ready", error: undefined });
});
