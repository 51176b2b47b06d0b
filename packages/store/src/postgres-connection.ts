/** The connections to a PostgreSQL database: statements, transactions, and failures as errors of Sheaf. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { SheafError } from "@sheaf/base/errors";
import { isConnectionLost, toPostgresError } from "./postgres-errors.ts";

/** Time that a statement waits for an unreachable database before STORAGE_LOCKED. Milliseconds. */
const PATIENCE_MS = 10_000;

/** Pause between two tries to reach the database. Milliseconds. */
const RETRY_MS = 200;

/** Longest time for one statement; a longer one hangs. Milliseconds. */
const STATEMENT_MS = 60_000;

/** Most connections for statements. */
const MAX_CONNECTIONS = 8;

const INT8 = 20;

type Value = string | number | bigint | boolean | null | Uint8Array | readonly (string | number | boolean | null)[];

/** Runs a statement, and returns its rows. */
export type Query = <Row extends object>(text: string, values?: readonly Value[]) => Promise<readonly Row[]>;

/**
 * The action of a transaction. `isDoubtful`: the database may have committed an earlier try, since the connection broke
 * before the answer. Then the action waits for that try where both lock, and returns its result if that is stored.
 */
type Transaction<Result> = (query: Query, isDoubtful: boolean) => Promise<Result>;

/** Connections to one database. All failures are SheafErrors. */
export interface PostgresConnection {
  /** Database and server by name, for messages. */
  readonly place: string;
  /** Runs one statement that may run twice: again, if the connection broke meanwhile. */
  readonly query: Query;
  /** Runs an action as a whole or not at all: again, if the connection broke meanwhile. */
  readonly transact: <Result>(action: Transaction<Result>) => Promise<Result>;
  /** Creates a separate connection, not yet open, for state that lasts as long as a connection. */
  createClient(): pg.Client;
  toError(error: unknown): SheafError;
  close(): Promise<void>;
}

/**
 * Creates the connections, without opening one. `isForClients`: errors hide database and server.
 * @throws SheafError CONFIG_INVALID for an address that isn't valid; it shows no password.
 */
export function createPostgresConnection(address: string, isForClients = false): PostgresConnection {
  checkAddress(address);
  const settings = toSettings(address);
  const place = toPlace(settings);
  const pool = new pg.Pool({ ...settings, max: MAX_CONNECTIONS, idleTimeoutMillis: 30_000 });
  // The pool replaces a connection that breaks while it is unused.
  pool.on("error", () => undefined);
  let closing: Promise<void> | undefined;
  const names = new Map<string, string>();
  const toError = (error: unknown): SheafError => toPostgresError(error, place, isForClients);

  /** Each text with values is parsed once per connection; a text without values may be several statements. */
  const toStatement = (text: string, values: readonly Value[]): pg.QueryConfig => {
    if (values.length === 0) return { text };
    const name = names.get(text) ?? `sheaf${names.size}`;
    names.set(text, name);
    return { name, text, values: [...values] };
  };

  /** Tries again while the database can't be reached. `renew`: from now on it may be away for as long again. */
  const insist = async <Result>(action: (renew: () => void) => Promise<Result>): Promise<Result> => {
    let end = performance.now() + PATIENCE_MS;
    const renew = (): void => void (end = performance.now() + PATIENCE_MS);
    for (;;) {
      try {
        return await action(renew);
      } catch (error) {
        if (!isConnectionLost(error) || performance.now() > end) throw toError(error);
        await sleep(RETRY_MS);
      }
    }
  };

  return {
    place,
    query: async <Row extends object>(text: string, values: readonly Value[] = []) =>
      insist(async () => (await pool.query<Row>(toStatement(text, values))).rows),
    async transact(action) {
      let isDoubtful = false;
      return insist(async (renew) => {
        const client = await pool.connect();
        let failure: Error | undefined;
        const fail = (error: Error): void => void (failure = error);
        client.on("error", fail);
        try {
          await client.query("BEGIN");
          const result = await action(
            async <Row extends object>(text: string, values: readonly Value[] = []) =>
              (await client.query<Row>(toStatement(text, values))).rows,
            isDoubtful,
          );
          if (!isDoubtful) renew();
          isDoubtful = true;
          await client.query("COMMIT");
          return result;
        } catch (error) {
          await client.query("ROLLBACK").catch(fail);
          throw error;
        } finally {
          client.off("error", fail);
          client.release(failure);
        }
      });
    },
    createClient: () => new pg.Client({ ...settings, query_timeout: PATIENCE_MS }),
    toError,
    close: () => (closing ??= pool.end()),
  };
}

function toSettings(address: string): pg.ClientConfig {
  return {
    connectionString: address,
    application_name: "sheaf",
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: STATEMENT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: {
      // Times and keys stay far below 2^53.
      getTypeParser: ((type: number, format?: "text") =>
        type === INT8 ? Number : pg.types.getTypeParser(type, format)) as typeof pg.types.getTypeParser,
    },
  };
}

/**
 * Refuses a password with a character that would end the name of the server: errors would show the rest as the name of
 * a database. @throws SheafError CONFIG_INVALID.
 */
function checkAddress(address: string): void {
  if (!/^\w+:\/\/[^@/?#]*[/?#][^=]*@/.test(address)) return;
  const message =
    "the address of the store is not valid: in a user name or password write %2F for /, %3F for ?, %23 for #";
  throw new SheafError("CONFIG_INVALID", message, { source: "storage" });
}

/** Server and database by name; never the password. @throws SheafError CONFIG_INVALID. */
function toPlace(settings: pg.ClientConfig): string {
  try {
    const { host, port, database } = new pg.Client(settings);
    const server = host.startsWith("/") ? host : `${host}:${port}`;
    return `database ${JSON.stringify(database ?? "")} at ${server}`;
  } catch (error) {
    // The name of a file is safe to show, but the address may contain the password.
    const { code, path } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" && path !== undefined ? ` (there is no file ${path})` : "";
    const message = `the address of the store is not valid${reason}: write postgres://USER@HOST:PORT/DATABASE`;
    throw new SheafError("CONFIG_INVALID", message, { source: "storage" });
  }
}
