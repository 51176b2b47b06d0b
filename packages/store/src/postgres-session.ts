/**
 * What a process is to the others on the same database: it is alive, and it hears what they changed.
 * One connection of its own does both, so that the database itself knows when the process has ended.
 */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { PostgresConnection } from "./postgres-connection.ts";

/** Time that a process that says nothing counts as alive. Seconds, as in `isHolderAlive`. */
const ALIVE_SECONDS = 10;

/** Interval at which it says that it is alive. Milliseconds. */
const BEAT_MS = 2000;

/** Least time between two notices. Milliseconds: each takes a lock of the whole database. */
const NOTICE_GAP_MS = 10;

/** After this time without one it counts as quiet: two of its beats are missing. Milliseconds. */
const QUIET_MS = 2 * BEAT_MS;

/** Between two tries to connect again. Milliseconds. */
const RETRY_MS = 250;

/** Largest payload of a notice is 7,999 bytes. */
const MAX_PAYLOAD = 7500;

/** A longer name is found by polling. */
const MAX_NAME = 200;

/**
 * True if the process with this number is alive, in SQL. Times are those of the database, so the clocks of machines do not
 * matter. The lock of a process ends with its connection; it counts 3 s after the last beat, since a process that only
 * lost its connection gets another one until then. If its time is over, or longer than any lease, it may have stopped or
 * the clock may have jumped: it is alive if it has its lock and this process does not find it quiet. `quiet`: what
 * `listQuiet` gives.
 */
export function isHolderAlive(holder: string, quiet: string): string {
  return `EXISTS (
    SELECT 1 FROM sheaf.holders h, LATERAL (SELECT h.alive_until - clock_timestamp() AS rest) t
    WHERE h.id = ${holder} AND CASE
      WHEN t.rest BETWEEN interval '${ALIVE_SECONDS - 3} s' AND interval '${ALIVE_SECONDS} s' THEN true
      WHEN t.rest BETWEEN interval '0' AND interval '${ALIVE_SECONDS} s' OR h.id <> ALL (${quiet}::bigint[])
        THEN NOT pg_try_advisory_xact_lock_shared(h.id)
      ELSE false END)`;
}

const beat = `INSERT INTO sheaf.holders (id, alive_until) VALUES ($1, clock_timestamp() + interval '${ALIVE_SECONDS} s')
  ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until`;

