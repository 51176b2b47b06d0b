/** Conversations, responses, usage and attachments, as rows. Every statement has the owner as a condition (S-53). */
import type { RunEvent } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { encodeEvents, findPrompt } from "./encode-events.ts";
import { digestLog } from "./log-digest.ts";
import {
  lock,
  assign,
  insert,
  raw,
  select,
  sql,
  step,
  type Dialect,
  type Statements,
  type Sql,
  type SqlDatabase,
} from "./sql.ts";
import { isStored, toRequestLock } from "./sql-waiting.ts";
import {
  createTakenError,
  type AttachmentRecord,
  type CompleteConversation,
  type ConversationRecord,
  type ConversationSettings,
  type NewResponse,
  type OpenResponse,
  type OwnerUsage,
  type RequestRecord,
  type ResponseRecord,
  type ResponseTexts,
  type StoredRows,
} from "./store.ts";

/** A row of conversations, with JSON in its texts. */
interface ConversationRow extends Omit<ConversationRecord, "settings" | "usage" | "openResponseId" | "lastResponseId"> {
  readonly settings: string;
  /** Sums of the responses: prompt tokens, completion tokens, cost. */
  readonly usage: string;
  readonly openResponseId: string | null;
  readonly lastResponseId: string | null;
}

const responseOfRow = raw("sheaf.responses r JOIN sheaf.conversations c ON c.key = r.conversation");
const firstGroup = raw("LEFT JOIN sheaf.event_groups g ON g.response = r.key AND g.first_seq = 1");
const nothing = raw("");

