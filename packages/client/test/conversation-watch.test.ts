import type { ConversationSummary } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { createStore } from "../src/store.ts";
import type { ChatsState } from "../src/chat.ts";
import { openConversation, waitForEnd, waitForState } from "./open-conversation.ts";

/** A list that changes when the test says so. */
function openList() {
  const store = createStore({ conversations: [] as readonly ConversationSummary[] } as ChatsState);
  const set = (id: string, lastResponseId: string): void => {
    const entry = { id, title: "", lastResponseId } as ConversationSummary;
    store.set({ ...store.getSnapshot(), conversations: [entry] });
  };
  return { ...store, set };
}

test(verifies("C230", "a view follows a version that another view shows for the second time"), async () => {
  const { app, client, open } = await openConversation([{ events: [{ text: "Hello." }] }]);
  const { conversationId: id, id: first } = await app.ask({ message: "one" });
  const { id: second } = await app.ask({ message: "uno", conversationId: id, parentResponseId: null });
  await client.showBranch(id, first);
  const chats = openList();
  const view = open({ id, chats });
  await view.load();
  const isShown = (responseId: string) => waitForState(view, ({ turns }) => turns[0]?.response.id === responseId);
  await isShown(first);
  await client.showBranch(id, second);
  chats.set(id, second);
  await isShown(second);
  await view.show(first);
  chats.set(id, first);
  await client.showBranch(id, second);
  chats.set(id, second);
  await isShown(second);
  expect(view.getSnapshot().turns.map(({ message }) => message)).toEqual(["uno"]);
});

test(verifies("C230", "a view follows the next response, also if the list had it before the end"), async () => {
  const slow = { events: [{ text: "Begun." }, { wait_ms: 300 }, { text: "Done." }] };
  const { app, client, open } = await openConversation([slow, { events: [{ text: "Hello." }] }]);
  const first = await app.chat({ message: "one", stream: true });
  const id = first.headers.get("x-conversation-id")!;
  const chats = openList();
  const view = open({ id, chats });
  await view.load();
  const second = await app.chat({ message: "two", conversationId: id, whenBusy: "queue", stream: true });
  chats.set(id, second.headers.get("x-response-id")!);
  await waitForState(view, ({ turns }) => turns.length === 2);
  await waitForEnd(view);
  expect(view.getSnapshot().turns.map(({ message }) => message)).toEqual(["one", "two"]);
  expect((await client.getConversation(id)).turns).toHaveLength(2);
});
