/** Conversations of the Chat API, beyond what the suite of packages/conformance checks: messages that wait. */
import { join } from "node:path";
import { reduce, type ChatResponse, type StreamEvent } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { readEvents } from "../../../test/support/server.ts";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { SheafError } from "@sheaf/base/errors";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { SharedStore } from "@sheaf/store/store";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const folders = createTestFolder();

const waitingScript = {
  turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }, { text: "Done." }] }],
  after: "loop",
};

const shortScript = {
  turns: [{ events: [{ text: "Begun. " }, { wait_ms: 500 }, { text: "Done." }] }],
  after: "loop",
};

/** The same store, which readers of responses cannot ask at times. */
function leaveAtTimes(store: SharedStore, isAway: () => boolean): SharedStore {
  const check = (): void => {
    if (isAway()) throw new SheafError("STORAGE_LOCKED", "the store is away", { source: "storage" });
  };
  return {
    ...store,
    forOwner: (owner) => leaveAtTimes(store.forOwner(owner), isAway),
    async getResponse(id) {
      check();
      return store.getResponse(id);
    },
    waiting: {
      ...store.waiting,
      async findFailure(id) {
        check();
        return store.waiting.findFailure(id);
      },
    },
  };
}

describe("a request with an Idempotency-Key", () => {
  test(verifies("X9", "is the same response after a restart; another message under its key is refused"), async () => {
    const cwd = folders.newFolder();
    const open = () => openApp({ cwd, store: createSqliteStore(join(cwd, ".sheaf.db")) });
    const server = await open();
    const headers = { "Idempotency-Key": "key 1" };
    const first = await server.ask({ message: "go" }, { headers });
    const changed = await server.chat({ message: "something else" }, { headers });
    expect(changed.status).toBe(409);
    expect(await changed.json()).toMatchObject({ error: { errorCode: "IDEMPOTENCY_CONFLICT" } });
    await server.stop();
    await server.store.close();
    const restarted = await open();
    expect(await restarted.ask({ message: "go" }, { headers })).toEqual(first);
    await restarted.stop();
    await restarted.store.close();
  });

  test(verifies("X9", "fails at once if the log of its response is damaged"), async () => {
    const inner = createSqliteStore(":memory:");
    let isDamaged = false;
    const readDamaged: SharedStore["readEvents"] = async (...asked) => {
      if (isDamaged) throw new SheafError("STORAGE_CORRUPT", "a part of it is damaged", { source: "storage" });
      return inner.readEvents(...asked);
    };
    const server = await openApp({ store: { ...inner, forOwner: () => ({ ...inner, readEvents: readDamaged }) } });
    const init = { headers: { "Idempotency-Key": "k" } };
    await server.ask({ message: "go" }, init);
    isDamaged = true;
    const again = await server.chat({ message: "go" }, init);
    expect([again.status, await again.json()]).toMatchObject([500, { error: { errorCode: "STORAGE_CORRUPT" } }]);
  });
});

