/** The contract suite of the store port; every implementation runs it. */
import type { RunEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import type { Store } from "../../src/storage/store.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const response = (id: string, conversationId = "conv_1", createdAt = 1000) => ({
  id,
  conversationId,
  workspace: "/w",
  title: "a title",
  createdAt,
});

const delta = (seq: number, text = `${seq}`): RunEvent => ({ type: "text_delta", text, seq, time: seq });

/** Tests that hold for every store. `open` gives an empty one. */
export function testStoreContract(open: () => Store): void {
  test("a response is opened at the end of its conversation", async () => {
    const store = open();
    expect(await store.createResponse(response("chat_a"))).toEqual({
      id: "chat_a",
      conversationId: "conv_1",
      position: 1,
      createdAt: 1000,
      lastSeq: 0,
      ended: false,
    });
    expect((await store.createResponse(response("chat_b", "conv_1", 2000))).position).toBe(2);
    expect((await store.createResponse(response("chat_c", "conv_2", 3000))).position).toBe(1);
    expect((await store.listResponses("conv_1")).map((row) => row.id)).toEqual(["chat_a", "chat_b"]);
    expect(await store.getConversation("conv_1")).toEqual({
      id: "conv_1",
      workspace: "/w",
      title: "a title",
      createdAt: 1000,
      updatedAt: 2000,
    });
    expect(await store.getConversation("conv_9")).toBeUndefined();
    expect(await store.getResponse("chat_9")).toBeUndefined();
    await store.close();
  });

  test("conversations are listed newest first, by workspace", async () => {
    const store = open();
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

  test(verifies("R-03", "events are read as they were stored, from any number on"), async () => {
    const store = open();
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
    const store = open();
    await store.createResponse(response("chat_a"));
    await store.appendEvents("chat_a", [delta(1)], "grouped");
    await expect(store.appendEvents("chat_a", [delta(3)], "grouped")).rejects.toThrow(/do not follow|does not follow/);
    await expect(store.appendEvents("chat_a", [delta(1)], "grouped")).rejects.toThrow(/do not follow|does not follow/);
    await expect(store.appendEvents("chat_a", [delta(2), delta(4)], "grouped")).rejects.toThrow(
      /do not follow|does not follow/,
    );
    await expect(store.appendEvents("chat_x", [delta(1)], "grouped")).rejects.toThrow(/not stored/);
    await expect(store.createResponse(response("chat_a"))).rejects.toMatchObject({ code: "INTERNAL" });
    expect(await store.readEvents("chat_a")).toEqual([delta(1)]);
    await store.close();
  });

  test("run_end ends a response", async () => {
    const store = open();
    await store.createResponse(response("chat_a"));
    await store.appendEvents("chat_a", [delta(1)], "grouped");
    expect((await store.getResponse("chat_a"))?.ended).toBe(false);
    await store.appendEvents("chat_a", [{ type: "run_end", reason: "end_turn", seq: 2, time: 2 }], "synced");
    expect(await store.getResponse("chat_a")).toMatchObject({ ended: true, lastSeq: 2 });
    await store.close();
  });
}
