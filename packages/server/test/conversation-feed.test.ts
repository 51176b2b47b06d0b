/** All conversations of a user as one stream. */
import { createPostgresStore } from "@sheaf/store/postgres";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { SharedStore } from "@sheaf/store/store";
import { describe, expect, onTestFinished, test } from "vitest";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { createWorkspace } from "../../../test/support/sheaf.ts";
import { has, openUserEvents } from "../../../test/support/user-events.ts";
import { verifies } from "../../../test/support/verifies.ts";

const call = { tool: "run_terminal_cmd", arguments: { command: "node -e 0" } };
const script = { turns: [{ events: [{ call }] }, { events: [{ text: "Done." }] }], after: "loop" };
const args = ["--sandbox", "disabled"];

type Pair = () => Promise<readonly [TestApp, TestApp]>;

/** Two servers of one store: what happens at the first one is watched at the second one. */
function testServers(title: string, openPair: Pair): void {
  describe(title, () => {
    test(verifies("C230", "a life of a conversation, watched at another server"), async () => {
      const [one, other] = await openPair();
      const events = await openUserEvents(other);
      expect(await events.next(({ event }) => event === "snapshot")).toMatchObject({ data: { conversations: [] } });
      const asked = await one.chat({ message: "go", stream: true, approvals: "ask" });
      const responseId = asked.headers.get("x-response-id")!;
      const id = asked.headers.get("x-conversation-id")!;
      const waiting = await events.next(has("approval_waiting"));
      if (waiting.event !== "conversation") throw new Error("another event");
      const [approval] = waiting.data.conversation.approvals ?? [];
      expect(waiting.data.conversation).toMatchObject({ id, title: "go", runningResponseId: responseId });
      await one.send("POST", `/v1/responses/${responseId}/approvals/${approval!.approvalId}`, {
        optionId: "allow_once",
      });
      const ended = await events.next(has("response_ended"));
      expect(ended.data).toMatchObject({ ended: { responseId, status: "completed", finishReason: "end_turn" } });
      expect(events.words().filter((word) => word.startsWith("approval_decided"))).toHaveLength(1);
      await one.send("PATCH", `/v1/conversations/${id}`, { title: "Another" });
      expect(await events.next(has("conversation_changed"))).toMatchObject({
        data: { conversation: { title: "Another" } },
      });
      await one.send("DELETE", `/v1/conversations/${id}`);
      expect(await events.next(({ event }) => event === "conversation_deleted")).toMatchObject({
        data: { conversationId: id },
      });
    });

    test(verifies("C230", "whoever comes again gets what is missing, at another server a snapshot"), async () => {
      const [one, other] = await openPair();
      const first = await openUserEvents(one);
      await first.next(({ event }) => event === "snapshot");
      const started = await one.chat({ message: "one", approvals: "deny" });
      await first.next(has("response_ended"));
      first.close();
      await one.chat({ message: "two", approvals: "deny" });
      const again = await openUserEvents(one, first.seen.at(-1)!.id);
      await again.next(has("response_ended"));
      expect(again.seen.map(({ event }) => event)).not.toContain("snapshot");
      expect(again.words().join()).not.toContain(started.headers.get("x-conversation-id"));
      const elsewhere = await openUserEvents(other, again.seen.at(-1)!.id);
      await elsewhere.next(({ event }) => event === "snapshot");
      expect(elsewhere.words()[0]).toBe("snapshot 2");
    });
  });
}

testServers("one file", async () => {
  const home = createWorkspace(onTestFinished);
  const open = async (name: string): Promise<TestApp> => {
    const store = createSqliteStore(`${home}/shared.sqlite`);
    const app = await openApp({ script, args, store, cwd: home, home: `${home}-${name}` });
    onTestFinished(() => store.close());
    return app;
  };
  return [await open("a"), await open("b")];
});

describeWithPostgres("one database", (postgres) => {
  testServers("two servers", async () => {
    const address = await postgres.createDatabase();
    const cwd = createWorkspace(onTestFinished);
    const open = async (name: string): Promise<TestApp> => {
      const store: SharedStore = await createPostgresStore(address);
      const app = await openApp({ script, args, store, cwd, home: `${cwd}-${name}` });
      onTestFinished(async () => {
        await app.stop();
        await store.close();
      });
      return app;
    };
    return [await open("a"), await open("b")];
  });
});

test(verifies("C230", "readers learn that an old conversation is no longer pinned"), async () => {
  const server = await openApp();
  for (let index = 0; index <= 200; index += 1) {
    const time = index + 1;
    const row = { id: `conv_${index}`, workspace: "/w", title: "t", createdAt: time, updatedAt: time };
    await server.store.addConversation({ ...row, settings: {}, responses: [] });
  }
  await server.store.changeConversation("conv_0", { pinned: true });
  const events = await openUserEvents(server);
  await events.next(({ event }) => event === "snapshot");
  await server.store.changeConversation("conv_0", { pinned: false });
  expect(await events.next(has("conversation_changed"))).toMatchObject({
    data: { conversation: { id: "conv_0", pinned: false } },
  });
});

test(verifies("C230", "an owner gets nothing of another one"), async () => {
  const server = await openApp();
  const events = await openUserEvents(server);
  await events.next(({ event }) => event === "snapshot");
  const other = server.store.forOwner("user:bob");
  await other.createResponse({
    id: "chat_b",
    conversationId: "conv_b",
    workspace: "/w",
    title: "secret",
    createdAt: 1,
  });
  await server.ask({ message: "mine" });
  await events.next(has("response_ended"));
  expect(JSON.stringify(events.seen)).not.toContain("secret");
});