describe("a message that waits for the answer before it", () => {
  const isBegun = ({ event }: StreamEvent): boolean => event === "content_delta";
  const startTwo = async (server: TestApp, fields: Record<string, unknown> = {}, init: RequestInit = {}) => {
    const running = await server.chat({ message: "one", stream: true });
    const conversationId = running.headers.get("x-conversation-id")!;
    const body = { message: "two", conversationId, whenBusy: "queue", stream: true, ...fields };
    const queued = await server.chat(body, init);
    return { running: running.headers.get("location")!, queued, body, conversationId };
  };
  const cancel = (server: TestApp, path: string): Promise<Response> =>
    server.fetch(`${path}/cancel`, { method: "POST" });

  test(
    verifies(["N49", "X2", "X5", "X9"], "has its head, its heartbeats and its address at once, and is one response"),
    async () => {
      const server = await openApp({ script: waitingScript, args: ["--heartbeat", "0.1"] });
      const init = { headers: { "Idempotency-Key": "k" } };
      const { running, queued, body } = await startTwo(server, {}, init);
      const path = queued.headers.get("location")!;
      const reader = queued.body!.getReader();
      let text = "";
      while (!text.includes(": hb")) text += new TextDecoder().decode((await reader.read()).value);
      expect(text).toMatch(/^retry: \d+\n\n(: hb\n\n)+$/);
      const snapshot = await server.read<ChatResponse>(path);
      expect(snapshot).toMatchObject({ status: "streaming", documents: [], metadata: { lastEventId: 0 } });
      const again = await server.chat(body, init);
      expect(again.headers.get("location")).toBe(path);
      const reads = [readEvents(again, isBegun), readEvents(await server.fetch(`${path}/events`), isBegun)];
      await reader.cancel();
      await cancel(server, running);
      for (const events of await Promise.all(reads)) expect(events[0]?.data).toMatchObject({ id: snapshot.id });
    },
  );

  test(verifies(["X7", "N52"], "can be cancelled, and ends as one that failed"), async () => {
    const server = await openApp({ script: waitingScript });
    const { running, queued, conversationId } = await startTwo(server);
    expect((await cancel(server, queued.headers.get("location")!)).status).toBe(202);
    const events = await readEvents(queued);
    expect(verify(events)).toBeUndefined();
    expect(reduce(events)).toMatchObject({
      status: "error",
      conversationId,
      documents: [{ type: "error", metadata: { errorCode: "CANCELLED" } }],
    });
    await cancel(server, running);
    expect((await server.fetch(queued.headers.get("location")!)).status).toBe(404);
  });

  test(verifies("X7", "goes on without its client, unless the request says otherwise"), async () => {
    const server = await openApp({ script: waitingScript });
    const leaving = new AbortController();
    const { running, conversationId } = await startTwo(server, {}, { signal: leaving.signal });
    const leaver = new AbortController();
    const init = { signal: leaver.signal };
    const body = { message: "three", conversationId, whenBusy: "queue", stream: true, onDisconnect: "cancel" };
    const dropped = await server.chat(body, init);
    const others = readEvents(await server.fetch(`${dropped.headers.get("location")}/events`));
    leaving.abort();
    leaver.abort();
    expect(reduce(await others).metadata.finishReason).toBe("cancelled");
    await cancel(server, running);
    const messages = async (): Promise<string[]> =>
      (await server.readConversation(conversationId)).turns.map(({ message }) => message);
    await expect.poll(messages).toEqual(["one", "two"]);
  });

  test.each([["waits"], ["has begun"]])(
    verifies("X7", "ends with a client that asked for it, without a word in the log: it %s"),
    async (moment) => {
      const inner = createSqliteStore(":memory:");
      const waiting = { ...inner.waiting, watch: () => () => undefined };
      const store = { ...inner, forOwner: () => ({ ...inner, waiting }) };
      const server = await openApp({ script: waitingScript, store });
      const running = await server.chat({ message: "one", stream: true });
      const conversationId = running.headers.get("x-conversation-id")!;
      const ends = async (): Promise<boolean[]> =>
        (await inner.listResponses(conversationId)).map(({ ended }) => ended);
      const leaver = new AbortController();
      const body = { message: "two", conversationId, whenBusy: "queue", onDisconnect: "cancel" };
      const left = server.chat(body, { signal: leaver.signal }).catch(String);
      await expect.poll(() => inner.waiting.hasWaiting(conversationId)).toBe(true);
      if (moment === "has begun") {
        await cancel(server, running.headers.get("location")!);
        await expect.poll(ends).toEqual([true, false]);
      }
      leaver.abort();
      expect(await left).toContain("went away");
      await expect.poll(() => inner.waiting.hasWaiting(conversationId)).toBe(false);
      if (moment === "has begun") await expect.poll(ends).toEqual([true, true]);
      await server.stop();
      expect(server.log()).not.toContain("error");
    },
  );

  test(verifies("R-38", "waits for the next server if this one goes down before it has begun"), async () => {
    const inner = createSqliteStore(":memory:");
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    let isSlow = false;
    const listResponses: SharedStore["listResponses"] = async (id) => {
      if (isSlow) asked.resolve();
      if (isSlow) await answered.promise;
      return inner.listResponses(id);
    };
    const waiting = { ...inner.waiting, giveBack: async () => over.resolve() };
    const server = await openApp({
      script: waitingScript,
      store: { ...inner, waiting, forOwner: () => ({ ...inner, listResponses }) },
    });
    const { running, conversationId } = await startTwo(server);
    isSlow = true;
    await cancel(server, running);
    await asked.promise;
    await server.stop();
    answered.resolve();
    await over.promise;
    expect(await inner.waiting.hasWaiting(conversationId)).toBe(true);
    expect((await inner.listResponses(conversationId)).map(({ ended }) => ended)).toEqual([true]);
  });

  test(verifies(["S-55", "R-69"], "has a limit of its own; one that is refused does not count"), async () => {
    const server = await openApp({ script: waitingScript, args: ["--max-waiting", "1"] });
    const running = await server.chat({ message: "one", stream: true });
    const conversationId = running.headers.get("x-conversation-id")!;
    for (let index = 0; index < 3; index += 1) {
      expect((await server.chat({ message: "two", conversationId })).status).toBe(409);
    }
    const queue = { message: "two", conversationId, whenBusy: "queue", stream: true };
    expect((await server.chat(queue)).status).toBe(200);
    const refused = await server.chat(queue);
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { error: { message: "too many waiting messages for one token (limit: 1): wait until one has started" } },
    ]);
  });

  test(verifies("R-38", "lets one that cancels go ahead, and the others keep their order"), async () => {
    const server = await openApp({ script: waitingScript });
    const { conversationId } = await startTwo(server);
    await server.chat({ message: "three", conversationId, whenBusy: "cancel", stream: true });
    const messages = async (): Promise<string[]> =>
      (await server.readConversation(conversationId)).turns.map(({ message }) => message);
    expect(await messages()).toEqual(["one", "three"]);
    const { openResponseId } = (await server.store.getConversation(conversationId))!;
    await cancel(server, `/v1/responses/${openResponseId!}`);
    await expect.poll(messages).toEqual(["one", "three", "two"]);
  });

  test.each(["stream", "whole"])(
    verifies(["R-38", "R-71"], "waits while the store cannot be asked, and is answered as what it became: %s"),
    async (form) => {
      const store = createSqliteStore(":memory:");
      let isAway = false;
      const server = await openApp({ script: shortScript, store: leaveAtTimes(store, () => isAway) });
      const running = await server.chat({ message: "one", stream: true });
      const conversationId = running.headers.get("x-conversation-id")!;
      const body = { message: "two", conversationId, whenBusy: "queue", stream: form === "stream" };
      const asked = server.chat(body);
      await expect.poll(() => store.waiting.hasWaiting(conversationId)).toBe(true);
      isAway = true;
      await readEvents(running);
      await expect
        .poll(async () => (await store.listResponses(conversationId)).map(({ ended }) => ended))
        .toEqual([true, true]);
      isAway = false;
      const answer = await asked;
      const response = form === "stream" ? reduce(await readEvents(answer)) : ((await answer.json()) as ChatResponse);
      expect(response).toMatchObject({ status: "completed", conversationId });
    },
  );
});