/** The rows as `owner` sees them. */
export function createStoredRows(database: SqlDatabase, owner: string): StoredRows {
  const { dialect, read } = database;

  const selectConversations = async (where: Sql): Promise<readonly ConversationRecord[]> => {
    const names = ["id", "workspace", "title", "created_at", "updated_at", "settings", "pinned"];
    const rows = await read<ConversationRow>(
      sql`SELECT ${select("conversations", "c", names)},
          (SELECT CAST(${raw(dialect.jsonArray)}(
            COALESCE(SUM(prompt_tokens), 0), COALESCE(SUM(completion_tokens), 0), SUM(cost_usd)) AS text)
            FROM sheaf.responses WHERE conversation = c.key) AS usage,
          (SELECT id FROM sheaf.responses WHERE conversation = c.key AND NOT ended
            ORDER BY position DESC LIMIT 1) AS "openResponseId",
          (SELECT id FROM sheaf.responses WHERE conversation = c.key AND NOT reverted
            ORDER BY position DESC LIMIT 1) AS "lastResponseId"
        FROM sheaf.conversations c WHERE c.owner = ${owner} ${where}`,
    );
    return rows.map(toRecord);
  };
  const selectResponses = (where: Sql): Promise<readonly ResponseRecord[]> =>
    read(
      sql`SELECT r.id, c.id AS "conversationId",
          ${select("responses", "r", ["position", "created_at", "ended", "reverted", "parent"])}, ${raw(dialect.lastSeq)} AS "lastSeq"
        FROM ${responseOfRow} WHERE ${where} AND c.owner = ${owner} ORDER BY r.position`,
    );

  return {
    showBranch: (conversationId, lastPosition) =>
      database.transact("synced", function* () {
        const own = sql`conversation = (SELECT key FROM sheaf.conversations
          WHERE id = ${conversationId} AND owner = ${owner})`;
        // A program with an older schema stored no parents, but its history is one chain.
        yield sql`UPDATE sheaf.responses AS t SET parent = COALESCE((SELECT MAX(p.position) FROM sheaf.responses p
            WHERE p.conversation = t.conversation AND p.position < t.position AND NOT p.reverted), 0)
          WHERE ${own} AND parent IS NULL AND NOT reverted`;
        yield sql`WITH RECURSIVE branch (position, parent) AS (
            SELECT position, parent FROM sheaf.responses WHERE ${own} AND position = ${lastPosition}
            UNION ALL SELECT r.position, r.parent FROM sheaf.responses r JOIN branch b ON r.position = b.parent WHERE ${own})
          UPDATE sheaf.responses SET reverted = position NOT IN (SELECT position FROM branch) WHERE ${own}`;
      }),
    getResponse: async (responseId) => (await selectResponses(sql`r.id = ${responseId}`))[0],
    listResponses: (conversationId) => selectResponses(sql`c.id = ${conversationId}`),
    getConversation: async (conversationId) => (await selectConversations(sql`AND c.id = ${conversationId}`))[0],
    async changeConversation(conversationId, { title, settings, pinned }) {
      const row = { title, settings: settings && JSON.stringify(settings), pinned };
      const changed = await database.write(
        "synced",
        sql`UPDATE sheaf.conversations SET ${assign(dialect, "conversations", row)}
          WHERE id = ${conversationId} AND owner = ${owner} RETURNING key`,
      );
      return changed.length > 0;
    },
    listConversations({ limit, workspace, after, pinnedFirst = false, search }) {
      const place = raw(`${pinnedFirst ? "c.pinned, " : ""}c.updated_at, c.key`);
      const order = raw(`${pinnedFirst ? "c.pinned DESC, " : ""}c.updated_at DESC, c.key DESC`);
      const pinned = pinnedFirst ? sql`${after?.pinned ?? false}, ` : nothing;
      const inWorkspace = workspace === undefined ? nothing : sql`AND c.workspace = ${workspace}`;
      const isAfter = after
        ? sql`AND (${place}) < (${pinned}${after.updatedAt}, COALESCE(
            (SELECT o.key FROM sheaf.conversations o WHERE o.id = ${after.id} AND o.owner = ${owner}), 0))`
        : nothing;
      const isFound =
        search === undefined
          ? nothing
          : sql`AND (${dialect.contains("title", search)} OR EXISTS (SELECT 1 FROM sheaf.responses r ${firstGroup}
              WHERE r.conversation = c.key AND NOT r.reverted
                AND (${dialect.contains("answer", search)} OR ${dialect.contains("prompt", search)})))`;
      return selectConversations(sql`${inWorkspace} ${isAfter} ${isFound} ORDER BY ${order} LIMIT ${limit}`);
    },
    listOpenResponses: () =>
      read<OpenResponse>(sql`SELECT r.id, c.owner FROM ${responseOfRow} WHERE NOT r.ended ORDER BY r.key`),
    async findRequest(key) {
      const [row] = await read<RequestRecord>(
        sql`SELECT q.key, q.digest, r.id AS "responseId", c.id AS "conversationId"
          FROM ${responseOfRow} JOIN sheaf.requests q ON q.response = r.key
          WHERE q.owner = ${owner} AND q.key = ${key}
          UNION ALL SELECT o.request_key, o.request_digest, o.id, o.conversation FROM sheaf.orders o
          WHERE o.owner = ${owner} AND o.request_key = ${key} AND ${isStored}`,
      );
      return row;
    },
    addConversation: (conversation) =>
      database.transact("synced", function* (isDoubtful) {
        const isNew = yield* insertConversation(dialect, owner, conversation);
        if (!isNew && !isDoubtful) throw createTakenError(conversation.id);
      }),
    async listTexts(conversationId) {
      const rows = await read<Omit<ResponseTexts, "message"> & { readonly events: string | null }>(
        sql`SELECT r.id AS "responseId", g.events, r.answer FROM ${responseOfRow} ${firstGroup}
          WHERE c.id = ${conversationId} AND c.owner = ${owner} AND NOT r.reverted ORDER BY r.position`,
      );
      return rows.map(({ events, ...row }) => ({ ...row, message: findPrompt(events ?? "[]") ?? "" }));
    },
    async countConversations() {
      const [row] = await read<{ count: number }>(
        sql`SELECT COUNT(*) AS count FROM sheaf.conversations WHERE owner = ${owner}`,
      );
      return row!.count;
    },
    async readUsage(day) {
      const columns = select("owner_usage", "u", ["turns", "cost_usd"]);
      const [row] = await read<OwnerUsage>(
        sql`SELECT ${columns} FROM sheaf.owner_usage u WHERE u.owner = ${owner} AND u.day = ${day}`,
      );
      return row ?? { turns: 0, costUsd: 0 };
    },
    // Adds at most once: this process can't see which part an earlier try added.
    addUsage: (day, { turns, costUsd }) =>
      database.transact("grouped", function* (isDoubtful) {
        const row = { owner, day, turns, cost_usd: costUsd };
        const sum = sql`ON CONFLICT (owner, day) DO UPDATE
          SET turns = t.turns + excluded.turns, cost_usd = t.cost_usd + excluded.cost_usd`;
        if (!isDoubtful) yield insert(dialect, "owner_usage", row, sum);
      }),
    ...createAttachmentRows(database, owner),
  };
}

