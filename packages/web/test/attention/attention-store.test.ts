import type { ChatResponse } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { attentionStorageName, createAttentionStore } from "../../src/attention/attention-store.ts";
import type { News } from "../../src/attention/news.ts";

function toResponse(id: string, status: ChatResponse["status"], more: object = {}): ChatResponse {
  return { id, status, metadata: {}, documents: [], ...more } as unknown as ChatResponse;
}

function createStorage(entries: Record<string, string> = {}): Storage {
  return {
    getItem: (key: string) => entries[key] ?? null,
    setItem: (key: string, value: string) => void (entries[key] = value),
    removeItem: (key: string) => void delete entries[key],
  } as unknown as Storage;
}

interface StoreOptions {
  readonly storage?: Storage;
  /** By id. */
  readonly responses?: Readonly<Record<string, ChatResponse>>;
  readonly isSeen?: boolean;
}

function openStore({ storage = createStorage(), responses = {}, isSeen = false }: StoreOptions = {}) {
  const reported: News[] = [];
  const store = createAttentionStore({
    storage,
    readResponse: (id) => (responses[id] ? Promise.resolve(responses[id]) : Promise.reject(new Error("gone"))),
    report: (news) => {
      reported.push(news);
      return isSeen;
    },
  });
  return { store, reported, storage, kinds: () => reported.map(({ kind }) => kind) };
}

const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve));

describe("attention", () => {
  test.each([
    ["completed", {}, ["ended"]],
    ["completed", { metadata: { finishReason: "clarification" } }, ["asks"]],
    ["error", {}, ["failed"]],
    ["error", { metadata: { finishReason: "cancelled" } }, []],
  ] as const)("a run that ends as %s %j", async (status, more, expected) => {
    const { store, kinds } = openStore({ responses: { resp_1: toResponse("resp_1", status, more) } });
    store.observe([{ id: "conv_1", runningResponseId: "resp_1" }, { id: "conv_2" }]);
    expect([...store.getSnapshot().running]).toEqual([["conv_1", "resp_1"]]);
    store.observe([{ id: "conv_1" }, { id: "conv_2" }]);
    await settle();
    expect(store.getSnapshot().running.size).toBe(0);
    expect([...store.getSnapshot().news.values()]).toEqual(expected);
    expect(kinds()).toEqual(expected);
    store.see("conv_1");
    expect(store.getSnapshot().news.size).toBe(0);
  });

  test("a call that waits is news until it is decided, by the list and by the stream", () => {
    const { store, reported } = openStore();
    const approvals = [{ approvalId: "appr_1" }];
    store.observe([{ id: "conv_1", runningResponseId: "resp_1", approvals }]);
    store.follow("conv_1", toResponse("resp_1", "streaming", { approvals }));
    expect([...store.getSnapshot().waiting]).toEqual(["conv_1"]);
    expect([...store.getSnapshot().news]).toEqual([["conv_1", "approval"]]);
    // The desk knows that it is the same.
    expect(new Set(reported.map(({ key }) => key))).toEqual(new Set(["appr_1"]));
    store.follow("conv_1", toResponse("resp_1", "streaming"));
    expect([store.getSnapshot().waiting.size, store.getSnapshot().news.size]).toEqual([0, 0]);
    store.follow("conv_1", toResponse("resp_1", "completed"));
    expect([...store.getSnapshot().news]).toEqual([["conv_1", "ended"]]);
  });

  test("what somebody sees is no news, and an answer that ended long ago is none either", () => {
    const seen = openStore({ isSeen: true });
    seen.store.follow("conv_1", toResponse("resp_1", "streaming"));
    seen.store.follow("conv_1", toResponse("resp_1", "completed"));
    expect(seen.store.getSnapshot().news.size).toBe(0);
    const { store, reported } = openStore();
    store.follow("conv_1", toResponse("resp_1", "completed"));
    store.observe([{ id: "conv_1" }]);
    expect(reported).toEqual([]);
  });

  test("a run that ended while no tab was open is new when somebody returns; a deleted one is not", async () => {
    const storage = createStorage();
    const first = openStore({ storage });
    first.store.observe([
      { id: "conv_1", runningResponseId: "resp_1" },
      { id: "conv_2", runningResponseId: "resp_2" },
    ]);
    const { store, kinds } = openStore({ storage, responses: { resp_1: toResponse("resp_1", "completed") } });
    store.observe([{ id: "conv_1" }, { id: "conv_2" }]);
    await settle();
    expect([...store.getSnapshot().news]).toEqual([["conv_1", "ended"]]);
    expect(kinds()).toEqual(["ended"]);
    first.store.reload();
    expect([...first.store.getSnapshot().news]).toEqual([["conv_1", "ended"]]);
    store.clear();
    expect(storage.getItem(attentionStorageName)).toBeNull();
  });

  test.each(["not JSON", "null", "[]", '{"running":{"a":1},"news":[["a"],[1,2],["conv_1","strange"]]}'])(
    "%j in the storage is nothing",
    (text) => {
      const { store } = openStore({ storage: createStorage({ [attentionStorageName]: text }) });
      const { running, news } = store.getSnapshot();
      expect([running.size, news.size]).toEqual([0, 0]);
    },
  );

  test("only the newest hundred are kept", () => {
    const { store } = openStore();
    const many = Array.from({ length: 120 }, (_, index) => ({ id: `conv_${index}`, runningResponseId: "resp" }));
    store.observe(many);
    expect(store.getSnapshot().running.size).toBe(100);
    expect(store.getSnapshot().running.has("conv_119")).toBe(true);
  });
});