describe("conversations", () => {
  test(verifies("N52", "are not forked at a response that goes on, and say so"), async () => {
    const server = await openApp({ script: waitingScript });
    const answer = await server.chat({ message: "one", stream: true });
    const path = `/v1/conversations/${answer.headers.get("x-conversation-id")}/fork`;
    const refused = await server.send("POST", path, { responseId: answer.headers.get("x-response-id") });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      error: {
        errorCode: "CONVERSATION_BUSY",
        message: expect.stringContaining("fork the conversation when it has ended"),
      },
    });
  });

  test(verifies("X7", "end what runs and what waits when they are deleted"), async () => {
    const server = await openApp({ script: { turns: [{ events: [{ text: "Begun" }, { wait_ms: 60_000 }] }] } });
    const answer = await server.chat({ message: "one", stream: true });
    const conversationId = answer.headers.get("x-conversation-id")!;
    const waiting = await server.chat({ message: "two", conversationId, whenBusy: "queue", stream: true });
    const path = `/v1/conversations/${conversationId}`;
    expect((await server.send("DELETE", path)).status).toBe(204);
    expect(reduce(await readEvents(answer)).metadata.finishReason).toBe("cancelled");
    expect(reduce(await readEvents(waiting)).status).toBe("error");
    expect((await server.fetch(path)).status).toBe(404);
  });

  test(verifies("X7", "stay deleted, even if a message replaces the running one at that moment"), async () => {
    const server = await openApp({ script: waitingScript });
    const first = await server.chat({ message: "one", stream: true });
    const conversationId = first.headers.get("x-conversation-id")!;
    const path = `/v1/conversations/${conversationId}`;
    const replacing = { message: "two", conversationId, parentResponseId: null, whenBusy: "cancel", stream: true };
    const [deleted, answer] = await Promise.all([server.send("DELETE", path), server.chat(replacing)]);
    expect([deleted.status, answer.status]).toEqual([204, 404]);
    expect((await server.fetch(path)).status).toBe(404);
  });
});