/** @throws SheafError when the database cannot be reached. */
export async function openPostgresSession(connection: PostgresConnection) {
  const holder = randomInt(2 ** 48 - 1);
  const watchers = new Map<string, Set<() => void>>();
  const unpublished = new Set<string>();
  const locked = new WeakSet<pg.Client>();
  const signs = new Map<number, SignOfLife>();
  let client: pg.Client | undefined;
  let isPublishing = false;
  let isClosed = false;
  let hasLeft = false;
  /** When the connection was made again; milliseconds of `performance`. */
  let backSince: number | undefined;

  const connect = async (): Promise<void> => {
    const opened = connection.createClient();
    opened.on("error", () => void reconnect(opened));
    opened.on("end", () => void reconnect(opened));
    opened.on("notification", ({ payload = "", processId }) => {
      // Its own changes it knows.
      if (processId === (opened as { processID?: number }).processID) return;
      for (const name of payload.split(" ")) tell(name);
    });
    try {
      await opened.connect();
      await opened.query("LISTEN sheaf");
      // Notices and signs of life need not survive a crash of the database, so they do not wait for its disk.
      await opened.query("SET synchronous_commit TO off");
      await prove(opened);
    } catch (error) {
      await opened.end().catch(() => undefined);
      throw error;
    }
    if (isClosed) return opened.end();
    client = opened;
    void sendNotices();
  };

  /** The connection is gone: makes another one, for as long as it takes. */
  const reconnect = async (left: pg.Client): Promise<void> => {
    if (client !== left) return;
    client = undefined;
    await left.end().catch(() => undefined);
    for (let isBack = isClosed; !isBack;) {
      isBack = await connect().then(
        () => true,
        () => isClosed,
      );
      if (!isBack) await sleep(RETRY_MS, undefined, { ref: false });
    }
    backSince = performance.now();
    // Nobody could give a sign of life meanwhile.
    for (const [id, { value }] of signs) signs.set(id, { value, seenAt: backSince });
    // What was said meanwhile is lost.
    for (const name of watchers.keys()) tell(name);
  };

  /** Says that this process is alive, and takes its lock, once its last connection has let go of it. */
  const prove = async (proving: pg.Client): Promise<void> => {
    await lookAround(proving, signs);
    if (hasLeft) return;
    if (!locked.has(proving)) {
      const { rows } = await proving.query<{ isTaken: boolean }>('SELECT pg_try_advisory_lock($1) AS "isTaken"', [
        holder,
      ]);
      if (rows[0]?.isTaken) locked.add(proving);
    }
    await proving.query({ name: "beat", text: beat, values: [holder] });
  };

  const tell = (name: string): void => {
    for (const onChange of watchers.get(name) ?? []) onChange();
  };

  /** False: there is no connection at the moment. */
  const sendNotice = async (): Promise<boolean> => {
    const sending = client;
    if (!sending) return false;
    const payload = takePayload(unpublished);
    // A notice that is lost is made up for by polling.
    await sending
      .query({ name: "notify", text: "SELECT pg_notify('sheaf', $1)", values: [payload] })
      .catch(() => undefined);
    return true;
  };

  const sendNotices = async (): Promise<void> => {
    if (isPublishing) return;
    isPublishing = true;
    while (unpublished.size > 0 && (await sendNotice())) await sleep(NOTICE_GAP_MS, undefined, { ref: false });
    isPublishing = false;
  };

  await connect().catch((error: unknown) => {
    throw connection.toError(error);
  });
  await connection.query(
    `DELETE FROM sheaf.holders h WHERE h.alive_until < clock_timestamp() - interval '1 day' AND pg_try_advisory_xact_lock_shared(h.id)`,
  );
  const beats = setInterval(() => {
    const beating = client;
    if (beating) prove(beating).catch(() => void reconnect(beating));
  }, BEAT_MS);
  beats.unref();

  /** Who gave no sign of life for so long, by the time that passed here: no clock has a say. */
  const listQuiet = (forMs = QUIET_MS): readonly number[] => {
    const now = performance.now();
    return [...signs].filter(([, { seenAt }]) => now - seenAt >= forMs).map(([id]) => id);
  };

  /** Tells the others. */
  const publish = (names: Iterable<string>): void => {
    for (const name of names) if (name.length <= MAX_NAME) unpublished.add(name);
    void sendNotices();
  };

  return {
    /** Names this process as the holder of its leases. */
    holder,
    /** False without a connection, and for 10 s after it was made again: the others may also have lost theirs, and come back. */
    get mayTakeOver(): boolean {
      if (!client) return false;
      return backSince === undefined || performance.now() - backSince > ALIVE_SECONDS * 1000;
    },
    listQuiet,
    /** Calls back when another process may have changed something of this name, until the result is called. */
    watch(name: string, onChange: () => void): () => void {
      const ofName = watchers.get(name) ?? new Set();
      watchers.set(name, ofName.add(onChange));
      return () => {
        ofName.delete(onChange);
        if (ofName.size === 0 && watchers.get(name) === ofName) watchers.delete(name);
      };
    },
    /** True if another process is alive. */
    async hasOthers(): Promise<boolean> {
      const alive = `SELECT 1 FROM sheaf.holders o WHERE o.id <> $1 AND ${isHolderAlive("o.id", "$2")} LIMIT 1`;
      return (await connection.query(alive, [holder, listQuiet()])).length > 0;
    },
    /** From now on this process counts as dead, although it goes on for a while: its leases are free for others. */
    async leave(): Promise<void> {
      hasLeft = true;
      clearInterval(beats);
      // Its row stays: others see by it how long they have to go on with its responses.
      await connection.query("UPDATE sheaf.holders SET alive_until = clock_timestamp() WHERE id = $1", [holder]);
      await client?.query("SELECT pg_advisory_unlock($1)", [holder]).catch(() => undefined);
    },
    publish,
    /** Calls back who watches here. */
    tell,
    /** Tells the others, and who watches here. */
    announce(name: string): void {
      publish([name]);
      tell(name);
    },
    async close(): Promise<void> {
      isClosed = true;
      clearInterval(beats);
      const closing = client;
      client = undefined;
      if (!hasLeft) await closing?.query("DELETE FROM sheaf.holders WHERE id = $1", [holder]).catch(() => undefined);
      await closing?.end().catch(() => undefined);
    },
  };
}

export type PostgresSession = Awaited<ReturnType<typeof openPostgresSession>>;

/** The last one of a process, and when it was first seen here: milliseconds of `performance`. */
interface SignOfLife {
  readonly value: string;
  readonly seenAt: number;
}

/** Notes who gave a sign of life. */
async function lookAround(client: pg.Client, signs: Map<number, SignOfLife>): Promise<void> {
  const text = `SELECT id, alive_until::text AS value FROM sheaf.holders`;
  const { rows } = await client.query<{ id: number; value: string }>({ name: "look", text });
  const found = new Set(rows.map(({ id }) => id));
  for (const id of signs.keys()) if (!found.has(id)) signs.delete(id);
  for (const { id, value } of rows) {
    if (signs.get(id)?.value !== value) signs.set(id, { value, seenAt: performance.now() });
  }
}

/** As many names as fit. */
function takePayload(names: Set<string>): string {
  let payload = "";
  for (const name of names) {
    if (payload.length + name.length >= MAX_PAYLOAD) break;
    payload += payload === "" ? name : ` ${name}`;
    names.delete(name);
  }
  return payload;
}
