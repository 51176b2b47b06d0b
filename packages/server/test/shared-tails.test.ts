/** Many readers at a server that does not run the response: one reader of the store, and each gets the whole stream. */
import type { RunEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { createTextMask } from "@sheaf/base/text-mask";
import { createSharedTails } from "../src/shared-tails.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { Store } from "@sheaf/store/store";
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { createPostgresStore } from "@sheaf/store/postgres";
import { verifies } from "../../../test/support/verifies.ts";

const row = { id: "chat_a", conversationId: "conv_1", workspace: "/w", title: "t", createdAt: 1 };
const delta = (seq: number): RunEvent => ({ type: "text_delta", text: `${seq} `, seq, time: seq });
const start = { type: "run_start", prompt: "p", seq: 1, time: 1 } as RunEvent;
const end = (seq: number): RunEvent => ({ type: "run_end", reason: "end_turn", seq, time: seq });

/** The store, with the numbers of what its readers asked for. */
function watchReads(store: Store): { readonly store: Store; readonly reads: number[] } {
  const reads: number[] = [];
  const readEvents: Store["readEvents"] = (id, after = 0, limit) => {
    reads.push(after);
    return store.readEvents(id, after, limit);
  };
  return { reads, store: { ...store, readEvents } };
}

function join(tails: ReturnType<typeof createSharedTails>, store: Store) {
  const tail = tails.open("chat_a", store);
  const seen: number[] = [];
  let isOver = false;
  tail.channel.join({
    includesReasoning: false,
    take: (_, events) => void seen.push(...events.map(({ seq }) => seq)),
    end: () => void (isOver = true),
  });
  return { tail, seen, isOver: () => isOver };
}

test(verifies("R-65", "fifty readers cost the store what one costs; the last one that leaves ends it"), async () => {
  const store = createSqliteStore(":memory:");
  await store.createResponse(row);
  await store.appendEvents("chat_a", [start], "grouped");
  const watched = watchReads(store);
  const tails = createSharedTails({ heartbeatMs: 1000, mask: createTextMask() });
  const readers = Array.from({ length: 50 }, () => join(tails, watched.store));
  expect(tails.size).toBe(1);
  expect(await readers[0]!.tail.reach(1)).toBe(true);
  for (let seq = 2; seq <= 5; seq += 1) {
    await store.appendEvents("chat_a", [delta(seq)], "grouped");
    expect(await readers[7]!.tail.reach(seq)).toBe(true);
  }
  for (const { seen } of readers) expect(seen).toEqual([1, 2, 3, 4, 5]);
  // Each number once for a page, once for its end, and at most a look now and then.
  expect(watched.reads.length).toBeLessThan(20);
  for (const { tail } of readers) tail.leave();
  await expect.poll(() => tails.size).toBe(0);
  expect(await readers[0]!.tail.reach(9)).toBe(false);
  const late = join(tails, watched.store);
  await store.appendEvents("chat_a", [end(6)], "synced");
  await expect.poll(late.isOver).toBe(true);
  expect(late.seen).toEqual([1, 2, 3, 4, 5, 6]);
  late.tail.leave();
  await expect.poll(() => tails.size).toBe(0);
  await store.close();
});

test(
  verifies("R-65", "a response that is deleted, or a store that fails, ends the stream of each reader"),
  async () => {
    for (const failure of [undefined, new Error("the disk is gone")]) {
      const store = createSqliteStore(":memory:");
      await store.createResponse(row);
      await store.appendEvents("chat_a", [start, end(2)], "synced");
      const tails = createSharedTails({ heartbeatMs: 1000, mask: createTextMask() });
      const broken: Store = {
        ...store,
        readEvents: async (id, after = 0) => {
          if (failure && after > 0) throw failure;
          return after > 0 ? [] : (await store.readEvents(id)).slice(0, 1);
        },
      };
      const reader = join(tails, broken);
      await store.deleteConversation("conv_1");
      await expect.poll(reader.isOver).toBe(true);
      await store.close();
    }
  },
);

describeWithPostgres("in PostgreSQL", (postgres) => {
  test(
    verifies("R-65", "what is new in many logs is one statement; each gets its own, and a bad one fails alone"),
    async () => {
      const address = await postgres.clearDatabase();
      const store = await createPostgresStore(address);
      const ada = store.forOwner("user:ada");
      const ids = Array.from({ length: 30 }, (_, index) => `chat_${index}`);
      for (const id of ids) {
        await ada.createResponse({ ...row, id, conversationId: `conv_${id}` });
        await ada.appendEvents(id, [start, delta(2)], "grouped");
        await ada.appendEvents(id, [delta(3), delta(4)], "grouped");
        await ada.appendEvents(id, [delta(5)], "grouped");
      }
      await postgres.run(
        address,
        `UPDATE sheaf.event_groups SET events = '[{' WHERE first_seq = 5
       AND response = (SELECT key FROM sheaf.responses WHERE id = 'chat_7')`,
      );
      const reads = await Promise.allSettled(ids.map((id, index) => ada.readEvents(id, 1 + (index % 5))));
      for (const [index, read] of reads.entries()) {
        const wanted = [2, 3, 4, 5].filter((seq) => seq > 1 + (index % 5));
        if (index === 7) expect(read).toMatchObject({ reason: { code: "STORAGE_CORRUPT" } });
        else expect(read.status === "fulfilled" && read.value.map(({ seq }) => seq)).toEqual(wanted);
      }
      // Of another owner, of nobody, and about as many as asked for.
      expect(await store.readEvents("chat_1", 1)).toEqual([]);
      expect(await ada.readEvents("chat_none", 1)).toEqual([]);
      expect((await ada.readEvents("chat_1", 1, 1)).map(({ seq }) => seq)).toEqual([2]);
      await store.close();
    },
  );
});
