/** Conversations of the Chat API: requests that come twice, messages that wait, lists, forks, reverts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { reduce, type ChatResponse, type Conversation, type ConversationPage, type StreamEvent } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { readEvents } from "../../../../test/support/server.ts";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createSqliteStore } from "../../src/store/sqlite.ts";
import { openApp, type TestApp } from "./open-app.ts";

const folders = createTestFolder();
const start = (options: Partial<Parameters<typeof openApp>[0]> = {}): Promise<TestApp> => {
  const cwd = options.cwd ?? folders.newFolder({ "README.md": "# A project\n" });
  return openApp({ home: `${cwd}-home`, cwd, ...options });
};

const waitingScript = {
  turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }, { text: "Done." }] }],
  after: "loop",
};
const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});
const toJson = async <Body>(answer: Response | Promise<Response>): Promise<Body> =>
  (await (await answer).json()) as Body;
const readConversation = (server: TestApp, id: string): Promise<Conversation> =>
  toJson(server.fetch(`/v1/conversations/${id}`));

describe("a request with an Idempotency-Key", () => {
  test(verifies("X9", "that comes again is the same response, as JSON and as a stream"), async () => {
    const cwd = folders.newFolder();
    const open = () => start({ cwd, store: createSqliteStore(join(cwd, ".sheaf.db")) });
    const server = await open();
    const headers = { "Idempotency-Key": "key 1" };
    const [first, second] = await Promise.all([
      toJson<ChatResponse>(server.chat({ message: "go" }, { headers })),
      toJson<ChatResponse>(server.chat({ message: "go" }, { headers })),
    ]);
    expect(second).toEqual(first);
    const other = await server.chat({ message: "go", stream: true }, { headers: { "Idempotency-Key": "key 2" } });
    const events = await readEvents(other);
    const again = await server.chat({ message: "go", stream: true }, { headers: { "Idempotency-Key": "key 2" } });
    expect(await readEvents(again)).toEqual(events);
    const changed = await server.chat({ message: "something else" }, { headers });
    expect(changed.status).toBe(409);
    expect(await changed.json()).toMatchObject({ error: { errorCode: "IDEMPOTENCY_CONFLICT" } });
    expect((await toJson<ConversationPage>(server.fetch("/v1/conversations"))).conversations).toHaveLength(2);
    await server.stop();
    await server.store.close();
    const restarted = await open();
    expect(await toJson(restarted.chat({ message: "go" }, { headers }))).toEqual(first);
    await restarted.stop();
    await restarted.store.close();
  });

  test(verifies("X9", "that comes again while it runs joins its stream"), async () => {
    const server = await start({ script: waitingScript });
    const init = { headers: { "Idempotency-Key": "k" } };
    const first = await server.chat({ message: "go", stream: true }, init);
    const second = await server.chat({ message: "go", stream: true }, init);
    expect(second.headers.get("x-response-id")).toBe(first.headers.get("x-response-id"));
    await server.fetch(`${first.headers.get("location")}/cancel`, { method: "POST" });
    expect(await readEvents(second)).toEqual(await readEvents(first));
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
      const server = await start({ script: waitingScript, args: ["--heartbeat", "0.1"] });
      const init = { headers: { "Idempotency-Key": "k" } };
      const { running, queued, body } = await startTwo(server, {}, init);
      const path = queued.headers.get("location")!;
      const reader = queued.body!.getReader();
      let text = "";
      while (!text.includes(": hb")) text += new TextDecoder().decode((await reader.read()).value);
      expect(text).toMatch(/^retry: \d+\n\n(: hb\n\n)+$/);
      const snapshot = await toJson<ChatResponse>(server.fetch(path));
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
    const server = await start({ script: waitingScript });
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
    const server = await start({ script: waitingScript });
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
      (await readConversation(server, conversationId)).turns.map(({ message }) => message);
    await expect.poll(messages).toEqual(["one", "two"]);
  });

  test("makes room for one that cancels; of two that cancel the later one runs", async () => {
    const server = await start({ script: waitingScript });
    const { running, conversationId } = await startTwo(server);
    const say = (message: string): Promise<Response> =>
      server.chat({ message, conversationId, whenBusy: "cancel", stream: true });
    const events = readEvents(await server.fetch(`${running}/events`));
    const [third, fourth] = [await say("three"), await say("four")];
    for (const cancelled of [await events, await readEvents(third)]) {
      expect(reduce(cancelled).metadata.finishReason).toBe("cancelled");
    }
    const messages = async (): Promise<string[]> =>
      (await readConversation(server, conversationId)).turns.map(({ message }) => message);
    expect(await messages()).toEqual(["one", "three", "four"]);
    await cancel(server, fourth.headers.get("location")!);
    await expect.poll(messages).toEqual(["one", "three", "four", "two"]);
  });

  test(verifies("S-55", "counts as one only while it waits or runs; one that is refused does not"), async () => {
    const server = await start({ script: waitingScript, args: ["--max-running", "2"] });
    const running = await server.chat({ message: "one", stream: true });
    const conversationId = running.headers.get("x-conversation-id")!;
    for (let index = 0; index < 3; index += 1) {
      expect((await server.chat({ message: "two", conversationId })).status).toBe(409);
    }
    const queue = { message: "two", conversationId, whenBusy: "queue", stream: true };
    expect((await server.chat(queue)).status).toBe(200);
    expect((await server.chat(queue)).status).toBe(429);
  });
});

describe("conversations", () => {
  test("are listed in pages and searched", async () => {
    const server = await start();
    for (const message of ["Fix the parser", "Write docs", "Look at the PARSER again"]) await server.chat({ message });
    const titles = async (query: string): Promise<string[]> => {
      const found: string[] = [];
      for (let next: string | undefined = ""; next !== undefined;) {
        const before: string = next === "" ? "" : `&before=${next}`;
        const page: ConversationPage = await toJson(server.fetch(`/v1/conversations?limit=2${query}${before}`));
        found.push(...page.conversations.map(({ title }) => title));
        ({ next } = page);
      }
      return found;
    };
    expect(await titles("")).toEqual(["Look at the PARSER again", "Write docs", "Fix the parser"]);
    expect(await titles("&search=parser")).toEqual(["Look at the PARSER again", "Fix the parser"]);
    for (const query of ["limit=0", "limit=x", "before=x"]) {
      expect((await server.fetch(`/v1/conversations?${query}`)).status).toBe(400);
    }
  });

  test("are forked after a response: both go on independently", async () => {
    const server = await start();
    const first = await toJson<ChatResponse>(server.chat({ message: "one" }));
    const { conversationId } = first;
    await server.chat({ message: "two", conversationId });
    const forked = await server.fetch(`/v1/conversations/${conversationId}/fork`, post({ responseId: first.id }));
    expect(forked.status).toBe(201);
    const { id } = await toJson<{ id: string }>(forked);
    expect(forked.headers.get("location")).toBe(`/v1/conversations/${id}`);
    await server.chat({ message: "three", conversationId: id });
    const fork = await readConversation(server, id);
    expect(fork.turns.map(({ message }) => message)).toEqual(["one", "three"]);
    const [copy] = fork.turns;
    expect(copy!.response).toEqual({ ...first, id: copy!.response.id, conversationId: id });
    expect(copy!.response.id).not.toBe(first.id);
    expect(await toJson(server.fetch(`/v1/responses/${copy!.response.id}`))).toEqual(copy!.response);
    expect((await readConversation(server, conversationId)).turns).toHaveLength(2);
    const unknown = await server.fetch(`/v1/conversations/${conversationId}/fork`, post({ responseId: "chat_x" }));
    expect(unknown.status).toBe(404);
  });

  test(verifies("N52", "are not forked at a response that goes on, and say so"), async () => {
    const server = await start({ script: waitingScript });
    const answer = await server.chat({ message: "one", stream: true });
    const path = `/v1/conversations/${answer.headers.get("x-conversation-id")}/fork`;
    const refused = await server.fetch(path, post({ responseId: answer.headers.get("x-response-id") }));
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      error: {
        errorCode: "CONVERSATION_BUSY",
        message: expect.stringContaining("fork the conversation when it has ended"),
      },
    });
  });

  test("revert responses and files, and say when files have changed", async () => {
    const write = (content: string) => ({ call: { tool: "write_file", arguments: { target_file: "a.txt", content } } });
    const script = { turns: [{ events: [write("one\n")] }, { events: [{ text: "Done." }] }], after: "loop" };
    const cwd = folders.newFolder();
    const server = await start({ cwd, script });
    const response = await toJson<ChatResponse>(server.chat({ message: "go" }));
    const revert = `/v1/conversations/${response.conversationId}/revert`;
    writeFileSync(join(cwd, "a.txt"), "mine\n");
    const refused = await server.fetch(revert, post({ responseId: response.id }));
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      error: { errorCode: "FILES_CHANGED", details: expect.stringContaining("a.txt") },
    });
    writeFileSync(join(cwd, "a.txt"), "one\n");
    const done = await server.fetch(revert, post({ responseId: response.id }));
    expect(await done.json()).toMatchObject({
      responseIds: [response.id],
      files: [{ filePath: "a.txt", action: "removed" }],
    });
    expect((await readConversation(server, response.conversationId)).turns).toEqual([]);
    expect((await server.fetch(revert, post({ responseId: response.id }))).status).toBe(404);
  });

  test("are deleted, and are gone", async () => {
    const server = await start();
    const { id, conversationId } = await toJson<ChatResponse>(server.chat({ message: "one" }));
    const path = `/v1/conversations/${conversationId}`;
    expect((await server.fetch(path, { method: "DELETE" })).status).toBe(204);
    for (const gone of [path, `/v1/responses/${id}`, `/v1/responses/${id}/events`]) {
      expect((await server.fetch(gone)).status).toBe(404);
    }
    expect((await server.fetch(path, { method: "DELETE" })).status).toBe(404);
  });
});
