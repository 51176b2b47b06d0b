/** Conversations, responses and usage in SQLite, as rows. Every statement names the owner (S-53). */
import type { SQLInputValue } from "node:sqlite";
import type { SqliteConnection } from "./sqlite-connection.ts";
import {
  type ConversationRow,
  type ConversationRows,
  groupEvents,
  toConversationRecord,
  type UsageColumns,
} from "./conversation-rows.ts";
import { digestLog } from "./log-digest.ts";
import { writeDigest } from "./sqlite-digests.ts";
import { lastSeqOfResponse } from "./sqlite-groups.ts";
import {
  createTakenError,
  type CompleteConversation,
  type ConversationRecord,
  type OpenResponse,
  type OwnerUsage,
  type RequestRecord,
  type ResponseRecord,
  type ResponseTexts,
} from "./store.ts";

const conversationColumns = `c.id, c.workspace, c.title, c.created_at AS createdAt, c.updated_at AS updatedAt, c.settings,
  c.pinned,
  (SELECT json_array(COALESCE(SUM(prompt_tokens), 0), COALESCE(SUM(completion_tokens), 0), SUM(cost_usd))
    FROM responses WHERE conversation = c.key) AS usage,
  (SELECT id FROM responses WHERE conversation = c.key AND ended = 0 ORDER BY position DESC LIMIT 1) AS openResponseId`;

interface SqliteRow extends Omit<ConversationRow, "pinned" | "usage"> {
  readonly pinned: number;
  readonly usage: string;
}

/** What the user wrote in the response `r` of a statement. One log that is damaged does not end searches of all. */
const promptOfResponse =
  "(SELECT json_extract(events, '$[0].prompt') FROM event_groups WHERE response = r.key AND first_seq = 1 AND json_valid(events))";

type ResponseRow = Omit<ResponseRecord, "ended" | "reverted"> & { readonly ended: number; readonly reverted: number };

