/** Conversations, responses and usage in PostgreSQL, as rows. Every statement names the owner (S-53). */
import type { RunEvent } from "@sheaf/protocol";
import { type ConversationRow, type ConversationRows, groupEvents, toConversationRecord } from "./conversation-rows.ts";
import type { PostgresConnection, Query } from "./postgres-connection.ts";
import { lastSeqOfRow } from "./postgres-log.ts";
import { findPrompt, fromColumn, toColumn, toWords } from "./postgres-text.ts";
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
import { encodeEvents } from "./encode-events.ts";
import { digestLog } from "./log-digest.ts";

const conversationColumns = `c.id, c.workspace, c.title, c.created_at AS "createdAt", c.updated_at AS "updatedAt", c.settings,
  c.pinned,
  (SELECT json_build_array(COALESCE(SUM(prompt_tokens), 0), COALESCE(SUM(completion_tokens), 0), SUM(cost_usd))
    FROM sheaf.responses WHERE conversation = c.key) AS usage,
  (SELECT id FROM sheaf.responses WHERE conversation = c.key AND NOT ended
    ORDER BY position DESC LIMIT 1) AS "openResponseId"`;

/** The rows as `owner` sees them. */
export function createPostgresRows({ query, transact }: PostgresConnection, owner: string): ConversationRows {
  const selectResponses = (where: "r.id = $1" | "c.id = $1", value: string): Promise<readonly ResponseRecord[]> =>
    query<ResponseRecord>(
      `SELECT r.id, c.id AS "conversationId", r.position, r.created_at AS "createdAt", r.ended, r.reverted,
         ${lastSeqOfRow} AS "lastSeq"
       FROM sheaf.responses r JOIN sheaf.conversations c ON c.key = r.conversation
       WHERE ${where} AND c.owner = $2 ORDER BY r.position`,
      [toColumn(value), owner],
    );

  return {
    async revertResponses(conversationId, fromPosition) {
      await query(
        `UPDATE sheaf.responses SET reverted = true WHERE position >= $1
         AND conversation = (SELECT key FROM sheaf.conversations WHERE id = $2 AND owner = $3)`,
        [fromPosition, toColumn(conversationId), owner],
      );
    },
    getResponse: async (responseId) => (await selectResponses("r.id = $1", responseId))[0],
    listResponses: (conversationId) => selectResponses("c.id = $1", conversationId),
    async getConversation(conversationId) {
      const [row] = await query<ConversationRow>(
        `SELECT ${conversationColumns} FROM sheaf.conversations c WHERE id = $1 AND owner = $2`,
        [toColumn(conversationId), owner],
      );
      return row && toRecord(row);
    },
    async changeConversation(conversationId, { title, settings, pinned }) {
      const changed = await query(
        `UPDATE sheaf.conversations SET title = COALESCE($1, title), title_words = COALESCE($2, title_words),
           settings = COALESCE($3, settings), pinned = COALESCE($4, pinned)
         WHERE id = $5 AND owner = $6 RETURNING key`,
        [
          title === undefined ? null : toColumn(title),
          title === undefined ? null : toWords(title),
          settings === undefined ? null : JSON.stringify(settings),
          pinned ?? null,
          toColumn(conversationId),
          owner,
        ],
      );
      return changed.length > 0;
    },
    async listConversations({ limit, workspace, after, pinnedFirst = false, search }) {
      const [place, last, order] = pinnedFirst
        ? ["pinned, updated_at, key", "$7, $3", "pinned DESC, updated_at DESC, key DESC"]
        : ["updated_at, key", "$3", "updated_at DESC, key DESC"];
      const rows = await query<ConversationRow>(
        `SELECT ${conversationColumns} FROM sheaf.conversations c
         WHERE owner = $1 AND ($2::text IS NULL OR workspace = $2)
           AND ($3::bigint IS NULL OR (${place}) < (${last}, COALESCE(
             (SELECT o.key FROM sheaf.conversations o WHERE o.id = $4 AND o.owner = $1), 0)))
           AND ($5::text IS NULL OR strpos(title_words, $5) > 0 OR EXISTS (
             SELECT 1 FROM sheaf.responses r LEFT JOIN sheaf.event_groups g ON g.response = r.key AND g.first_seq = 1
             WHERE r.conversation = c.key AND NOT r.reverted
               AND (strpos(r.answer_words, $5) > 0 OR strpos(g.prompt_words, $5) > 0)))
         ORDER BY ${order} LIMIT $6`,
        [
          owner,
          workspace ?? null,
          after?.updatedAt ?? null,
          toColumn(after?.id ?? ""),
          search === undefined ? null : toWords(search),
          limit,
          ...(pinnedFirst ? [after?.pinned ?? false] : []),
        ],
      );
      return rows.map(toRecord);
    },
    listOpenResponses: () =>
      query<OpenResponse>(
        `SELECT r.id, c.owner FROM sheaf.responses r JOIN sheaf.conversations c ON c.key = r.conversation
         WHERE NOT r.ended ORDER BY r.key`,
      ),
    async findRequest(key) {
      const [row] = await query<RequestRecord>(
        `SELECT q.key, q.digest, r.id AS "responseId", c.id AS "conversationId" FROM sheaf.requests q
         JOIN sheaf.responses r ON r.key = q.response JOIN sheaf.conversations c ON c.key = r.conversation
         WHERE q.owner = $1 AND q.key = $2
         UNION ALL SELECT request_key, request_digest, id, conversation FROM sheaf.orders
         WHERE owner = $1 AND request_key = $2 AND response IS NULL AND failure IS NULL`,
        [owner, key],
      );
      return row;
    },
    addConversation: (conversation) =>
      transact(async (run, isDoubtful) => {
        const isNew = await insertConversation(run, owner, conversation);
        if (!isNew && !isDoubtful) throw createTakenError(conversation.id);
      }),
    async listTexts(conversationId) {
      const rows = await query<Omit<ResponseTexts, "message"> & { readonly events: string | null }>(
        `SELECT r.id AS "responseId", g.events, r.answer
         FROM sheaf.responses r JOIN sheaf.conversations c ON c.key = r.conversation
         LEFT JOIN sheaf.event_groups g ON g.response = r.key AND g.first_seq = 1
         WHERE c.id = $1 AND c.owner = $2 AND NOT r.reverted ORDER BY r.position`,
        [toColumn(conversationId), owner],
      );
      return rows.map(({ events, ...row }) => ({ ...row, message: readMessage(events ?? "[]") }));
    },
    async countConversations() {
      const [row] = await query<{ count: number }>(
        "SELECT COUNT(*) AS count FROM sheaf.conversations WHERE owner = $1",
        [owner],
      );
      return row!.count;
    },
    async readUsage(day) {
      const [row] = await query<OwnerUsage>(
        `SELECT turns, cost_usd AS "costUsd" FROM sheaf.owner_usage WHERE owner = $1 AND day = $2`,
        [owner, day],
      );
      return row ?? { turns: 0, costUsd: 0 };
    },
    // Not by `query`, which may run a statement twice. Counted once at most: there is no way to see what was counted.
    addUsage: (day, { turns, costUsd }) =>
      transact(async (run, isDoubtful) => {
        if (isDoubtful) return;
        await run(
          `INSERT INTO sheaf.owner_usage AS u (owner, day, turns, cost_usd) VALUES ($1, $2, $3, $4)
           ON CONFLICT (owner, day) DO UPDATE
           SET turns = u.turns + excluded.turns, cost_usd = u.cost_usd + excluded.cost_usd`,
          [owner, day, turns, costUsd],
        );
      }),
  };
}

