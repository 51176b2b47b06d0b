/**
 * The connection by which a process is alive for the others on the same database, and hears of their changes
 * . It is one separate connection, so that the database itself knows when the process has ended.
 */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { PostgresConnection } from "./postgres-connection.ts";

/** Time that a silent process is alive. Seconds, as in `isHolderAlive`. */
const ALIVE_SECONDS = 10;

/** Interval between signs of life. Milliseconds. */
const BEAT_MS = 2000;

/** Least time between two notices, since each takes a lock of the whole database. Milliseconds. */
const NOTICE_GAP_MS = 10;

/** Time without a sign of life after which a process is quiet: two beats are missing. Milliseconds. */
const QUIET_MS = 2 * BEAT_MS;

/** Pause between two tries to connect again. Milliseconds. */
const RETRY_MS = 250;

/** Longest payload that Sheaf sends; the largest possible one is 7,999 bytes. */
const MAX_PAYLOAD = 7500;

/** Longest name in a notice; polling finds changes of longer names. */
const MAX_NAME = 200;

/**
 * Returns SQL that is true if the process with this number is alive. It uses the database's times, so the clocks of
 * machines don't matter. For 3 s after its last beat a process is alive even without its lock, which ends with its
 * connection, since it may be connecting again. Later it needs its lock. If its time is over, or longer than any lease,
 * the process may have stopped, or the clock may have jumped. Then it must also be absent from `quiet`, the result of
 * `listQuiet`.
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

/** @throws SheafError if the database can't be reached. */
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
  /** The time of the last reconnection; milliseconds of `performance`. */
  let backSince: number | undefined;

  const connect = async (): Promise<void> => {
    const opened = connection.createClient();
    opened.on("error", () => void reconnect(opened));
    opened.on("end", () => void reconnect(opened));
    opened.on("notification", ({ payload = "", processId }) => {
      // This process knows its own changes.
      if (processId === (opened as { processID?: number }).processID) return;
      for (const name of payload.split(" ")) tell(name);
    });
    try {
      await opened.connect();
      await opened.query("LISTEN sheaf");
      // Notices and signs of life need not survive a crash of the database, so they don't wait for its disk.
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

  /** Makes another connection after a loss, for as long as it takes. */
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
    // Other processes could not show a sign of life meanwhile.
    for (const [id, { value }] of signs) signs.set(id, { value, seenAt: backSince });
    // Notices from the meantime are lost.
    for (const name of watchers.keys()) tell(name);
  };

  /** Gives a sign of life, and takes the lock of this process once its last connection has released it. */
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

  /** Returns false if there's no connection now. */
  const sendNotice = async (): Promise<boolean> => {
    const sending = client;
    if (!sending) return false;
    const payload = takePayload(unpublished);
    // Polling makes up for a lost notice.
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

  /** Lists processes without a sign of life for so long, by the time that passed here, independent of all clocks. */
  const listQuiet = (forMs = QUIET_MS): readonly number[] => {
    const now = performance.now();
    return [...signs].filter(([, { seenAt }]) => now - seenAt >= forMs).map(([id]) => id);
  };

  /** Notifies the other processes. */
  const publish = (names: Iterable<string>): void => {
    for (const name of names) if (name.length <= MAX_NAME) unpublished.add(name);
    void sendNotices();
  };

  return {
    /** Number of this process, as the holder of its leases. */
    holder,
    /** False without a connection, and for 10 s after a reconnection, in which others may reconnect as well. */
    get mayTakeOver(): boolean {
      if (!client) return false;
      return backSince === undefined || performance.now() - backSince > ALIVE_SECONDS * 1000;
    },
    listQuiet,
    /** Calls back when another process may have changed something with this name, until you call the result. */
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
    /** Marks this process as dead, although it runs for a while: its leases are free for others. */
    async leave(): Promise<void> {
      hasLeft = true;
      clearInterval(beats);
      // The row stays, because it shows others how long they may continue its responses.
      await connection.query("UPDATE sheaf.holders SET alive_until = clock_timestamp() WHERE id = $1", [holder]);
      await client?.query("SELECT pg_advisory_unlock($1)", [holder]).catch(() => undefined);
    },
    publish,
    /** Calls the watchers in this process. */
    tell,
    /** Notifies the other processes, and the watchers in this one. */
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

/** The last sign of a process, and the time when this process first saw it: milliseconds of `performance`. */
interface SignOfLife {
  readonly value: string;
  readonly seenAt: number;
}

/** Reads the signs of life of all processes. */
async function lookAround(client: pg.Client, signs: Map<number, SignOfLife>): Promise<void> {
  const text = `SELECT id, alive_until::text AS value FROM sheaf.holders`;
  const { rows } = await client.query<{ id: number; value: string }>({ name: "look", text });
  const found = new Set(rows.map(({ id }) => id));
  for (const id of signs.keys()) if (!found.has(id)) signs.delete(id);
  for (const { id, value } of rows) {
    if (signs.get(id)?.value !== value) signs.set(id, { value, seenAt: performance.now() });
  }
}

/** Takes as many names as one payload can contain. */
function takePayload(names: Set<string>): string {
  let payload = "";
  for (const name of names) {
    if (payload.length + name.length >= MAX_PAYLOAD) break;
    payload += payload === "" ? name : ` ${name}`;
    names.delete(name);
  }
  return payload;
}
