/** How much one owner may have at once, and use up in a day (S-55). */
import type { ChatResponse } from "@sheaf/protocol";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { SheafError } from "@sheaf/base/errors";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { SharedStore } from "@sheaf/store/store";
import { createOwnerMeter, defaultOwnerLimits } from "../src/limits.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp } from "../../../test/support/open-app.ts";

/** A store that counts how many lists of responses are read, and how many at the same time. */
function createCountingStore() {
  const inner = createSqliteStore(":memory:");
  let reads = 0;
  let open = 0;
  let largest = 0;
  const count = (store: SharedStore): SharedStore => ({
    ...store,
    forOwner: (owner) => count(store.forOwner(owner)),
    async listResponses(id) {
      reads += 1;
      open += 1;
      largest = Math.max(largest, open);
      await setImmediate();
      open -= 1;
      return store.listResponses(id);
    },
  });
  return { store: count(inner), reads: () => reads, largest: () => largest };
}

describe("limits", () => {
  const waiting = { turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }] }], after: "loop" };

  test(verifies("S-55", "of runs, streams, conversations and turns hold for each token"), async () => {
    const server = await openApp({ script: waiting, args: ["--max-running", "2", "--max-streams", "3"] });
    const first = await server.chat({ message: "one", stream: true });
    await server.chat({ message: "two", stream: true });
    const third = await server.chat({ message: "three", stream: true });
    expect(third.status).toBe(429);
    expect(third.headers.get("retry-after")).toBe("1");
    expect(await third.json()).toMatchObject({ error: { errorCode: "LIMIT_REACHED" } });
    const events = `${first.headers.get("location")}/events`;
    expect((await server.fetch(events)).status).toBe(200);
    expect((await server.fetch(events)).status).toBe(429);
  });

  test(verifies("S-55", "of streams do not count a request for which the store failed"), async () => {
    const inner = createSqliteStore(":memory:");
    let isAway = false;
    const find: SharedStore["waiting"]["find"] = async (id) => {
      if (isAway) throw new SheafError("STORAGE_LOCKED", "the store is away", { source: "storage" });
      return inner.waiting.find(id);
    };
    const store = { ...inner, forOwner: () => ({ ...inner, waiting: { ...inner.waiting, find } }) };
    const server = await openApp({ store, args: ["--max-streams", "1"] });
    const ask = async (): Promise<number> => {
      const init = { headers: { "Idempotency-Key": "k" } };
      const answer = await server.chat({ message: "go", stream: true }, init);
      await answer.text();
      return answer.status;
    };
    const first = await ask();
    isAway = true;
    const failed = await ask();
    isAway = false;
    expect([first, failed, await ask()]).toEqual([200, 503, 200]);
  });

  test.each([
    "/v1/workspaces/project/files",
    "/v1/workspaces/project/files/README.md",
    "/v1/conversations/ID/changes",
    "/v1/conversations/ID",
    "/v1/conversations/ID/export?format=markdown",
    "/v1/conversations/ID/export?format=json",
  ])(verifies("S-55", "of simultaneous requests to %s hold, and end when each was answered"), async (address) => {
    const server = await openApp();
    const { conversationId } = await server.ask({ message: "go" });
    const path = address.replace("ID", conversationId);
    const answers = await Promise.all(Array.from({ length: 40 }, () => server.fetch(path)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(8);
    expect(refused[0]!.headers.get("retry-after")).toBe("1");
    await expect.poll(async () => (await server.fetch(path)).status).toBe(200);
  });

  test(
    verifies("S-55", "load one whole conversation of a token at a time, none for clients that have left"),
    async () => {
      const { store, largest, reads } = createCountingStore();
      const server = await openApp({ store });
      const { conversationId } = await server.ask({ message: "go" });
      const path = `/v1/conversations/${conversationId}`;
      await Promise.all(Array.from({ length: 10 }, () => server.fetch(path)));
      expect(largest()).toBe(1);
      const before = reads();
      const leaving = new AbortController();
      const first = server.fetch(path);
      const others = Array.from({ length: 5 }, () => server.fetch(path, { signal: leaving.signal }));
      leaving.abort();
      await Promise.allSettled([first, ...others]);
      await server.fetch(path);
      expect(reads() - before).toBeLessThanOrEqual(2);
      await server.stop();
      await store.close();
    },
  );

  test(verifies("S-55", "let one search of a token wait for the other, also after one that failed"), async () => {
    const meter = createOwnerMeter(defaultOwnerLimits, () => 0);
    const done: string[] = [];
    const first = Promise.withResolvers<void>();
    const note = async (name: string): Promise<void> => void done.push(name);
    const failed = meter.search("a", () => first.promise);
    const second = meter.search("a", () => note("second of a"));
    await meter.search("b", () => note("first of b"));
    expect(done).toEqual(["first of b"]);
    first.reject(new Error("broken"));
    await expect(failed).rejects.toThrow("broken");
    await second;
    await meter.search("a", () => note("third of a"));
    expect(done).toEqual(["first of b", "second of a", "third of a"]);
  });

  test(verifies("S-55", "of streams refuse a message before it runs"), async () => {
    const server = await openApp({ script: waiting, args: ["--max-streams", "1"] });
    expect((await server.chat({ message: "one", stream: true })).status).toBe(200);
    expect((await server.chat({ message: "two", stream: true })).status).toBe(429);
    const conversations = await server.listConversations();
    expect(conversations.map(({ title }) => title)).toEqual(["one"]);
  });

  test.each([
    [["--max-turns-per-day", "2"], false],
    [["--max-conversations", "2"], true],
  ])(verifies("S-55", "%j refuses new runs, and says when to come again; deleting helps: %s"), async (args, helps) => {
    const server = await openApp({ args });
    const { conversationId } = await server.ask({ message: "go" });
    expect((await server.chat({ message: "go" })).status).toBe(200);
    const refused = await server.chat({ message: "go" });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await server.send("DELETE", `/v1/conversations/${conversationId}`);
    expect((await server.chat({ message: "go" })).status).toBe(helps ? 200 : 429);
  });

  test(verifies(["S-55", "C24"], "a request can lower the server's budgets, never raise them"), async () => {
    const call = { call: { tool: "list_dir", arguments: {} } };
    const server = await openApp({
      script: { turns: [{ events: [{ text: "x" }, call] }], after: "loop" },
      args: ["--max-turns", "3"],
    });
    const run = (budget: object): Promise<ChatResponse> => server.ask({ message: "go", budget });
    expect((await run({ maxTurns: 9 })).metadata).toMatchObject({ turnCount: 3, finishReason: "budget" });
    expect((await run({ maxTurns: 1 })).metadata).toMatchObject({ turnCount: 1, finishReason: "budget" });
    expect((await run({ maxToolCalls: 1 })).documents.at(-1)).toMatchObject({
      metadata: { errorCode: "BUDGET_TOOLS" },
    });
  });
});
