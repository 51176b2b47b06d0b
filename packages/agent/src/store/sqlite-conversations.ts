/** Conversations and responses in SQLite, as rows. Every statement names the owner (S-53). */
import type { SqliteConnection } from "./sqlite-connection.ts";
import { lastSeqOfResponse } from "./sqlite-groups.ts";
import type {
  CompleteConversation,
  ConversationQuery,
  ConversationRecord,
  OpenResponse,
  OwnerUsage,
  RequestRecord,
  ResponseRecord,
} from "./store.ts";

/** Events of a log that is stored whole, in one row. */
const GROUP = 500;

const conversationColumns = "id, workspace, title, created_at AS createdAt, updated_at AS updatedAt";

type ResponseRow = Omit<ResponseRecord, "ended" | "reverted"> & { readonly ended: number; readonly reverted: number };

/** `where`: a condition with one parameter, on responses r or conversations c. */
export function selectResponses(
  connection: SqliteConnection,
  owner: string,
  where: "r.id = ?" | "c.id = ?",
  value: string,
): ResponseRecord[] {
  const sql = `SELECT r.id, c.id AS conversationId, r.position, r.created_at AS createdAt, r.ended, r.reverted,
      ${lastSeqOfResponse} AS lastSeq
    FROM responses r JOIN conversations c ON c.key = r.conversation WHERE ${where} AND c.owner = ? ORDER BY r.position`;
  const rows = connection.run(() => connection.prepare(sql).all(value, owner)) as unknown as ResponseRow[];
  return rows.map(({ id, conversationId, position, createdAt, lastSeq, ended, reverted }) => ({
    id,
    conversationId,
    position,
    createdAt,
    lastSeq,
    ended: ended === 1,
    reverted: reverted === 1,
  }));
}

export function getConversation(
  connection: SqliteConnection,
  owner: string,
  conversationId: string,
): ConversationRecord | undefined {
  const sql = `SELECT ${conversationColumns} FROM conversations WHERE id = ? AND owner = ?`;
  return connection.run(() => connection.prepare(sql).get(conversationId, owner)) as ConversationRecord | undefined;
}

export function listConversations(
  connection: SqliteConnection,
  owner: string,
  { limit, workspace, behind, search }: ConversationQuery,
): ConversationRecord[] {
  const sql = `SELECT ${conversationColumns} FROM conversations c
    WHERE owner = ?1 AND (?2 IS NULL OR workspace = ?2)
      AND (?3 IS NULL OR (updated_at, key) < (?3, COALESCE((SELECT key FROM conversations WHERE id = ?4), 0)))
      AND (?5 IS NULL OR holds(title, ?5) OR EXISTS (
        SELECT 1 FROM responses r JOIN event_groups g ON g.response = r.key AND g.first_seq = 1
        WHERE r.conversation = c.key AND holds(json_extract(g.events, '$[0].prompt'), ?5)))
    ORDER BY updated_at DESC, key DESC LIMIT ?6`;
  const words = search?.toLowerCase() ?? null;
  const values = [owner, workspace ?? null, behind?.updatedAt ?? null, behind?.id ?? null, words, limit];
  return connection.run(() => connection.prepare(sql).all(...values)) as unknown as ConversationRecord[];
}

export function listOpenResponses(connection: SqliteConnection): OpenResponse[] {
  const sql = `SELECT r.id, c.owner FROM responses r JOIN conversations c ON c.key = r.conversation
    WHERE r.ended = 0 ORDER BY r.key`;
  return connection.run(() => connection.prepare(sql).all()) as unknown as OpenResponse[];
}

export function findRequest(connection: SqliteConnection, owner: string, key: string): RequestRecord | undefined {
  const sql = `SELECT q.key, q.digest, r.id AS responseId, c.id AS conversationId
    FROM requests q JOIN responses r ON r.key = q.response JOIN conversations c ON c.key = r.conversation
    WHERE q.owner = ? AND q.key = ?`;
  return connection.run(() => connection.prepare(sql).get(owner, key)) as RequestRecord | undefined;
}

/** Within a transaction. */
export function insertConversation(
  connection: SqliteConnection,
  owner: string,
  conversation: CompleteConversation,
): void {
  const { id, workspace, title, createdAt, updatedAt, responses } = conversation;
  const { key } = connection
    .prepare(
      `INSERT INTO conversations (id, owner, workspace, title, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
       RETURNING key`,
    )
    .get(id, owner, workspace, title, createdAt, updatedAt) as { key: number };
  for (const [index, response] of responses.entries()) {
    const row = connection
      .prepare(
        "INSERT INTO responses (id, conversation, position, created_at, ended) VALUES (?, ?, ?, ?, 1) RETURNING key",
      )
      .get(response.id, key, index + 1, response.createdAt) as { key: number };
    for (let start = 0; start < response.events.length; start += GROUP) {
      const group = response.events.slice(start, start + GROUP);
      connection
        .prepare("INSERT INTO event_groups (response, first_seq, last_seq, events) VALUES (?, ?, ?, ?)")
        .run(row.key, group[0]!.seq, group.at(-1)!.seq, JSON.stringify(group));
    }
  }
}

/** With all that hangs on it. */
export function deleteConversation(connection: SqliteConnection, owner: string, conversationId: string): void {
  connection.prepare("DELETE FROM conversations WHERE id = ? AND owner = ?").run(conversationId, owner);
}

export function countConversations(connection: SqliteConnection, owner: string): number {
  const sql = "SELECT COUNT(*) AS count FROM conversations WHERE owner = ?";
  return (connection.run(() => connection.prepare(sql).get(owner)) as { count: number }).count;
}

export function readUsage(connection: SqliteConnection, owner: string, day: string): OwnerUsage {
  const sql = "SELECT turns, cost_usd AS costUsd FROM owner_usage WHERE owner = ? AND day = ?";
  const row = connection.run(() => connection.prepare(sql).get(owner, day)) as OwnerUsage | undefined;
  return row ?? { turns: 0, costUsd: 0 };
}

export function addUsage(connection: SqliteConnection, owner: string, day: string, usage: OwnerUsage): void {
  const sql = `INSERT INTO owner_usage (owner, day, turns, cost_usd) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET turns = turns + excluded.turns, cost_usd = cost_usd + excluded.cost_usd`;
  connection.run(() => connection.prepare(sql).run(owner, day, usage.turns, usage.costUsd));
}
