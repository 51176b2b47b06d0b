import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { RunEvent } from "@sheaf/protocol";
import { afterAll, describe, expect, test } from "vitest";
import { readUptime } from "../src/sqlite-leases.ts";
import { createSqliteStore } from "../src/sqlite.ts";
import type { SharedStore } from "../src/store.ts";
import { createThreadedSqliteStore } from "../src/threaded-sqlite.ts";
import { verifies } from "../../../test/support/verifies.ts";

const folder = mkdtempSync(join(tmpdir(), "sheaf-groups-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
const newFile = () => join(folder, `${(count += 1)}`, "sheaf.db");
const ids = Array.from({ length: 6 }, (_, index) => `chat_${index}`);
const delta = (seq: number, length = 5): RunEvent => ({ type: "text_delta", text: "x".repeat(length), seq, time: seq });
const end = (seq: number): RunEvent => ({ type: "run_end", reason: "end_turn", seq, time: seq });

async function createResponses(store: SharedStore): Promise<void> {
  for (const id of ids) {
    const conversationId = `conv_${id}`;
    await store.createResponse({ id, conversationId, workspace: "/w", title: "t", createdAt: 1 });
  }
}

/** Small deltas of all responses at once, with something large and something synced between them. */
async function appendRounds(store: SharedStore, first: number, last: number): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for (let seq = first; seq <= last; seq += 1) {
    const event = delta(seq, seq % 17 === 0 ? 3000 : 5);
    events.push(event);
    await Promise.all(ids.map((id) => store.appendEvents(id, [event], seq % 23 === 0 ? "synced" : "grouped")));
  }
  return events;
}

function countRows(file: string, where: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const { rows } = database.prepare(`SELECT COUNT(*) AS rows FROM ${where}`).get() as { rows: number };
  database.close();
  return rows;
}

describe("groups that lie in the order of their arrival", () => {
  test(verifies("R-03", "a log is read in its order from any number on, wherever its groups lie"), async () => {
    const file = newFile();
    const store = createThreadedSqliteStore(file);
    await createResponses(store);
    const most = 120;
    const events = await appendRounds(store, 1, most);
    // Some were taken to their places while others came.
    expect(countRows(file, "arrived_groups")).toBeGreaterThan(0);
    expect(countRows(file, "arrived_groups")).toBeLessThan(400);
    expect(countRows(file, "event_groups")).toBeGreaterThan(300);
    const other = createSqliteStore(file);
    for (const reader of [store, other]) {
      for (const id of ids) {
        expect(await reader.readEvents(id)).toEqual(events);
        expect(await reader.getResponse(id)).toMatchObject({ lastSeq: most, ended: false });
      }
      for (let after = 0; after <= most; after += 1) {
        expect(await reader.readEvents(ids[2]!, after)).toEqual(events.slice(after));
      }
      const paged: RunEvent[] = [];
      for (let page = await reader.readEvents(ids[1]!, 0, 7); page.length > 0;) {
        paged.push(...page);
        page = await reader.readEvents(ids[1]!, page.at(-1)!.seq, 7);
      }
      expect(paged).toEqual(events);
    }
    await other.close();
    await store.close();
  });

  test("a log that has ended has all its groups in their places", async () => {
    const file = newFile();
    const store = createThreadedSqliteStore(file);
    await createResponses(store);
    const events = await appendRounds(store, 1, 10);
    await store.appendEvents(ids[0]!, [end(11)], "synced");
    expect(countRows(file, "arrived_groups WHERE response = 1")).toBe(0);
    expect(countRows(file, "arrived_groups WHERE response = 2")).toBe(10);
    await Promise.all(ids.slice(1).map((id) => store.appendEvents(id, [end(11)], "synced")));
    expect(countRows(file, "arrived_groups")).toBe(0);
    for (const id of ids) {
      expect(await store.readEvents(id)).toEqual([...events, end(11)]);
      expect(await store.getResponse(id)).toMatchObject({ lastSeq: 11, ended: true });
    }
    await store.close();
  });

  test(verifies(["R-01", "R-05"], "who takes a response over goes on behind them"), async () => {
    const file = newFile();
    const gone = createThreadedSqliteStore(file);
    await createResponses(gone);
    const events = await appendRounds(gone, 1, 10);
    // By this clock the leases are over.
    const next = createSqliteStore(file, { uptime: () => readUptime() + 15_000 });
    for (const id of ids) {
      expect(await next.claimResponse(id)).toBe(true);
      await expect(next.appendEvents(id, [end(10)], "synced")).rejects.toMatchObject({ code: "INTERNAL" });
      await next.appendEvents(id, [end(11)], "synced");
      expect(await next.readEvents(id)).toEqual([...events, end(11)]);
      await expect(gone.appendEvents(id, [delta(11)], "grouped")).rejects.toMatchObject({ code: "CONVERSATION_BUSY" });
    }
    expect(countRows(file, "arrived_groups")).toBe(0);
    await next.close();
    await gone.close();
  });

  test("they go with their conversation", async () => {
    const file = newFile();
    const gone = createThreadedSqliteStore(file);
    await createResponses(gone);
    await appendRounds(gone, 1, 10);
    const next = createSqliteStore(file, { uptime: () => readUptime() + 15_000 });
    expect(await next.deleteConversation(`conv_${ids[0]!}`)).toBe(true);
    expect(countRows(file, "arrived_groups WHERE response = 1")).toBe(0);
    expect(await next.readEvents(ids[1]!)).toHaveLength(10);
    await next.close();
    await gone.close();
  });

  test(verifies("R-06", "where their page is damaged, logs that have ended are read"), async () => {
    const file = newFile();
    const store = createThreadedSqliteStore(file);
    await createResponses(store);
    const events = await appendRounds(store, 1, 10);
    await store.appendEvents(ids[0]!, [end(11)], "synced");
    await store.close();
    const database = new DatabaseSync(file);
    const { page } = database
      .prepare("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'arrived_groups'")
      .get() as {
      page: number;
    };
    database.close();
    const bytes = readFileSync(file);
    bytes.fill(0xff, (page - 1) * 4096, page * 4096);
    writeFileSync(file, bytes);

    const damaged = createSqliteStore(file, { uptime: () => readUptime() + 15_000 });
    expect(await damaged.readEvents(ids[0]!)).toEqual([...events, end(11)]);
    expect(await damaged.listResponses(`conv_${ids[0]!}`)).toMatchObject([{ lastSeq: 11, ended: true }]);
    await expect(damaged.readEvents(ids[1]!)).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
    await damaged.close();
  });

  test("a store of an older Sheaf gets room for them", async () => {
    const file = newFile();
    const old = createSqliteStore(file);
    await createResponses(old);
    await old.appendEvents(ids[0]!, [delta(1), end(2)], "synced");
    await old.appendEvents(ids[1]!, [delta(1)], "grouped");
    await old.close();
    const database = new DatabaseSync(file);
    database.exec(
      `DROP TABLE orders; DROP TABLE schema_use; DROP TABLE attachments; DROP TABLE arrived_groups; DROP INDEX conversations_by_pin; PRAGMA user_version = 4;
       ALTER TABLE conversations DROP COLUMN settings; ALTER TABLE conversations DROP COLUMN pinned;
       ALTER TABLE responses DROP COLUMN prompt_tokens; ALTER TABLE responses DROP COLUMN completion_tokens;
       ALTER TABLE responses DROP COLUMN cost_usd; ALTER TABLE responses DROP COLUMN answer; ALTER TABLE responses DROP COLUMN parent;`,
    );
    database.close();
    const store = createThreadedSqliteStore(file);
    expect(await store.readEvents(ids[0]!)).toEqual([delta(1), end(2)]);
    expect(await store.readEvents(ids[1]!)).toEqual([delta(1)]);
    const { conversationId } = (await store.getResponse(ids[0]!))!;
    expect((await store.listTexts(conversationId))[0]).toMatchObject({ answer: expect.stringMatching(/./) as string });
    const id = "chat_new";
    await store.createResponse({ id, conversationId: "conv_new", workspace: "/w", title: "t", createdAt: 1 });
    await store.appendEvents(id, [delta(1)], "grouped");
    expect(countRows(file, "arrived_groups")).toBe(1);
    expect(await store.readEvents(id)).toEqual([delta(1)]);
    await store.close();
  });
});
