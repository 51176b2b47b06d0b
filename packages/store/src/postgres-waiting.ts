/** Rules by which processes of a PostgreSQL database share the messages that wait. */
import type { ClaimedMessage, WaitingMessages } from "./cluster.ts";
import type { PostgresConnection } from "./postgres-connection.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import type { OwnLeases } from "./postgres-leases.ts";
import { isHolderAlive, type PostgresSession } from "./postgres-session.ts";
import { type Sql, sql } from "./sql.ts";
import { createWaitingRows, waits } from "./sql-waiting.ts";

/** Name of the notice that a message may be free to start. */
export const waitingNotice = "orders";

/** The messages as `owner` sees them. A claim lasts as long as its process. */
export function createPostgresWaiting(
  connection: PostgresConnection,
  session: PostgresSession,
  leases: OwnLeases,
  owner: string,
): WaitingMessages {
  const database = createPostgresDatabase(connection);
  const { holder } = session;
  return createWaitingRows(database, owner, {
    holder,
    clock: "clock_timestamp()",
    toSpan: (milliseconds) => `interval '${milliseconds} ms'`,
    isOpen: "NOT r.ended",
    announce(responseId) {
      session.announce(waitingNotice);
      session.announce(responseId);
    },
    watch: (onChange, responseId = waitingNotice) => session.watch(responseId, onChange),
    async claim(starting, toFirst) {
      // Values stay out of the text, which is the name of a prepared statement.
      const isAbandoned = (name: string): Sql => {
        const [before, after] = isHolderAlive(name, "$quiet").split("$quiet");
        const texts = [`(${session.mayTakeOver} AND NOT ${before}`, `${after})`];
        return sql(texts, `{${session.listQuiet().join()}}`);
      };
      const own = sql`o.holder = ${holder}
        AND o.id NOT IN (SELECT json_array_elements_text(${JSON.stringify(starting)}::json))`;
      const first = toFirst(
        sql`(o.holder IS NULL OR (${own}) OR (o.holder <> ${holder} AND ${isAbandoned("o.holder")}))
          AND (c.holder IS NULL OR (c.holder = ${holder} AND (c.id, c.fence) NOT IN
            (SELECT key, value::bigint FROM json_each_text(${leases.list()}::json))) OR ${isAbandoned("c.holder")})`,
      );
      const claimed = await database.write(
        "grouped",
        sql`${first} UPDATE sheaf.orders SET holder = ${holder} WHERE key = (
          SELECT o.key FROM first f JOIN sheaf.orders o ON o.key = f.key WHERE ${waits}
          ORDER BY f.running, o.key LIMIT 1 FOR UPDATE OF o SKIP LOCKED)
        RETURNING id AS "responseId", owner, body AS text`,
      );
      return claimed as readonly ClaimedMessage[];
    },
  });
}
