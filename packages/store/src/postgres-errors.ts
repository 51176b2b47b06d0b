/** Turns failures of a PostgreSQL database into errors of Sheaf, which never contain the password. */
import { SheafError, type ErrorCode } from "@sheaf/base/errors";

type Known = readonly [code: ErrorCode, advice: string];

const unreachable: Known = ["STORAGE_LOCKED", "it cannot be reached: check host and port, and that PostgreSQL runs"];
const full: Known = ["STORAGE_FULL", "the disk of the database is full: free some space there"];
const corrupt: Known = ["STORAGE_CORRUPT", "the database is damaged: restore it from a backup"];
const noRights: Known = [
  "CONFIG_INVALID",
  "the user has no right to do this: make it the owner of the database, or of a schema sheaf in it",
];
const wrongUser: Known = [
  "CONFIG_INVALID",
  "the user was refused: check name and password (in the address, PGPASSWORD or ~/.pgpass)",
];
const readOnly: Known = ["STORAGE_LOCKED", "the database takes no writes: connect to the primary server"];

/** Failures by SQLSTATE or its two-character class (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const states: ReadonlyMap<string, Known> = new Map([
  ["08", unreachable],
  ["25006", readOnly],
  ["28", wrongUser],
  ["3D000", ["CONFIG_INVALID", "create it first (createdb), or name another one"]],
  ["3F000", noRights],
  ["40", ["STORAGE_LOCKED", "another process holds it: try again"]],
  ["42501", noRights],
  ["53100", full],
  ["53300", ["STORAGE_LOCKED", "too many connections are open: raise max_connections, or end other programs"]],
  ["53", full],
  ["55P03", ["STORAGE_LOCKED", "another process holds it: try again"]],
  ["57014", ["STORAGE_LOCKED", "a statement took too long: try again"]],
  ["57P", unreachable],
  ["P0001", ["STORAGE_LOCKED", "a trigger in the database refuses to write: remove it, or ask whoever made it"]],
  ["XX001", corrupt],
  ["XX002", corrupt],
]);

/** Codes of the system, and of names of hosts. */
const systemCodes = /^(E(CONN|HOST|NET|TIMEDOUT|PIPE|ADDR)|ENOTFOUND|EAI_|ENOENT|EACCES)/;

/** Messages of the driver that have no code. */
const lostMessages =
  /^(Connection terminated|timeout exceeded|Client has encountered a connection error|Query read timeout)/;

/** Failures without a state of the server. */
const byMessage: readonly (readonly [RegExp, Known])[] = [
  [/password must be a (non-empty )?string/, wrongUser],
  [
    /SSL|TLS|certificate/i,
    ["CONFIG_INVALID", "the encrypted connection failed: check sslmode and sslrootcert in the address"],
  ],
];

/** True if the connection is broken, or all connections are in use: a later try may work. */
export function isConnectionLost(error: unknown): boolean {
  const { code = "", message = "" } = error as { code?: string; message?: string };
  return /^(08|57P|53300)/.test(code) || systemCodes.test(code) || lostMessages.test(message);
}

/** True if a failure is about the written row (form, size, constraint, trigger): other rows may work. */
export function isRefusedByPostgres(error: unknown): boolean {
  const { cause } = error as Error;
  const { code = "" } = ((cause instanceof SheafError ? cause.cause : cause) ?? {}) as { code?: string };
  return /^(22|23|P0|53100)/.test(code);
}

/** Turns a failure of the database at `place` into an error. `isForClients`: only its cause has names and details. */
export function toPostgresError(error: unknown, place: string, isForClients: boolean): SheafError {
  if (error instanceof SheafError) return error;
  const { code = "", message = "" } = error as { code?: string; message?: string };
  const [kind, advice] = findKnown(error, code, message) ?? (["INTERNAL", "unexpected"] as const);
  // The driver's message is empty if it tried several addresses.
  const reason = message || code || String(error);
  const named = new SheafError(kind, `the store (${place}) failed (${reason}): ${advice}`, {
    cause: error,
    source: "storage",
  });
  if (!isForClients) return named;
  return new SheafError(kind, `the store failed: ${advice}`, { cause: named, source: "storage" });
}

function findKnown(error: unknown, code: string, message: string): Known | undefined {
  // Sheaf writes JSON rows only, so the row is damaged.
  if (error instanceof SyntaxError) return corrupt;
  const state = states.get(code) ?? states.get(code.slice(0, 3)) ?? states.get(code.slice(0, 2));
  if (state || isConnectionLost(error)) return state ?? unreachable;
  return byMessage.find(([pattern]) => pattern.test(message))?.[1];
}
