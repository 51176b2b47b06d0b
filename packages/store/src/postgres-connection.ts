/** The connections to a PostgreSQL database: statements, transactions, and failures as errors of Sheaf. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { SheafError } from "@sheaf/base/errors";
import { isConnectionLost, toPostgresError } from "./postgres-errors.ts";

/** Time that a statement waits for a database that cannot be reached, before STORAGE_LOCKED. Milliseconds. */
const PATIENCE_MS = 10_000;

/** Between two tries to reach it. Milliseconds. */
const RETRY_MS = 200;

/** Longest time for one statement: what takes longer hangs. Milliseconds. */
const STATEMENT_MS = 60_000;

/** Connections for statements, at most. */
const MAX_CONNECTIONS = 8;

const INT8 = 20;

type Value = string | number | bigint | boolean | null | Uint8Array | readonly (string | number | boolean | null)[];

/** Runs a statement and gives its rows. */
export type Query = <Row extends object>(text: string, values?: readonly Value[]) => Promise<readonly Row[]>;

/**
 * What a transaction does. `isDoubtful`: an earlier try may have been committed, since the connection broke before the
 * answer. Then the action waits for that try where both lock, looks whether it is stored, and gives its result.
 */
type Transaction<Result> = (query: Query, isDoubtful: boolean) => Promise<Result>;

/** All failures are SheafErrors. */
export interface PostgresConnection {
  /** Database and server by name, for messages. */
  readonly place: string;
  /** Runs one statement that may run twice: again, if the connection broke meanwhile. */
  readonly query: Query;
  /** Runs something whole or not at all: again, if the connection broke meanwhile. */
  readonly transact: <Result>(action: Transaction<Result>) => Promise<Result>;
  /** A connection of its own, not yet open: for what lasts as long as a connection. */
  createClient(): pg.Client;
  toError(error: unknown): SheafError;
  close(): Promise<void>;
}

/**
 * Nothing is connected yet. `isForClients`: errors name neither the database nor its server.
 * @throws SheafError CONFIG_INVALID for an address that is not one; it shows no password.
 */
export function createPostgresConnection(address: string, isForClients = false): PostgresConnection {
  checkAddress(address);
  const settings = toSettings(address);
  const place = toPlace(settings);
  const pool = new pg.Pool({ ...settings, max: MAX_CONNECTIONS, idleTimeoutMillis: 30_000 });
  // A connection that breaks while nobody uses it is replaced when the next one is needed.
  pool.on("error", () => undefined);
  let closing: Promise<void> | undefined;
  const names = new Map<string, string>();
  const toError = (error: unknown): SheafError => toPostgresError(error, place, isForClients);

  /** Each text with values is parsed once per connection; one without may be several statements. */
  const toStatement = (text: string, values: readonly Value[]): pg.QueryConfig => {
    if (values.length === 0) return { text };
    const name = names.get(text) ?? `sheaf${names.size}`;
    names.set(text, name);
    return { name, text, values: [...values] };
  };

  /** Tries again while the database cannot be reached. `renew`: from now on it may be away for as long again. */
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
 * A password with one of these characters would end the name of the server, and the rest of it would be taken for a database,
 * which errors show. @throws SheafError CONFIG_INVALID.
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
    // Only the name of a file is safe to show: the address may contain the password.
    const { code, path } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" && path !== undefined ? ` (there is no file ${path})` : "";
    const message = `the address of the store is not valid${reason}: write postgres://USER@HOST:PORT/DATABASE`;
    throw new SheafError("CONFIG_INVALID", message, { source: "storage" });
  }
}
