/** Rules by which processes of a SQLite file share the messages that wait. */
import type { ClaimedMessage, WaitingMessages } from "./cluster.ts";
import type { SharedStore } from "./store.ts";
import { sql, type SqlDatabase } from "./sql.ts";
import { createWaitingRows, waits } from "./sql-waiting.ts";

/** The messages as `owner` sees them. If several processes start one, the conversation's lease picks the first. */
export function createSqliteWaiting(database: SqlDatabase, owner: string): WaitingMessages {
  return createWaitingRows(database, owner, {
    holder: null,
    // Milliseconds since 1970.
    clock: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    toSpan: String,
    isOpen: "r.ended = 0",
    announce: () => undefined,
    watch: () => () => undefined,
    async claim(starting, toFirst) {
      // Usually no message waits, and then this is one look at an empty table.
      const any = await database.read(sql`SELECT 1 FROM sheaf.orders o WHERE ${waits} LIMIT 1`);
      if (any.length === 0) return [];
      const first = toFirst(sql`o.id NOT IN (SELECT value FROM json_each(${JSON.stringify(starting)}))`);
      return database.read<ClaimedMessage>(
        sql`${first} SELECT o.id AS "responseId", o.owner, o.body AS text FROM first f JOIN sheaf.orders o ON o.key = f.key
        ORDER BY f.running, o.key LIMIT 1`,
      );
    },
  });
}

/** Notifies watchers in this process of changes to the queue: other processes look from time to time. */
export function announceChanges(store: SharedStore, watchers = new Map<() => void, string | undefined>()): SharedStore {
  const { waiting } = store;
  const announceAfter = async <Result>(change: Promise<Result>, id?: string): Promise<Result> => {
    const result = await change;
    for (const [watcher, wanted] of watchers) if (wanted === undefined || wanted === id) watcher();
    return result;
  };
  return {
    ...store,
    forOwner: (owner) => announceChanges(store.forOwner(owner), watchers),
    createResponse(response) {
      const creating = store.createResponse(response);
      return response.cluster?.hasWaited ? announceAfter(creating, response.id) : creating;
    },
    appendEvents(responseId, events, durability) {
      const appending = store.appendEvents(responseId, events, durability);
      return events.at(-1)?.type === "run_end" ? announceAfter(appending) : appending;
    },
    waiting: {
      ...waiting,
      add: (message, maxWaiting) => announceAfter(waiting.add(message, maxWaiting), message.responseId),
      remove: (responseId) => announceAfter(waiting.remove(responseId), responseId),
      fail: (responseId, failure) => announceAfter(waiting.fail(responseId, failure), responseId),
      watch(onChange, responseId) {
        watchers.set(onChange, responseId);
        return () => void watchers.delete(onChange);
      },
    },
  };
}
