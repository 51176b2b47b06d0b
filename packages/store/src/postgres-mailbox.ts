/** Questions from any process to the writer of a response, and its replies. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresConnection } from "./postgres-connection.ts";
import type { PostgresLease } from "./postgres-leases.ts";
import type { PostgresSession } from "./postgres-session.ts";
import { toColumn } from "./postgres-database.ts";
import type { Mailbox } from "./cluster.ts";

/** Interval between looks for a reply, in addition to notices. Milliseconds. */
const LOOK_MS = 2000;

/** Time that a writer has to take a question: longer than the lease of a dead writer. Milliseconds. */
const PATIENCE_MS = 12_000;

const newQuestions = `FROM sheaf.letters l JOIN sheaf.responses r ON r.key = l.response
  JOIN sheaf.conversations c ON c.key = r.conversation WHERE r.id = $1 AND c.key = $2 AND c.fence = $3 AND NOT l.taken`;

const takeStatement = `
  UPDATE sheaf.letters l SET taken = true FROM sheaf.responses r JOIN sheaf.conversations c ON c.key = r.conversation
  WHERE l.response = r.key AND r.id = $1 AND c.key = $2 AND c.fence = $3 AND (NOT l.taken OR l.id = ANY ($4::text[]))
  RETURNING l.id, l.body AS text`;

interface MailboxPorts {
  readonly connection: PostgresConnection;
  readonly session: Pick<PostgresSession, "watch" | "publish">;
  /** The lease of a response that this process writes. @throws SheafError if it doesn't. */
  readonly findLease: (responseId: string) => PostgresLease;
}

/** The mailbox as `owner` sees it. */
export function createPostgresMailbox({ connection, session, findLease }: MailboxPorts, owner: string): Mailbox {
  const { query, transact } = connection;

  /** Withdraws a question. Returns false if the writer took it before: it may already have had its effect. */
  const withdraw = async (id: string): Promise<boolean> => {
    const gone = await query("DELETE FROM sheaf.letters WHERE id = $1 AND NOT taken RETURNING key", [id]);
    return gone.length > 0;
  };

  return {
    async ask(responseId, text, isOver) {
      const id = randomUUID();
      let change = new AbortController();
      const endWatch = session.watch(responseId, () => change.abort());
      try {
        const sent = await query(
          `INSERT INTO sheaf.letters (id, response, body)
           SELECT $1, r.key, $2 FROM sheaf.responses r JOIN sheaf.conversations c ON c.key = r.conversation
           WHERE r.id = $3 AND c.owner = $4 AND NOT r.ended
           ON CONFLICT (id) DO UPDATE SET body = excluded.body RETURNING key`,
          [id, text, toColumn(responseId), owner],
        );
        if (sent.length === 0) return undefined;
        session.publish([responseId]);
        const end = performance.now() + PATIENCE_MS;
        for (;;) {
          await sleep(LOOK_MS, undefined, { signal: change.signal }).catch(() => undefined);
          change = new AbortController();
          const [question] = await query<{ reply: string | null }>("SELECT reply FROM sheaf.letters WHERE id = $1", [
            id,
          ]);
          if (typeof question?.reply === "string") return question.reply;
          if (!question || (await isOver())) return undefined;
          if (performance.now() > end && (await withdraw(id))) return undefined;
        }
      } finally {
        endWatch();
        await query("DELETE FROM sheaf.letters WHERE id = $1", [id]).catch(() => undefined);
      }
    },
    async take(responseId) {
      const { conversation, fence } = findLease(responseId);
      const values = [toColumn(responseId), conversation, fence];
      if ((await query(`SELECT 1 ${newQuestions} LIMIT 1`, values)).length === 0) return [];
      let taken: readonly { readonly id: string; readonly text: string }[] = [];
      // This try takes the questions of an earlier try again.
      await transact(async (run) => {
        const ids = taken.map(({ id }) => id);
        taken = await run(takeStatement, [...values, ids]);
      });
      return taken;
    },
    async reply(responseId, id, text) {
      await query("UPDATE sheaf.letters SET reply = $2 WHERE id = $1", [id, text]);
      session.publish([responseId]);
    },
  };
}