/** Of a group of events. One log that is damaged does not end searches of all. */
function readMessage(events: string): string {
  try {
    return findPrompt(JSON.parse(events) as RunEvent[]) ?? "";
  } catch {
    return "";
  }
}

function toRecord({ title, ...row }: ConversationRow): ConversationRecord {
  return toConversationRecord({ ...row, title: fromColumn(title) });
}

/** Within a transaction. False: its id is taken, perhaps by another owner. @throws SheafError USAGE for a response's. */
async function insertConversation(query: Query, owner: string, conversation: CompleteConversation): Promise<boolean> {
  const { id, workspace, title, createdAt, updatedAt, settings, responses } = conversation;
  const words = [toColumn(title), toWords(title)];
  const [inserted] = await query<{ key: number }>(
    `INSERT INTO sheaf.conversations (id, owner, workspace, title, title_words, created_at, updated_at, settings)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING key`,
    [id, owner, workspace, ...words, createdAt, updatedAt, JSON.stringify(settings)],
  );
  if (!inserted) return false;
  for (const [index, response] of responses.entries()) {
    const { promptTokens, completionTokens, costUsd, answer } = digestLog(response.events);
    const [row] = await query<{ key: number }>(
      `INSERT INTO sheaf.responses (id, conversation, position, created_at, ended,
         prompt_tokens, completion_tokens, cost_usd, answer, answer_words)
       VALUES ($1, $2, $3, $4, true, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING key`,
      [
        response.id,
        inserted.key,
        index + 1,
        response.createdAt,
        promptTokens,
        completionTokens,
        costUsd ?? null,
        answer,
        toWords(answer),
      ],
    );
    if (!row) throw createTakenError(response.id);
    await insertLog(query, row.key, response.events);
  }
  return true;
}

async function insertLog(
  query: Query,
  response: number,
  events: CompleteConversation["responses"][number]["events"],
): Promise<void> {
  for (const group of groupEvents(events)) {
    const prompt = findPrompt(group);
    const { firstSeq, lastSeq, text } = encodeEvents(group)!;
    await query(
      `INSERT INTO sheaf.event_groups (response, first_seq, last_seq, events, prompt_words) VALUES ($1, $2, $3, $4, $5)`,
      [response, firstSeq, lastSeq, text, prompt === undefined ? null : toWords(prompt)],
    );
  }
}