/** Attachments as rows. Every statement except the sweep has the owner as a condition (S-120). */
function createAttachmentRows(database: SqlDatabase, owner: string) {
  const { dialect, read } = database;
  const columns = select("attachments", "a", ["id", "name", "media_type", "size", "created_at"]);
  const selectRecords = (rest: Sql): Promise<readonly AttachmentRecord[]> =>
    read(sql`SELECT ${columns} FROM sheaf.attachments a WHERE a.owner = ${owner} ${rest}`);
  const isOwn = (id: string): Sql => sql`id = ${id} AND owner = ${owner}`;
  return {
    addAttachment: ({ id, name, mediaType, size, createdAt }, bytes, limits) =>
      database.transact("synced", function* (isDoubtful) {
        // A process that counts must not miss a file that is being added.
        yield* lock(dialect, `attachments ${owner}`);
        if (isDoubtful && (yield sql`SELECT 1 FROM sheaf.attachments WHERE id = ${id}`).length > 0) return true;
        const [kept] = yield* step<{ count: number; bytes: number }>(
          sql`SELECT COUNT(*) AS count, CAST(COALESCE(SUM(size), 0) AS bigint) AS bytes
            FROM sheaf.attachments WHERE owner = ${owner}`,
        );
        if (kept!.count >= limits.count || kept!.bytes + size > limits.bytes) return false;
        const row = { id, owner, name, media_type: mediaType, size, created_at: createdAt, bytes };
        yield insert(dialect, "attachments", row, raw(""));
        return true;
      }),
    getAttachment: async (id) => (await selectRecords(sql`AND a.id = ${id}`))[0],
    listAttachments: () => selectRecords(raw("ORDER BY a.created_at, a.id")),
    async readAttachment(id) {
      const [row] = await read<{ bytes: Uint8Array }>(sql`SELECT bytes FROM sheaf.attachments WHERE ${isOwn(id)}`);
      return row?.bytes;
    },
    // A second try of `write` would find the row gone.
    deleteAttachment: (id) =>
      database.transact("synced", function* (isDoubtful) {
        return (yield sql`DELETE FROM sheaf.attachments WHERE ${isOwn(id)} RETURNING id`).length > 0 || isDoubtful;
      }),
    async deleteAttachmentsBefore(time) {
      await database.write("grouped", sql`DELETE FROM sheaf.attachments WHERE created_at < ${time}`);
    },
  } satisfies Partial<StoredRows>;
}

function toRecord({ settings, usage, openResponseId, lastResponseId, ...row }: ConversationRow): ConversationRecord {
  const [promptTokens, completionTokens, costUsd] = JSON.parse(usage) as [number, number, number | null];
  return {
    ...row,
    settings: JSON.parse(settings) as ConversationSettings,
    usage: { promptTokens, completionTokens, ...(costUsd !== null && { costUsd }) },
    ...(openResponseId !== null && { openResponseId }),
    ...(lastResponseId !== null && { lastResponseId }),
  };
}

/** Adds the conversation of a new response, or renews it. Only renews a conversation that must exist. */
export function toConversationInsert(dialect: Dialect, owner: string, response: NewResponse): Sql {
  const { conversationId: id, workspace, title, createdAt, settings } = response;
  if (response.cluster?.continues) {
    const changed = settings ? sql`, settings = ${JSON.stringify(settings)}` : raw("");
    return sql`UPDATE sheaf.conversations SET updated_at = ${createdAt}${changed} WHERE id = ${id} AND owner = ${owner}`;
  }
  const row = { id, owner, workspace, title, created_at: createdAt, updated_at: createdAt };
  const renewed = raw(settings ? ", settings = excluded.settings" : "");
  return insert(
    dialect,
    "conversations",
    { ...row, settings: JSON.stringify(settings ?? {}) },
    sql`ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at${renewed} WHERE t.owner = excluded.owner`,
  );
}

