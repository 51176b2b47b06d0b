/** Gathers appends of all responses in a process: those that wait during a statement share the next one. */
import type { EncodedEvents } from "./encode-events.ts";
import type { LogDigest } from "./log-digest.ts";
import type { PostgresConnection } from "./postgres-connection.ts";
import type { PostgresLease } from "./postgres-leases.ts";
import { isRefusedByPostgres } from "./postgres-errors.ts";
import { toWords } from "./postgres-database.ts";

/** A group of events for the log of a response. */
interface Append {
  readonly responseId: string;
  /** Key of the response's row. */
  readonly response: number;
  readonly lease: PostgresLease;
  readonly events: EncodedEvents;
  /** The prompt, in the first group of a log. */
  readonly prompt: string | undefined;
  /** The digest of the whole log, in its last group. */
  readonly digest: LogDigest | undefined;
}

/** Most groups in one statement; approximate limit of its JSON in UTF-16 units. */
const MAX_GROUPS = 500;
const MAX_LENGTH = 8 * 1024 * 1024;

interface WaitingAppend extends Append, PromiseWithResolvers<boolean> {}

/** Creates the queue. `publish` gets the ids of responses with more events; `onEnded` is called after a last event. */
export function createAppendQueue(
  connection: PostgresConnection,
  publish: (responseIds: readonly string[]) => void,
  onEnded: () => void,
) {
  let waiting: WaitingAppend[] = [];
  let writing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    // Appends from the same turn of the event loop share a statement.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const [batch, rest] = takeBatch(waiting);
      waiting = rest;
      await writeBatch(batch);
    }
    writing = undefined;
  };

  const writeBatch = async (batch: readonly WaitingAppend[]): Promise<void> => {
    try {
      const stored = await insertGroups(connection, batch);
      const written = batch.filter(({ response }) => stored.has(response));
      if (written.length > 0) publish(written.map(({ responseId }) => responseId));
      // The next message of the conversation may start.
      if (written.some(({ events }) => events.endsLog)) onEnded();
      for (const { response, resolve } of batch) resolve(stored.has(response));
    } catch (error) {
      if (batch.length > 1 && isRefusedByPostgres(error)) {
        for (const append of batch) await writeBatch([append]);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  };

  return {
    /** Resolves once the events are stored, or with false if the lease was lost. @throws SheafError STORAGE_… */
    write(append: Append): Promise<boolean> {
      const outcome = { ...append, ...Promise.withResolvers<boolean>() };
      waiting.push(outcome);
      writing ??= writeAll();
      return outcome.promise;
    },
    /** Resolves when no write is pending. */
    settle: async () => writing,
  };
}

/** Returns the next statement's groups, and the rest. Takes one group of a response, so each can fail by itself. */
function takeBatch(waiting: readonly WaitingAppend[]): [batch: WaitingAppend[], rest: WaitingAppend[]] {
  const batch: WaitingAppend[] = [];
  const rest: WaitingAppend[] = [];
  const seen = new Set<number>();
  let length = 0;
  for (const append of waiting) {
    const isFull = batch.length >= MAX_GROUPS || (length > 0 && length + append.events.text.length > MAX_LENGTH);
    if (isFull || seen.has(append.response)) {
      rest.push(append);
    } else {
      batch.push(append);
      length += append.events.text.length;
    }
    seen.add(append.response);
  }
  return [batch, rest];
}

// `held` waits for a process that takes a lease at this moment, and then sees its number; none can take one before the
// statement ends. A group may be there from an earlier try of this statement, whose answer was lost.
const insertStatement = `
  WITH input AS (
    SELECT * FROM unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::text[], $6::boolean[], $7::bigint[],
      $8::bigint[], $9::bigint[], $10::bigint[], $11::float8[], $12::text[], $13::text[], $14::text[])
      AS i (response, first_seq, last_seq, events, prompt_words, ends, conversation,
        fence, prompt_tokens, completion_tokens, cost_usd, answer, answer_words, told)
  ), held AS MATERIALIZED (
    SELECT c.key, c.fence FROM sheaf.conversations c JOIN input i ON c.key = i.conversation AND c.fence = i.fence FOR SHARE OF c
  ), written AS (
    INSERT INTO sheaf.event_groups (response, first_seq, last_seq, events, prompt_words)
    SELECT i.response, i.first_seq, i.last_seq, i.events, i.prompt_words
    FROM input i JOIN held h ON h.key = i.conversation AND h.fence = i.fence
    WHERE i.first_seq = 1 + COALESCE((
      SELECT g.last_seq FROM sheaf.event_groups g WHERE g.response = i.response ORDER BY g.first_seq DESC LIMIT 1), 0)
    ON CONFLICT DO NOTHING RETURNING response
  ), ended AS (
    UPDATE sheaf.responses r SET ended = true, prompt_tokens = i.prompt_tokens, completion_tokens = i.completion_tokens,
      cost_usd = i.cost_usd, answer = i.answer, answer_words = i.answer_words
    FROM input i JOIN written w ON w.response = i.response
    WHERE i.ends AND r.key = i.response
  ), released AS (
    UPDATE sheaf.conversations c SET holder = NULL, cancel = false
    FROM input i JOIN written w ON w.response = i.response
    WHERE i.ends AND c.key = i.conversation AND c.fence = i.fence
  ), done AS (
    DELETE FROM sheaf.orders o USING input i JOIN written w ON w.response = i.response
    WHERE i.ends AND o.response = i.response
  ), heard AS (
    DELETE FROM sheaf.orders o USING input i JOIN written w ON w.response = i.response
    WHERE o.told = i.response AND o.id = ANY (string_to_array(i.told, ' '))
    RETURNING o.id, o.owner, o.request_key, o.request_digest, o.told
  ), known AS (
    INSERT INTO sheaf.requests (owner, key, digest, response, created_at)
    SELECT h.owner, k.key, COALESCE(h.request_digest, ''), h.told, r.created_at
    FROM heard h JOIN sheaf.responses r ON r.key = h.told, LATERAL (VALUES (chr(9) || h.id), (h.request_key)) k (key)
    WHERE k.key IS NOT NULL ON CONFLICT DO NOTHING
  )
  SELECT response FROM written
  UNION
  SELECT i.response FROM input i JOIN sheaf.event_groups g
    ON g.response = i.response AND g.first_seq = i.first_seq AND g.last_seq = i.last_seq AND g.events = i.events`;

/** Returns the keys of the responses whose group is stored now. */
async function insertGroups(connection: PostgresConnection, batch: readonly Append[]): Promise<ReadonlySet<number>> {
  const rows = await connection.query<{ response: number }>(insertStatement, [
    batch.map(({ response }) => response),
    batch.map(({ events }) => events.firstSeq),
    batch.map(({ events }) => events.lastSeq),
    batch.map(({ events }) => events.text),
    batch.map(({ prompt }) => (prompt === undefined ? null : toWords(prompt))),
    batch.map(({ events }) => events.endsLog),
    batch.map(({ lease }) => lease.conversation),
    batch.map(({ lease }) => lease.fence),
    batch.map(({ digest }) => digest?.promptTokens ?? 0),
    batch.map(({ digest }) => digest?.completionTokens ?? 0),
    batch.map(({ digest }) => digest?.costUsd ?? null),
    batch.map(({ digest }) => digest?.answer ?? ""),
    batch.map(({ digest }) => toWords(digest?.answer ?? "")),
    batch.map(({ events }) => events.told.join(" ")),
  ]);
  return new Set(rows.map(({ response }) => response));
}