/** The rows as `owner` sees them. */
export function createConversationRows(connection: SqliteConnection, owner: string): ConversationRows {
  const get = (sql: string, ...values: SQLInputValue[]): unknown =>
    connection.run(() => connection.prepare(sql).get(...values));
  const all = (sql: string, ...values: SQLInputValue[]): unknown =>
    connection.run(() => connection.prepare(sql).all(...values));

  const selectResponses = (where: "r.id = ?" | "c.id = ?", value: string): ResponseRecord[] => {
    const sql = `SELECT r.id, c.id AS conversationId, r.position, r.created_at AS createdAt, r.ended, r.reverted,
        ${lastSeqOfResponse} AS lastSeq
      FROM responses r JOIN conversations c ON c.key = r.conversation WHERE ${where} AND c.owner = ? ORDER BY r.position`;
    const rows = all(sql, value, owner) as ResponseRow[];
    return rows.map((row) => ({ ...row, ended: row.ended === 1, reverted: row.reverted === 1 }));
  };

  return {
    revertResponses: async (conversationId, fromPosition) =>
      connection.transact("synced", () => {
        const sql = `UPDATE responses SET reverted = 1 WHERE position >= ?
          AND conversation = (SELECT key FROM conversations WHERE id = ? AND owner = ?)`;
        connection.prepare(sql).run(fromPosition, conversationId, owner);
      }),
    getResponse: async (responseId) => selectResponses("r.id = ?", responseId)[0],
    listResponses: async (conversationId) => selectResponses("c.id = ?", conversationId),
    getConversation: async (conversationId) => {
      const sql = `SELECT ${conversationColumns} FROM conversations c WHERE id = ? AND owner = ?`;
      const row = get(sql, conversationId, owner) as SqliteRow | undefined;
      return row && toRecord(row);
    },
    changeConversation: async (conversationId, { title, settings, pinned }) => {
      const sql = `UPDATE conversations SET title = COALESCE(?, title), settings = COALESCE(?, settings),
          pinned = COALESCE(?, pinned)
        WHERE id = ? AND owner = ? RETURNING id`;
      const text = settings === undefined ? null : JSON.stringify(settings);
      return connection.transact(
        "synced",
        () => connection.prepare(sql).get(title ?? null, text, toFlag(pinned), conversationId, owner) !== undefined,
      );
    },
    listConversations: async ({ limit, workspace, after, pinnedFirst, search }) => {
      const [rank, place] = pinnedFirst ? ["pinned DESC, ", "pinned, "] : ["", ""];
      const last: Record<string, number | null> = pinnedFirst ? { pinned: toFlag(after?.pinned ?? false) } : {};
      const sql = `SELECT ${conversationColumns} FROM conversations c
        WHERE owner = :owner AND (:workspace IS NULL OR workspace = :workspace)
          AND (:time IS NULL OR (${place}updated_at, key) < (${pinnedFirst ? ":pinned, " : ""}:time, COALESCE((SELECT key FROM conversations WHERE id = :id AND owner = :owner), 0)))
          AND (:words IS NULL OR holds(title, :words) OR EXISTS (SELECT 1 FROM responses r
            WHERE r.conversation = c.key AND r.reverted = 0 AND (holds(r.answer, :words) OR holds(${promptOfResponse}, :words))))
        ORDER BY ${rank}updated_at DESC, key DESC LIMIT :limit`;
      const page = { time: after?.updatedAt ?? null, id: after?.id ?? null, limit, ...last };
      const values = { owner, workspace: workspace ?? null, words: search?.toLowerCase() ?? null, ...page };
      const rows = connection.run(() => connection.prepare(sql).all(values)) as unknown as SqliteRow[];
      return rows.map(toRecord);
    },
    listOpenResponses: async () => {
      const sql = `SELECT r.id, c.owner FROM responses r JOIN conversations c ON c.key = r.conversation
        WHERE r.ended = 0 ORDER BY r.key`;
      return all(sql) as OpenResponse[];
    },
    findRequest: async (key) => {
      const sql = `SELECT q.key, q.digest, r.id AS responseId, c.id AS conversationId
        FROM requests q JOIN responses r ON r.key = q.response JOIN conversations c ON c.key = r.conversation
        WHERE q.owner = ? AND q.key = ?`;
      return get(sql, owner, key) as RequestRecord | undefined;
    },
    addConversation: async (conversation) =>
      connection.transact("synced", () => insertConversation(connection, owner, conversation)),
    listTexts: async (conversationId) => {
      const sql = `SELECT r.id AS responseId, COALESCE(${promptOfResponse}, '') AS message, r.answer
        FROM responses r JOIN conversations c ON c.key = r.conversation
        WHERE c.id = ? AND c.owner = ? AND r.reverted = 0 ORDER BY r.position`;
      return all(sql, conversationId, owner) as ResponseTexts[];
    },
    countConversations: async () =>
      (get("SELECT COUNT(*) AS count FROM conversations WHERE owner = ?", owner) as { count: number }).count,
    readUsage: async (day) => {
      const sql = "SELECT turns, cost_usd AS costUsd FROM owner_usage WHERE owner = ? AND day = ?";
      return (get(sql, owner, day) as OwnerUsage | undefined) ?? { turns: 0, costUsd: 0 };
    },
    addUsage: async (day, { turns, costUsd }) => {
      const sql = `INSERT INTO owner_usage (owner, day, turns, cost_usd) VALUES (?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET turns = turns + excluded.turns, cost_usd = cost_usd + excluded.cost_usd`;
      connection.run(() => connection.prepare(sql).run(owner, day, turns, costUsd));
    },
  };
}

function toRecord({ pinned, usage, ...row }: SqliteRow): ConversationRecord {
  return toConversationRecord({ ...row, pinned: pinned === 1, usage: JSON.parse(usage) as UsageColumns });
}

function toFlag(value: boolean | undefined): number | null {
  return value === undefined ? null : Number(value);
}

/** Within a transaction. @throws SheafError USAGE for an id that is taken, perhaps by another owner. */
function insertConversation(connection: SqliteConnection, owner: string, conversation: CompleteConversation): void {
  const { id, workspace, title, createdAt, updatedAt, settings, responses } = conversation;
  const inserted = connection
    .prepare(
      `INSERT INTO conversations (id, owner, workspace, title, created_at, updated_at, settings)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING key`,
    )
    .get(id, owner, workspace, title, createdAt, updatedAt, JSON.stringify(settings)) as { key: number } | undefined;
  if (!inserted) throw createTakenError(id);
  for (const [index, response] of responses.entries()) {
    const row = connection
      .prepare(
        `INSERT INTO responses (id, conversation, position, created_at, ended) VALUES (?, ?, ?, ?, 1)
         ON CONFLICT DO NOTHING RETURNING key`,
      )
      .get(response.id, inserted.key, index + 1, response.createdAt) as { key: number } | undefined;
    if (!row) throw createTakenError(response.id);
    writeDigest(connection, row.key, digestLog(response.events));
    for (const group of groupEvents(response.events)) {
      connection
        .prepare("INSERT INTO event_groups (response, first_seq, last_seq, events) VALUES (?, ?, ?, ?)")
        .run(row.key, group[0]!.seq, group.at(-1)!.seq, JSON.stringify(group));
    }
  }
}