/** The row of a new response. */
export type AddedResponse = Pick<ResponseRecord, "position" | "parent"> & { readonly key: number };

/** Adds a response after the shown branch. @throws SheafError CONVERSATION_BUSY if its request has one or waits. */
export function* insertResponse(
  dialect: Dialect,
  owner: string,
  { id, createdAt, request, cluster }: NewResponse,
  conversation: number,
): Statements<AddedResponse> {
  if (request && !cluster?.hasWaited) yield* checkRequest(dialect, owner, request.key);
  const position = sql`1 + (SELECT COUNT(*) FROM sheaf.responses WHERE conversation = ${conversation})`;
  const parent = sql`COALESCE((SELECT MAX(position) FROM sheaf.responses
    WHERE conversation = ${conversation} AND NOT reverted), 0)`;
  const row = { id, conversation, position, created_at: createdAt, parent };
  const [added] = yield* step<AddedResponse>(insert(dialect, "responses", row, raw("RETURNING key, position, parent")));
  if (request) {
    const { key, digest } = request;
    const asked = { owner, key, digest, response: added!.key, created_at: createdAt };
    const isNew = yield insert(dialect, "requests", asked, raw("ON CONFLICT DO NOTHING RETURNING key"));
    if (isNew.length === 0) throw createSameRequestError();
  }
  return added!;
}

function createSameRequestError(): SheafError {
  const message = "the same request was sent at the same moment: send it again";
  return new SheafError("CONVERSATION_BUSY", message, { source: "server" });
}

/** Checks that no other server stored a waiting message of the same request since this one looked. */
function* checkRequest(dialect: Dialect, owner: string, key: string): Statements<void> {
  yield* lock(dialect, toRequestLock(owner, key));
  const same = sql`o.owner = ${owner} AND o.request_key = ${key} AND ${isStored}`;
  if ((yield sql`SELECT 1 FROM sheaf.orders o WHERE ${same}`).length > 0) throw createSameRequestError();
}

/** Events per row, when a log is stored whole. */
const GROUP_LENGTH = 500;

/** Returns false if the id is in use, perhaps by another owner. @throws SheafError USAGE for a response's id. */
function* insertConversation(dialect: Dialect, owner: string, conversation: CompleteConversation): Statements<boolean> {
  const { id, workspace, title, createdAt, updatedAt, settings, responses } = conversation;
  const ifNew = raw("ON CONFLICT DO NOTHING RETURNING key");
  const times = { created_at: createdAt, updated_at: updatedAt };
  const row = { id, owner, workspace, title, ...times, settings: JSON.stringify(settings) };
  const [inserted] = yield* step<{ key: number }>(insert(dialect, "conversations", row, ifNew));
  if (!inserted) return false;
  for (const [index, response] of responses.entries()) {
    const place = { id: response.id, conversation: inserted.key, position: index + 1, created_at: response.createdAt };
    const { promptTokens, completionTokens, costUsd, answer } = digestLog(response.events);
    const digest = { prompt_tokens: promptTokens, completion_tokens: completionTokens, cost_usd: costUsd, answer };
    const ended = { ...place, ended: true, ...digest };
    const [added] = yield* step<{ key: number }>(insert(dialect, "responses", ended, ifNew));
    if (!added) throw createTakenError(response.id);
    yield* insertLog(dialect, added.key, response.events);
  }
  return true;
}

function* insertLog(dialect: Dialect, response: number, log: readonly RunEvent[]): Statements<void> {
  for (let start = 0; start < log.length; start += GROUP_LENGTH) {
    const { firstSeq, lastSeq, text } = encodeEvents(log.slice(start, start + GROUP_LENGTH))!;
    const row = { response, first_seq: firstSeq, last_seq: lastSeq, events: text };
    yield insert(dialect, "event_groups", row, nothing);
  }
}
