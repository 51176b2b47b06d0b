/** The contract suite of the store port; every implementation runs it. */
import type { RunEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { isWaitingLimit } from "../src/cluster.ts";
import { toToldKey } from "../src/sql-waiting.ts";
import type { ConversationRecord, SharedStore, Store } from "../src/store.ts";
import { verifies } from "../../../test/support/verifies.ts";

const response = (id: string, conversationId = "conv_1", createdAt = 1000) => ({
  id,
  conversationId,
  workspace: "/w",
  title: "a title",
  createdAt,
});

const delta = (seq: number, text = `${seq}`): RunEvent => ({ type: "text_delta", text, seq, time: seq });

const runEnd = (seq: number): RunEvent => ({ type: "run_end", reason: "end_turn", seq, time: seq });

/** A response with an end: its conversation is free again. */
async function addEnded(store: Store, added: ReturnType<typeof response>, prompt = "a title"): Promise<void> {
  await store.createResponse(added);
  const start = { type: "run_start", prompt, seq: 1, time: 1 } as RunEvent;
  await store.appendEvents(added.id, [start, runEnd(2)], "synced");
}

/** Tests that hold for every store. `open` gives an empty one. */
export function testStoreContract(open: () => SharedStore | Promise<SharedStore>): void {
  test("a response is opened at the end of its conversation", async () => {
    const store = await open();
    expect(await store.createResponse(response("chat_a"))).toEqual({
      id: "chat_a",
      conversationId: "conv_1",
      position: 1,
      createdAt: 1000,
      lastSeq: 0,
      ended: false,
      reverted: false,
      parent: 0,
    });
    await store.appendEvents("chat_a", [runEnd(1)], "synced");
    expect((await store.createResponse(response("chat_b", "conv_1", 2000))).position).toBe(2);
    expect((await store.createResponse(response("chat_c", "conv_2", 3000))).position).toBe(1);
    expect((await store.listResponses("conv_1")).map((row) => row.id)).toEqual(["chat_a", "chat_b"]);
    expect(await store.getConversation("conv_1")).toEqual({
      id: "conv_1",
      workspace: "/w",
      title: "a title",
      createdAt: 1000,
      updatedAt: 2000,
      settings: {},
      pinned: false,
      usage: { promptTokens: 0, completionTokens: 0 },
      openResponseId: "chat_b",
      lastResponseId: "chat_b",
    });
    expect(await store.getConversation("conv_9")).toBeUndefined();
    expect(await store.getResponse("chat_9")).toBeUndefined();
    await store.close();
  });

  const terms = { hasWaited: true, maxRunning: 9, continuation: undefined };

  test(verifies(["R-38", "X9"], "a message waits, and is known by its request, until it begins"), async () => {
    const store = await open();
    const told = { count: 0 };
    const endWatch = store.waiting.watch(() => (told.count += 1));
    await store.createResponse(response("chat_a"));
    const request = { key: "k", digest: "d" };
    const message = { responseId: "chat_b", conversationId: "conv_1", text: '{"text":"\\u0000 ä"}', request };
    await store.waiting.add(message, 2);
    await expect(store.waiting.add({ ...message, responseId: "chat_c" }, 9)).rejects.toMatchObject({
      code: "CONVERSATION_BUSY",
    });
    // Another server that looked before would run it a second time.
    const same = { ...response("chat_d", "conv_2"), request };
    await expect(store.createResponse(same)).rejects.toMatchObject({ code: "CONVERSATION_BUSY" });
    expect(await store.waiting.hasWaiting("conv_1")).toBe(true);
    expect(await store.waiting.find("chat_b")).toEqual({
      conversationId: "conv_1",
      text: message.text,
      failure: null,
    });
    expect(await store.findRequest("k")).toEqual({ ...request, responseId: "chat_b", conversationId: "conv_1" });
    const other = store.forOwner("other");
    expect([await other.waiting.find("chat_b"), await other.waiting.remove("chat_b")]).toEqual([undefined, false]);
    expect(await other.waiting.hasWaiting("conv_1")).toBe(false);
    expect(await store.waiting.claim(9, [])).toBeUndefined();
    const before = told.count;
    await store.appendEvents("chat_a", [runEnd(1)], "synced");
    expect(told.count).toBeGreaterThan(before);
    expect(await other.waiting.claim(9, [])).toEqual({ responseId: "chat_b", owner: "local", text: message.text });
    expect(await store.waiting.claim(9, ["chat_b"])).toBeUndefined();
    await store.createResponse({ ...response("chat_b"), request, cluster: terms });
    expect([await store.waiting.find("chat_b"), await store.waiting.remove("chat_b")]).toEqual([undefined, false]);
    expect(await store.findRequest("k")).toMatchObject({ responseId: "chat_b" });
    await store.appendEvents("chat_b", [runEnd(1)], "synced");
    endWatch();
    await store.close();
  });

  test(verifies("R-38", "a message that was removed does not begin, and one that cannot says why"), async () => {
    const store = await open();
    const add = (responseId: string): Promise<void> =>
      store.waiting.add({ responseId, conversationId: `conv_${responseId}`, text: "{}" }, 9);
    const told: string[] = [];
    const endWatches = ["chat_a", "chat_b"].map((id) => store.waiting.watch(() => told.push(id), id));
    await add("chat_a");
    expect(await store.waiting.claim(9, [])).toMatchObject({ responseId: "chat_a" });
    told.length = 0;
    expect(await store.waiting.remove("chat_a")).toBe(true);
    // A reader that waits for another message need not look.
    expect(new Set(told)).toEqual(new Set(["chat_a"]));
    await expect(store.createResponse({ ...response("chat_a", "conv_chat_a"), cluster: terms })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    expect(await store.getResponse("chat_a")).toBeUndefined();
    await add("chat_b");
    await store.waiting.claim(9, []);
    told.length = 0;
    await store.waiting.fail("chat_b", "no");
    expect(new Set(told)).toEqual(new Set(["chat_b"]));
    for (const endWatch of endWatches) endWatch();
    expect(await store.waiting.find("chat_b")).toMatchObject({ failure: "no" });
    expect(await store.waiting.findFailure("chat_b")).toEqual({ failure: "no" });
    expect([await store.waiting.claim(9, []), await store.waiting.remove("chat_b")]).toEqual([undefined, false]);
    await add("chat_c");
    await store.waiting.claim(9, []);
    await store.waiting.giveBack("chat_c");
    expect(await store.waiting.claim(9, [])).toBeUndefined();
    await expect.poll(() => store.waiting.claim(9, []), { timeout: 3000 }).toMatchObject({ responseId: "chat_c" });
    await store.close();
  });

  test(verifies(["R-38", "R-69"], "messages have limits, and the owner with the least running is first"), async () => {
    const store = await open();
    const [ada, bob] = [store.forOwner("ada"), store.forOwner("bob")];
    const add = (owner: SharedStore, id: string, conversationId = `conv_${id}`, limit = 99): Promise<void> =>
      owner.waiting.add({ responseId: id, conversationId, text: id }, limit);
    await ada.createResponse(response("chat_1"));
    for (const id of ["chat_2", "chat_3"]) await add(ada, id);
    for (const id of ["chat_4", "chat_5"]) await add(bob, id, "conv_4");
    const error = await add(ada, "chat_6", "conv_6", 2).catch((reason: unknown) => reason);
    expect(isWaitingLimit(error)).toBe(true);
    const claimed: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      const message = await store.waiting.claim(index === 0 ? 1 : 9, claimed);
      if (message) claimed.push(message.responseId);
    }
    expect(claimed).toEqual(["chat_4", "chat_2", "chat_3"]);
    for (let index = 0; index < 16; index += 1) await add(ada, `chat_1${index}`, "conv_1");
    await expect(add(ada, "chat_z", "conv_1")).rejects.toMatchObject({ code: "CONVERSATION_BUSY" });
    await store.close();
  });

  test(verifies(["C241", "R-38"], "waiting messages are listed, and begin in the order that was set"), async () => {
    const store = await open();
    await store.createResponse(response("chat_1"));
    const add = (responseId: string, steers = false): Promise<void> =>
      store.waiting.add({ responseId, conversationId: "conv_1", text: responseId, steers }, 9);
    for (const id of ["chat_a", "chat_b", "chat_c"]) await add(id);
    const list = async () => (await store.waiting.list("conv_1")).map(({ responseId }) => responseId);
    expect(await store.waiting.list("conv_1")).toContainEqual({ responseId: "chat_b", text: "chat_b", steers: false });
    await store.waiting.arrange("conv_1", [
      { responseId: "chat_c", steers: false },
      { responseId: "chat_gone", steers: true },
      { responseId: "chat_a", steers: false },
    ]);
    await add("chat_d");
    expect(await list()).toEqual(["chat_c", "chat_a", "chat_b", "chat_d"]);
    await add("chat_e", true);
    expect(await list()).toEqual(["chat_e", "chat_c", "chat_a", "chat_b", "chat_d"]);
    const other = store.forOwner("other");
    await other.waiting.arrange("conv_1", [{ responseId: "chat_d", steers: true }]);
    expect([await other.waiting.list("conv_1"), (await list())[0]]).toEqual([[], "chat_e"]);
    await store.appendEvents("chat_1", [runEnd(1)], "synced");
    expect(await store.waiting.claim(9, [])).toMatchObject({ responseId: "chat_e" });
    await store.waiting.remove("chat_e");
    expect(await store.waiting.claim(9, [])).toMatchObject({ responseId: "chat_c" });
    await store.close();
  });

  test(
    verifies(["C240", "X9"], "a message that steers is in one log, or begins a response, and never both"),
    async () => {
      const store = await open();
      await store.createResponse(response("chat_1"));
      const request = { key: "k", digest: "d" };
      const add = (responseId: string, steers: boolean): Promise<void> =>
        store.waiting.add(
          { responseId, conversationId: "conv_1", text: responseId, steers, ...(steers && { request }) },
          9,
        );
      const told = (seq: number, messageId: string): RunEvent => ({
        type: "user_message",
        messageId,
        message: "m",
        seq,
        time: 1,
      });
      expect(await store.waiting.take("chat_1")).toEqual([]);
      await add("chat_a", false);
      await add("chat_b", true);
      expect(await store.forOwner("other").waiting.take("chat_1")).toEqual([]);
      const taken = [{ responseId: "chat_b", text: "chat_b" }];
      expect(await store.waiting.take("chat_1")).toEqual(taken);
      // A process that continues the response gets it again: the log does not have it yet.
      expect(await store.waiting.take("chat_1")).toEqual(taken);
      expect((await store.waiting.list("conv_1")).map(({ responseId }) => responseId)).toEqual(["chat_a"]);
      expect([await store.waiting.remove("chat_b"), await store.findRequest("k")]).toMatchObject([
        false,
        { responseId: "chat_b" },
      ]);
      await store.appendEvents("chat_1", [told(1, "chat_b")], "synced");
      expect([await store.waiting.take("chat_1"), await store.waiting.find("chat_b")]).toEqual([[], undefined]);
      expect(await store.findRequest("k")).toMatchObject({ responseId: "chat_1", digest: "d" });
      expect(await store.findRequest(toToldKey("chat_b"))).toMatchObject({ responseId: "chat_1" });
      // The response ends with a message that it has taken, and not told.
      await store.waiting.add({ responseId: "chat_c", conversationId: "conv_1", text: "c", steers: true }, 9);
      expect(await store.waiting.take("chat_1")).toEqual([{ responseId: "chat_c", text: "c" }]);
      await store.appendEvents("chat_1", [runEnd(2)], "synced");
      expect([await store.waiting.take("chat_1"), await store.waiting.claim(9, [])]).toMatchObject([
        [],
        { responseId: "chat_c" },
      ]);
      await store.close();
    },
  );

  test(verifies("R-63", "a message keeps its conversation from being old, and is deleted with it"), async () => {
    const store = await open();
    await addEnded(store, response("chat_a"));
    await store.waiting.add({ responseId: "chat_b", conversationId: "conv_1", text: "{}" }, 9);
    expect(await store.deleteOldConversations(9e12, 9)).toEqual([]);
    expect(await store.deleteConversation("conv_1")).toBe(true);
    expect(await store.waiting.find("chat_b")).toBeUndefined();
    expect(await store.waiting.hasWaiting("conv_1")).toBe(false);
    await store.close();
  });

  test("a conversation keeps the settings of its newest response, until they are changed", async () => {
    const store = await open();
    const readSettings = async () => (await store.getConversation("conv_1"))?.settings;
    const plan = { mode: "plan", model: "m", effort: "low" } as const;
    for (const [id, settings, expected] of [
      ["chat_a", plan, plan],
      ["chat_b", undefined, plan],
      ["chat_c", { mode: "ask" }, { mode: "ask" }],
    ] as const) {
      await store.createResponse({ ...response(id), settings });
      await store.appendEvents(id, [runEnd(1)], "synced");
      expect(await readSettings()).toEqual(expected);
    }
    expect(await store.changeConversation("conv_1", { settings: plan })).toBe(true);
    expect(await store.changeConversation("conv_1", { title: "another title" })).toBe(true);
    const [listed] = await store.listConversations({ limit: 1 });
    expect(listed).toMatchObject({ title: "another title", settings: plan, updatedAt: 1000 });
    expect(await store.changeConversation("conv_9", { title: "t" })).toBe(false);
    expect(await store.forOwner("other").changeConversation("conv_1", { title: "t" })).toBe(false);
    await store.close();
  });

  test("conversations are listed newest first, by workspace", async () => {
    const store = await open();
    await store.createResponse(response("chat_a", "conv_1", 1000));
    await store.createResponse({ ...response("chat_b", "conv_2", 2000), workspace: "/other" });
    await store.createResponse(response("chat_c", "conv_3", 3000));
    const ids = async (options: Parameters<Store["listConversations"]>[0]) =>
      (await store.listConversations(options)).map((row) => row.id);
    expect(await ids({ limit: 9 })).toEqual(["conv_3", "conv_2", "conv_1"]);
    expect(await ids({ limit: 2 })).toEqual(["conv_3", "conv_2"]);
    expect(await ids({ limit: 9, workspace: "/w" })).toEqual(["conv_3", "conv_1"]);
    await store.close();
  });

  test(verifies("X35", "a conversation knows what its ended responses used, and which one has not ended"), async () => {
    const store = await open();
    const price = { input: 2, output: 10 };
    const usage = { promptTokens: 1000, completionTokens: 100, totalTokens: 1100 };
    const end = { type: "turn_end", finishReason: "stop", rawFinishReason: "", usage, modelMs: 1 } as const;
    const turnEnd = (seq: number): RunEvent => ({ ...end, seq, time: seq });
    const readRecord = async () => (await store.listConversations({ limit: 1 }))[0];
    await store.createResponse(response("chat_a"));
    const events = [{ type: "run_start", prompt: "p", price, seq: 1, time: 1 } as RunEvent, delta(2), turnEnd(3)];
    for (const event of events) await store.appendEvents("chat_a", [event], "grouped");
    expect(await readRecord()).toMatchObject({ openResponseId: "chat_a", usage: { promptTokens: 0 } });
    await store.appendEvents("chat_a", [turnEnd(4), runEnd(5)], "synced");
    const once = { promptTokens: 2000, completionTokens: 200 };
    expect(await readRecord()).toMatchObject({ usage: { ...once, costUsd: 0.006 } });
    expect(await readRecord()).not.toHaveProperty("openResponseId");
    // Reverted responses were paid; without a price the cost is not known.
    await store.showBranch("conv_1", 0);
    const start = { type: "run_start", prompt: "p", seq: 1, time: 1 } as RunEvent;
    const responses = [{ id: "chat_b", createdAt: 5, events: [start, turnEnd(2), turnEnd(3), runEnd(4)] }];
    const whole = { id: "conv_2", workspace: "/w", title: "t", createdAt: 5, updatedAt: 5, settings: {}, responses };
    await store.addConversation(whole);
    expect((await store.getConversation("conv_1"))?.usage).toEqual({ ...once, costUsd: 0.006 });
    expect((await store.getConversation("conv_2"))?.usage).toEqual(once);
    await store.close();
  });

  test(verifies("X36", "pinned conversations come first if asked for, page by page"), async () => {
    const store = await open();
    for (let index = 1; index <= 6; index += 1) {
      await addEnded(store, response(`chat_${index}`, `conv_${index}`, 1000 * Math.ceil(index / 2)));
    }
    for (const id of ["conv_2", "conv_5", "conv_1"]) await store.changeConversation(id, { pinned: true });
    await store.changeConversation("conv_1", { pinned: false });
    await store.changeConversation("conv_2", { title: "still pinned" });
    const list = async (pinnedFirst: boolean): Promise<string> => {
      let ids = "";
      for (let after: ConversationRecord | undefined; ;) {
        const page = await store.listConversations({ limit: 2, pinnedFirst, after });
        if (page.length === 0) return ids;
        ids += page.map(({ id, pinned }) => `${id.slice(5)}${pinned ? "!" : ""}`).join("");
        after = page.at(-1);
      }
    };
    expect(await list(true)).toBe("5!2!6431");
    expect(await list(false)).toBe("65!432!1");
    expect(await store.forOwner("other").changeConversation("conv_6", { pinned: true })).toBe(false);
    await store.close();
  });

  test(verifies("R-03", "events are read as they were stored, from any number on"), async () => {
    const store = await open();
    await store.createResponse(response("chat_a"));
    await store.appendEvents("chat_a", [delta(1), delta(2, "ü\u0000\u{1F600}\u2028"), delta(3)], "grouped");
    await store.appendEvents("chat_a", [delta(4)], "synced");
    const all = [delta(1), delta(2, "ü\u0000\u{1F600}\u2028"), delta(3), delta(4)];
    for (let after = 0; after <= 4; after += 1) {
      expect(await store.readEvents("chat_a", after)).toEqual(all.slice(after));
    }
    expect(await store.readEvents("chat_unknown")).toEqual([]);
    expect((await store.getResponse("chat_a"))?.lastSeq).toBe(4);
    await store.close();
  });

  test("a gap, a repetition and an unknown response are refused, and nothing is stored", async () => {
    const store = await open();
    await store.createResponse(response("chat_a"));
    await store.appendEvents("chat_a", [delta(1)], "grouped");
    await expect(store.appendEvents("chat_a", [delta(3)], "grouped")).rejects.toThrow(/do not follow|does not follow/);
    await expect(store.appendEvents("chat_a", [delta(1)], "grouped")).rejects.toThrow(/do not follow|does not follow/);
    await expect(store.appendEvents("chat_a", [delta(2), delta(4)], "grouped")).rejects.toThrow(
      /do not follow|does not follow/,
    );
    await expect(store.appendEvents("chat_x", [delta(1)], "grouped")).rejects.toThrow(/not stored/);
    await expect(store.createResponse(response("chat_a", "conv_2"))).rejects.toMatchObject({ code: "INTERNAL" });
    expect(await store.readEvents("chat_a")).toEqual([delta(1)]);
    await store.close();
  });

  test(verifies("C250", "the history is one branch, and every other one stays"), async () => {
    const store = await open();
    for (const id of ["chat_a", "chat_b", "chat_c"]) await addEnded(store, response(id));
    await addEnded(store, response("chat_d", "conv_2"));
    await store.showBranch("conv_1", 1);
    await store.showBranch("conv_unknown", 0);
    const rows = async (id: string) =>
      (await store.listResponses(id)).map(({ position, parent, reverted }) => [position, parent, reverted]);
    expect(await rows("conv_1")).toEqual([
      [1, 0, false],
      [2, 1, true],
      [3, 2, true],
    ]);
    expect(await rows("conv_2")).toEqual([[1, 0, false]]);
    expect(await store.readEvents("chat_b")).toHaveLength(2);
    const second = { position: 4, parent: 1, reverted: false };
    await addEnded(store, response("chat_e"));
    expect(await store.getResponse("chat_e")).toMatchObject(second);
    await store.showBranch("conv_1", 3);
    expect((await rows("conv_1")).map(([, , reverted]) => reverted)).toEqual([false, false, false, true]);
    await store.showBranch("conv_1", 0);
    expect(await store.createResponse(response("chat_f"))).toMatchObject({ position: 5, parent: 0 });
    expect((await rows("conv_1")).map(([, , reverted]) => reverted)).toEqual([true, true, true, true, false]);
    await store.close();
  });

  test("run_end ends a response", async () => {
    const store = await open();
    await store.createResponse(response("chat_a"));
    await store.appendEvents("chat_a", [delta(1)], "grouped");
    expect((await store.getResponse("chat_a"))?.ended).toBe(false);
    await store.appendEvents("chat_a", [{ type: "run_end", reason: "end_turn", seq: 2, time: 2 }], "synced");
    expect(await store.getResponse("chat_a")).toMatchObject({ ended: true, lastSeq: 2 });
    await store.close();
  });

  test("a log is read in parts, of which each holds something", async () => {
    const store = await open();
    await store.createResponse(response("chat_a"));
    const all = Array.from({ length: 25 }, (_, index) => delta(index + 1));
    for (let start = 0; start < 25; start += 5)
      await store.appendEvents("chat_a", all.slice(start, start + 5), "grouped");
    for (const limit of [1, 4, 7, 100]) {
      const read: RunEvent[] = [];
      for (;;) {
        const part = await store.readEvents("chat_a", read.length, limit);
        if (part.length === 0) break;
        expect(part.length).toBeLessThanOrEqual(limit + 4);
        read.push(...part);
      }
      expect(read).toEqual(all);
    }
    await store.close();
  });

  test(verifies("R-05", "a conversation has one writer at a time"), async () => {
    const store = await open();
    await store.createResponse(response("chat_a"));
    await expect(store.createResponse(response("chat_b"))).rejects.toMatchObject({ code: "CONVERSATION_BUSY" });
    await expect(store.lockConversation("conv_1")).rejects.toMatchObject({ code: "CONVERSATION_BUSY" });
    await expect(store.deleteConversation("conv_1")).rejects.toMatchObject({ code: "CONVERSATION_BUSY" });
    expect(await store.claimResponse("chat_a")).toBe(false);
    expect((await store.listResponses("conv_1")).map(({ id }) => id)).toEqual(["chat_a"]);
    await store.appendEvents("chat_a", [runEnd(1)], "synced");
    expect(await store.listOpenResponses()).toEqual([]);
    expect(await store.claimResponse("chat_a")).toBe(false);
    const release = await store.lockConversation("conv_1");
    await expect(store.createResponse(response("chat_b"))).rejects.toMatchObject({ code: "CONVERSATION_BUSY" });
    await release?.();
    await store.createResponse(response("chat_b"));
    expect(await store.lockConversation("conv_9")).toBeUndefined();
    await store.close();
  });

  test(
    verifies(["R-05", "R-71"], "a response that its process leaves can be claimed, also by that process"),
    async () => {
      const store = await open();
      await store.createResponse(response("chat_a"));
      await store.appendEvents("chat_a", [delta(1)], "grouped");
      await store.forOwner("other").leaveResponse("chat_a");
      expect(await store.claimResponse("chat_a")).toBe(false);
      await store.leaveResponse("chat_a");
      await store.leaveResponse("chat_unknown");
      expect(await store.listOpenResponses()).toEqual([{ id: "chat_a", owner: "local" }]);
      await expect(store.appendEvents("chat_a", [delta(2)], "grouped")).rejects.toMatchObject({ code: "INTERNAL" });
      expect(await store.claimResponse("chat_a")).toBe(true);
      expect(await store.claimResponse("chat_a")).toBe(false);
      await expect(store.createResponse(response("chat_b"))).rejects.toMatchObject({ code: "CONVERSATION_BUSY" });
      await store.appendEvents("chat_a", [runEnd(2)], "synced");
      expect(await store.getResponse("chat_a")).toMatchObject({ ended: true, lastSeq: 2 });
      await store.leaveResponse("chat_a");
      await store.close();
    },
  );

  test(verifies("X7", "the writer of a response learns that it should stop"), async () => {
    const store = await open();
    await store.createResponse(response("chat_a"));
    expect(await store.keepLease("chat_a")).toBe("kept");
    await store.forOwner("other").requestCancel("chat_a");
    await store.requestCancel("chat_unknown");
    expect(await store.keepLease("chat_a")).toBe("kept");
    await store.requestCancel("chat_a");
    expect(await store.keepLease("chat_a")).toBe("cancel");
    await store.close();
  });

  test(verifies("S-53", "nothing of another owner can be reached"), async () => {
    const store = await open();
    const other = store.forOwner("other");
    await addEnded(store, response("chat_a"));
    await other.createResponse(response("chat_b", "conv_2"));
    expect(await other.getConversation("conv_1")).toBeUndefined();
    expect(await other.getResponse("chat_a")).toBeUndefined();
    expect(await other.readEvents("chat_a")).toEqual([]);
    expect(await other.listResponses("conv_1")).toEqual([]);
    expect((await other.listConversations({ limit: 9 })).map(({ id }) => id)).toEqual(["conv_2"]);
    expect((await store.listConversations({ limit: 9 })).map(({ id }) => id)).toEqual(["conv_1"]);
    const { updatedAt } = (await store.getConversation("conv_1"))!;
    // A place in the list tells nothing of another owner's conversation, not even that there is one.
    for (const id of ["conv_2", "conv_missing"]) {
      expect(await store.listConversations({ limit: 9, after: { updatedAt, id } })).toEqual([]);
    }
    expect(await other.changeConversation("conv_1", { title: "Mine" })).toBe(false);
    expect(await other.deleteConversation("conv_1")).toBe(false);
    expect(await other.lockConversation("conv_1")).toBeUndefined();
    expect(await other.claimResponse("chat_a")).toBe(false);
    await other.showBranch("conv_1", 0);
    expect(await store.getResponse("chat_a")).toMatchObject({ reverted: false });
    await expect(other.createResponse(response("chat_c"))).rejects.toMatchObject({ code: "USAGE" });
    await expect(store.appendEvents("chat_b", [delta(1)], "grouped")).rejects.toThrow(/not stored/);
    expect(await store.forOwner("local").getResponse("chat_a")).toBeDefined();
    await store.close();
  });

  test(verifies("X9", "a request is answered once"), async () => {
    const store = await open();
    const request = { key: "k", digest: "d" };
    await store.createResponse({ ...response("chat_a"), request });
    await store.appendEvents("chat_a", [runEnd(1)], "synced");
    expect(await store.findRequest("k")).toEqual({ ...request, responseId: "chat_a", conversationId: "conv_1" });
    expect(await store.findRequest("other")).toBeUndefined();
    expect(await store.forOwner("other").findRequest("k")).toBeUndefined();
    const again = store.createResponse({ ...response("chat_b"), request });
    await expect(again).rejects.toMatchObject({ code: "CONVERSATION_BUSY" });
    expect(await store.getResponse("chat_b")).toBeUndefined();
    expect(await store.deleteConversation("conv_1")).toBe(true);
    expect(await store.findRequest("k")).toBeUndefined();
    await store.close();
  });

  test.each([0.5, 1e300, -1, undefined])(
    verifies("X35", "a response ends, though its model counted %s tokens"),
    async (promptTokens) => {
      const store = await open();
      await store.createResponse(response("chat_1", "conv_1", 1));
      const usage = { promptTokens, completionTokens: 2.4, totalTokens: 3 };
      const turnEnd = { type: "turn_end", finishReason: "stop", usage, modelMs: 1, seq: 1, time: 1 } as RunEvent;
      await store.appendEvents("chat_1", [turnEnd, runEnd(2)], "synced");
      expect(await store.getResponse("chat_1")).toMatchObject({ ended: true });
      const [conversation] = await store.listConversations({ limit: 1 });
      expect(conversation!.usage.completionTokens).toBe(2);
      expect(Number.isSafeInteger(conversation!.usage.promptTokens)).toBe(true);
      await store.close();
    },
  );

  test(verifies("X36", "conversations are searched, page by page"), async () => {
    const store = await open();
    for (let index = 1; index <= 7; index += 1) {
      const added = {
        ...response(`chat_${index}`, `conv_${index}`, index < 5 ? 1000 : index),
        title: `Title ${index} 100%`,
      };
      await addEnded(store, added, index % 2 === 0 ? "Fix the PARSER_now" : "write docs");
    }
    const list = async (query: Omit<Parameters<Store["listConversations"]>[0], "limit">): Promise<string[]> => {
      const ids: string[] = [];
      for (let after: ConversationRecord | undefined; ;) {
        const page = await store.listConversations({ limit: 2, ...query, after });
        if (page.length === 0) return ids;
        ids.push(...page.map(({ id }) => id.slice(5)));
        after = page.at(-1);
      }
    };
    expect(await list({})).toEqual(["4", "3", "2", "1", "7", "6", "5"]);
    expect(await list({ search: "parser_" })).toEqual(["4", "2", "6"]);
    expect(await list({ search: "100%" })).toHaveLength(7);
    expect(await list({ search: "1_0%" })).toEqual([]);
    expect(await list({ search: "title 3" })).toEqual(["3"]);
    expect(await list({ search: "\0" })).toEqual([]);
    await store.createResponse(response("chat_9", "conv_9", 8000));
    const words = [delta(2, "The ans"), delta(3, "wer is 4"), delta(4, "2.")];
    const begin = [{ type: "run_start", prompt: "question", seq: 1, time: 1 } as RunEvent, ...words];
    for (const event of [...begin, runEnd(5)]) await store.appendEvents("chat_9", [event], "grouped");
    expect(await list({ search: "answer is 42" })).toEqual(["9"]);
    expect(await store.listTexts("conv_9")).toEqual([
      { responseId: "chat_9", message: "question", answer: "The answer is 42." },
    ]);
    expect(await store.forOwner("other").listTexts("conv_9")).toEqual([]);
    await store.showBranch("conv_9", 0);
    expect(await list({ search: "answer is 42" })).toEqual([]);
    expect(await store.listTexts("conv_9")).toEqual([]);
    await addEnded(store, { ...response("chat_8", "conv_8", 9000), title: "ÜBER Größen" }, "Имя a\0b");
    for (const search of ["über", "GRÖSSEN".toLowerCase(), "größen", "ИМЯ", "A\0B"]) {
      expect([search, await list({ search })]).toEqual([search, search === "grössen" ? [] : ["8"]]);
    }
    await store.close();
  });

  test("a conversation with an id that is taken is not stored, in no part", async () => {
    const store = await open();
    const { workspace, title } = response("");
    const toConversation = (id: string, ...responseIds: readonly string[]) => ({
      id,
      workspace,
      title,
      createdAt: 5,
      updatedAt: 6,
      settings: {},
      responses: responseIds.map((responseId) => ({ id: responseId, createdAt: 5, events: [runEnd(1)] })),
    });
    await store.addConversation(toConversation("conv_1", "chat_1"));
    for (const [id, responseIds, taken] of [
      ["conv_1", ["chat_2"], "conv_1"],
      ["conv_2", ["chat_3", "chat_1"], "chat_1"],
    ] as const) {
      const again = store.forOwner("other").addConversation(toConversation(id, ...responseIds));
      await expect(again).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining(taken) as string });
    }
    expect(await store.forOwner("other").countConversations()).toBe(0);
    expect(await store.countConversations()).toBe(1);
    await store.close();
  });

  test("a conversation is stored whole, and is deleted with all that hangs on it", async () => {
    const store = await open();
    const events = [...Array.from({ length: 1200 }, (_, index) => delta(index + 1)), runEnd(1201)];
    const { workspace, title } = response("");
    const responses = [{ id: "chat_a", createdAt: 5, events }];
    await store.addConversation({
      id: "conv_1",
      workspace,
      title,
      createdAt: 5,
      updatedAt: 6,
      settings: {},
      responses,
    });
    expect(await store.readEvents("chat_a")).toEqual(events);
    expect(await store.readEvents("chat_a", 700, 1)).toContainEqual(delta(701));
    expect(await store.getResponse("chat_a")).toMatchObject({ position: 1, lastSeq: 1201, ended: true });
    expect(await store.createResponse(response("chat_b"))).toMatchObject({ position: 2 });
    await store.appendEvents("chat_b", [runEnd(1)], "synced");
    expect(await store.deleteConversation("conv_1")).toBe(true);
    const late = { ...response("chat_late"), cluster: { ...terms, hasWaited: false, continues: true } };
    await expect(store.createResponse(late)).rejects.toMatchObject({ code: "USAGE" });
    expect(await store.getConversation("conv_1")).toBeUndefined();
    expect(await store.deleteConversation("conv_1")).toBe(false);
    expect(await store.readEvents("chat_a")).toEqual([]);
    expect(await store.getResponse("chat_b")).toBeUndefined();
    await store.close();
  });

  test(
    verifies("R-63", "old conversations are deleted, the oldest first, but none that is pinned or runs"),
    async () => {
      const store = await open();
      const others = store.forOwner("user:ada");
      for (const [index, own] of [store, others, store, others, store].entries()) {
        await addEnded(own, response(`chat_${index}`, `conv_${index}`, 1000 + index));
      }
      await others.changeConversation("conv_1", { pinned: true });
      await store.createResponse(response("chat_runs", "conv_runs", 5));
      expect(await store.deleteOldConversations(1004, 2)).toEqual(["conv_0", "conv_2"]);
      expect(await store.deleteOldConversations(1004, 2)).toEqual(["conv_3"]);
      expect(await store.deleteOldConversations(1004, 2)).toEqual([]);
      expect(await store.readEvents("chat_0")).toEqual([]);
      expect(await others.getConversation("conv_1")).toBeDefined();
      expect(await store.getConversation("conv_4")).toBeDefined();
      expect(await store.getConversation("conv_runs")).toBeDefined();
      await store.close();
    },
  );

  test(
    verifies(["X46", "S-53", "S-120", "S-122"], "attachments belong to one owner, within limits, until they are old"),
    async () => {
      const store = await open();
      const [ada, bob] = [store.forOwner("ada"), store.forOwner("bob")];
      const bytes = new Uint8Array([0, 255, 10]);
      const limits = { count: 2, bytes: 7 };
      const toRecord = (id: string, createdAt: number, size = 3) =>
        ({ id, name: "ä.txt", mediaType: "text/plain", size, createdAt }) as const;
      expect(await ada.addAttachment(toRecord("att_1", 1), bytes, limits)).toBe(true);
      expect(await ada.addAttachment(toRecord("att_2", 2, 5), bytes, limits)).toBe(false);
      expect(
        await Promise.all(["att_2", "att_3"].map((id) => ada.addAttachment(toRecord(id, 5), bytes, limits))),
      ).toContain(false);
      expect(await bob.addAttachment(toRecord("att_4", 1), bytes, limits)).toBe(true);
      expect(await ada.getAttachment("att_1")).toEqual(toRecord("att_1", 1));
      expect((await ada.listAttachments()).map(({ id }) => id)).toEqual(["att_1", expect.stringMatching(/att_[23]/)]);
      expect(await bob.listAttachments()).toEqual([toRecord("att_4", 1)]);
      expect([...(await ada.readAttachment("att_1"))!]).toEqual([...bytes]);
      expect([await bob.getAttachment("att_1"), await bob.readAttachment("att_1")]).toEqual([undefined, undefined]);
      expect([await bob.deleteAttachment("att_1"), await ada.deleteAttachment("att_1\0")]).toEqual([false, false]);
      expect([await ada.deleteAttachment("att_1"), await ada.deleteAttachment("att_1")]).toEqual([true, false]);
      await store.deleteAttachmentsBefore(5);
      expect(await bob.getAttachment("att_4")).toBeUndefined();
      expect([await ada.getAttachment("att_2"), await ada.getAttachment("att_3")]).toContainEqual(
        expect.objectContaining({ createdAt: 5 }),
      );
      await store.close();
    },
  );
}
