/** The answer to a COMMIT is lost: the database did it, and its process does not know. */
import { join } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import { afterEach, describe, expect, test } from "vitest";
import { openSqliteDump } from "../src/sqlite-dump.ts";
import { createSqliteStore } from "../src/sqlite.ts";
import { type ClusterStore, createPostgresStore, preparePostgres } from "../src/postgres.ts";
import type { SharedStore } from "../src/store.ts";
import { fillPostgres } from "../src/postgres-dump.ts";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { testDeep } from "../../../test/support/describe-where.ts";
import { verifies } from "../../../test/support/verifies.ts";

const runEnd = (seq: number): RunEvent => ({ type: "run_end", reason: "end_turn", seq, time: seq });
const row = { id: "chat_a", conversationId: "conv_1", workspace: "/w", title: "t", createdAt: 1 };
const order = { responseId: "chat_b", conversationId: "conv_1", text: "{}" };
const attachment = { id: "att_1", name: "a", mediaType: "text/plain", size: 3, createdAt: 1 } as const;
const limits = { count: 1, bytes: 3 };
const bytes = new Uint8Array([1, 2, 3]);
const folders = createTestFolder();

describeWithPostgres("an answer of PostgreSQL that is lost", (postgres) => {
  const opened: ClusterStore[] = [];
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  const open = async (address: string): Promise<ClusterStore> => {
    const store = await createPostgresStore(address);
    opened.push(store);
    return store;
  };

  /** A store whose connections a test can break, in an empty database. */
  const openThroughProxy = async (): Promise<{
    address: string;
    near: string;
    proxy: TcpProxy;
    store: ClusterStore;
  }> => {
    const address = await postgres.clearDatabase();
    const socket = join(new URL(address.replace("@/", "@h/")).searchParams.get("host")!, ".s.PGSQL.5432");
    const proxy = await startTcpProxy(() => socket);
    const near = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
    return { address, near, proxy, store: await open(near) };
  };

  const addEnded = async (store: SharedStore, id: string, conversationId: string): Promise<void> => {
    await store.createResponse({ ...row, id, conversationId });
    await store.appendEvents(id, [runEnd(1)], "synced");
  };

  test.each([1, 3])(
    verifies(["R-75", "X9"], "a response begins once, although %i answers are lost, and its process writes it"),
    async (count) => {
      const { proxy, store, address } = await openThroughProxy();
      const request = { key: "k", digest: "d" };
      proxy.loseAnswers("COMMIT\0", count);
      // Alone it is as many as its owner may have.
      const begun = await store.createResponse({
        ...row,
        request,
        cluster: { hasWaited: false, maxRunning: 1, continuation: "{}" },
      });
      expect([begun.position, proxy.toLose]).toEqual([1, 0]);
      expect(await store.claimResponse("chat_a")).toBe(false);
      expect(await store.keepLease("chat_a")).toBe("kept");
      await store.appendEvents("chat_a", [runEnd(1)], "synced");
      expect(await store.listOpenResponses()).toEqual([]);
      expect(await store.findRequest("k")).toMatchObject({ responseId: "chat_a" });
      expect(await postgres.run(address, "SELECT COUNT(*)::int AS count FROM sheaf.responses")).toEqual([{ count: 1 }]);
    },
  );

  test(verifies("R-75", "a message that waited begins once"), async () => {
    const { proxy, store } = await openThroughProxy();
    await addEnded(store, "chat_0", "conv_1");
    proxy.loseAnswers("COMMIT\0", 1);
    await store.waiting.add(order, 1);
    expect(await store.waiting.claim(9, [])).toMatchObject({ responseId: "chat_b" });
    proxy.loseAnswers("COMMIT\0", 1);
    await store.createResponse({
      ...row,
      id: "chat_b",
      cluster: { hasWaited: true, maxRunning: 9, continuation: undefined },
    });
    expect(await store.waiting.claim(9, [])).toBeUndefined();
    await store.appendEvents("chat_b", [runEnd(1)], "synced");
    expect((await store.listResponses("conv_1")).map(({ id }) => id)).toEqual(["chat_0", "chat_b"]);
  });

  test(verifies(["C240", "R-75"], "a message that reached a response meanwhile doesn't wait again"), async () => {
    const { proxy, store, address } = await openThroughProxy();
    const writer = await open(address);
    await writer.createResponse(row);
    proxy.loseAnswers("COMMIT\0", Infinity);
    const added = store.waiting.add({ ...order, steers: true }, 1);
    await expect.poll(() => writer.waiting.take("chat_a")).toHaveLength(1);
    const told = { type: "user_message", message: "m", messageId: "chat_b", seq: 1, time: 1 } as const;
    await writer.appendEvents("chat_a", [told], "synced");
    proxy.loseAnswers("", 0);
    await added;
    expect(await writer.waiting.list("conv_1")).toEqual([]);
  });

  type Act = (store: ClusterStore, address: string) => Promise<unknown>;
  const cases: readonly (readonly [
    name: string,
    before: Act,
    action: Act,
    result: unknown,
    after: Act,
    state: unknown,
  ])[] = [
    [
      "a message waits once, within the limit of its owner",
      async () => undefined,
      (store) => store.waiting.add(order, 1),
      undefined,
      async (store) => [(await store.waiting.claim(9, []))?.responseId, await store.waiting.claim(9, ["chat_b"])],
      ["chat_b", undefined],
    ],
    [
      "a response that is claimed is written here",
      async (store) => {
        await store.createResponse(row);
        await store.leaveResponse("chat_a");
      },
      (store) => store.claimResponse("chat_a"),
      true,
      async (store) => {
        await store.appendEvents("chat_a", [runEnd(1)], "synced");
        return store.listOpenResponses();
      },
      [],
    ],
    [
      "a conversation that is locked is free again afterwards",
      (store) => addEnded(store, "chat_a", "conv_1"),
      async (store) => (await store.lockConversation("conv_1"))!(),
      undefined,
      async (store) => (await store.createResponse({ ...row, id: "chat_b" })).position,
      2,
    ],
    [
      "a conversation that is deleted was there",
      (store) => addEnded(store, "chat_a", "conv_1"),
      (store) => store.deleteConversation("conv_1"),
      true,
      (store) => store.getConversation("conv_1"),
      undefined,
    ],
    [
      "old conversations that are deleted are named, so that their files go, too",
      async (store) => {
        await addEnded(store, "chat_a", "conv_1");
        await addEnded(store, "chat_b", "conv_2");
      },
      (store) => store.deleteOldConversations(2, 1),
      ["conv_1"],
      async (store) => (await store.listConversations({ limit: 9 })).map(({ id }) => id),
      ["conv_2"],
    ],
    [
      "a conversation is added once",
      async () => undefined,
      (store) =>
        store.addConversation({
          id: "conv_9",
          workspace: "/w",
          title: "t",
          createdAt: 1,
          updatedAt: 1,
          settings: {},
          responses: [{ id: "chat_9", createdAt: 1, events: [runEnd(1)] }],
        }),
      undefined,
      (store) => store.readEvents("chat_9"),
      [runEnd(1)],
    ],
    [
      "an attachment is added once, within the limits",
      async () => undefined,
      (store) => store.addAttachment(attachment, bytes, limits),
      true,
      async (store) => (await store.listAttachments()).length,
      1,
    ],
    [
      "an attachment that is deleted was there",
      (store) => store.addAttachment(attachment, bytes, limits),
      (store) => store.deleteAttachment("att_1"),
      true,
      (store) => store.listAttachments(),
      [],
    ],
    [
      "usage counts once",
      (store) => store.addUsage("2026-01-01", { turns: 1, costUsd: 1 }),
      (store) => store.addUsage("2026-01-01", { turns: 1, costUsd: 1 }),
      undefined,
      (store) => store.readUsage("2026-01-01"),
      { turns: 2, costUsd: 2 },
    ],
  ];

  test.each(cases)(verifies("R-75", "%s"), async (_, before, action, result, after, state) => {
    const { proxy, store, address } = await openThroughProxy();
    await before(store, address);
    proxy.loseAnswers("COMMIT\0", 1);
    expect(await action(store, address)).toEqual(result);
    expect(proxy.toLose).toBe(0);
    expect(await after(store, address)).toEqual(state);
  });

  test(
    verifies(["R-37", "R-75"], "a decision is given to the writer once, and the person gets its reply"),
    async () => {
      const { proxy, store, address } = await openThroughProxy();
      const other = await open(address);
      await store.createResponse(row);
      const asked = other.cluster.mailbox.ask("chat_a", "yes?", async () => false);
      await expect.poll(() => postgres.run(address, "SELECT 1 FROM sheaf.letters")).toHaveLength(1);
      proxy.loseAnswers("COMMIT\0", 1);
      const letters = await store.cluster.mailbox.take("chat_a");
      expect([letters.map(({ text }) => text), proxy.toLose]).toEqual([["yes?"], 0]);
      expect(await store.cluster.mailbox.take("chat_a")).toEqual([]);
      await store.cluster.mailbox.reply("chat_a", letters[0]!.id, "yes");
      expect(await asked).toBe("yes");
      await store.appendEvents("chat_a", [runEnd(1)], "synced");
    },
  );

  test(verifies(["R-62", "R-75"], "a copy of a file says that it was made"), async () => {
    const file = join(folders.newFolder(), "sheaf.db");
    const source = createSqliteStore(file);
    await addEnded(source, "chat_a", "conv_1");
    await source.close();
    const { proxy, address, near } = await openThroughProxy();
    await preparePostgres(address, { migrates: true });
    const dump = openSqliteDump(file);
    proxy.loseAnswers("COMMIT\0", 1);
    const sums = await fillPostgres(near, dump);
    await dump.close();
    expect([sums.responses.count, proxy.toLose]).toEqual([1, 0]);
  });

  describe("and is not found out in time", () => {
    // As a lost answer leaves it when the database is away for longer than a process waits.
    const leave = (address: string, id: string, conversationId: string): Promise<unknown> =>
      postgres.run(
        address,
        `WITH made AS (INSERT INTO sheaf.conversations (id, owner, workspace, title, title_words, created_at, updated_at, fence, holder)
           SELECT '${conversationId}', 'local', '/w', 't', 't', 1, 1, 1, id FROM sheaf.holders RETURNING key)
         INSERT INTO sheaf.responses (id, conversation, position, created_at) SELECT '${id}', key, 1, 1 FROM made`,
      );

    testDeep(verifies(["R-01", "R-75"], "a process waits no longer than 10 s, and ends it later"), async () => {
      const { proxy, store } = await openThroughProxy();
      proxy.loseAnswers("COMMIT\0", Infinity);
      await expect(store.createResponse(row)).rejects.toMatchObject({ code: "STORAGE_LOCKED" });
      proxy.loseAnswers("", 0);
      expect(await store.listOpenResponses()).toEqual([{ id: "chat_a", owner: "local" }]);
      expect(await store.claimResponse("chat_a")).toBe(true);
      await store.appendEvents("chat_a", [runEnd(1)], "synced");
    });

    test(verifies(["R-01", "R-75"], "a response is claimed by its process, and by no other one"), async () => {
      const { store, address } = await openThroughProxy();
      await leave(address, "chat_z", "conv_z");
      const other = await open(address);
      expect(await other.claimResponse("chat_z")).toBe(false);
      await expect(other.createResponse({ ...row, id: "chat_y", conversationId: "conv_z" })).rejects.toMatchObject({
        code: "CONVERSATION_BUSY",
      });
      expect(await store.claimResponse("chat_z")).toBe(true);
      expect(await store.claimResponse("chat_z")).toBe(false);
      await store.appendEvents("chat_z", [runEnd(1)], "synced");
      expect(await store.listOpenResponses()).toEqual([]);
      expect(await other.createResponse({ ...row, id: "chat_y", conversationId: "conv_z" })).toMatchObject({
        position: 2,
      });
    });

    test(verifies(["R-40", "R-75"], "one that may go on goes on, before it is ended"), async () => {
      const { store, address } = await openThroughProxy();
      await leave(address, "chat_z", "conv_z");
      await postgres.run(
        address,
        `INSERT INTO sheaf.orders (id, owner, conversation, body, response, resumes)
         SELECT 'chat_z', 'local', 'conv_z', '{}', key, true FROM sheaf.responses`,
      );
      expect(await store.claimResponse("chat_z")).toBe(false);
      expect(await store.cluster.findCut("chat_z")).toBe("{}");
      expect(await store.cluster.takeOver("chat_z")).toBe(true);
      await store.appendEvents("chat_z", [runEnd(1)], "synced");
    });

    test(verifies("R-75", "a conversation can be locked, deleted and continued"), async () => {
      const { store, address } = await openThroughProxy();
      await leave(address, "chat_z", "conv_z");
      await postgres.run(address, "UPDATE sheaf.responses SET ended = true");
      // A message that waits for it can begin.
      await store.waiting.add({ ...order, conversationId: "conv_z" }, 1);
      expect(await store.waiting.claim(9, [])).toMatchObject({ responseId: "chat_b" });
      expect(await store.waiting.remove("chat_b")).toBe(true);
      await (await store.lockConversation("conv_z"))!();
      await postgres.run(address, "UPDATE sheaf.conversations SET holder = (SELECT id FROM sheaf.holders)");
      expect(await store.deleteConversation("conv_z")).toBe(true);
    });

    test(verifies(["R-05", "R-75"], "what is just beginning is not taken for it"), async () => {
      const { store } = await openThroughProxy();
      const ids = Array.from({ length: 40 }, (_, index) => `chat_${index}`);
      const claims = await Promise.all(
        ids.map(async (id) => {
          const begun = store.createResponse({ ...row, id, conversationId: `conv_${id}` });
          const claimed: boolean[] = [];
          for (let tries = 0; tries < 5; tries += 1) claimed.push(await store.claimResponse(id));
          await begun;
          await store.appendEvents(id, [runEnd(1)], "synced");
          return claimed;
        }),
      );
      expect(claims.flat()).not.toContain(true);
    });
  });
});
