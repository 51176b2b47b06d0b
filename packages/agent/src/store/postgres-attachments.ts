/** Files that messages may name, in PostgreSQL. Every statement but the sweep names the owner (S-120). */
import type { PostgresConnection } from "./postgres-connection.ts";
import { fromColumn, toColumn } from "./postgres-text.ts";
import type { AttachmentRecord, AttachmentStore } from "./store.ts";

/** The files as `owner` sees them. */
export function createPostgresAttachments({ query, transact }: PostgresConnection, owner: string): AttachmentStore {
  return {
    addAttachment: ({ id, name, mediaType, size, createdAt }, bytes, limits) =>
      transact(async (run, isDoubtful) => {
        // Who counts must not miss one that is being added.
        await run("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`attachments ${owner}`]);
        if (isDoubtful && (await run("SELECT 1 FROM sheaf.attachments WHERE id = $1", [id])).length > 0) return true;
        const [kept] = await run<{ count: number; bytes: number }>(
          "SELECT COUNT(*) AS count, COALESCE(SUM(size), 0)::bigint AS bytes FROM sheaf.attachments WHERE owner = $1",
          [owner],
        );
        if (kept!.count >= limits.count || kept!.bytes + size > limits.bytes) return false;
        await run(
          `INSERT INTO sheaf.attachments (id, owner, name, media_type, size, created_at, bytes)
           VALUES ($1, $2, $3, $4, $5, $6, $7)`,
          [id, owner, toColumn(name), mediaType, size, createdAt, bytes],
        );
        return true;
      }),
    async getAttachment(id) {
      const [row] = await query<AttachmentRecord>(
        `SELECT id, name, media_type AS "mediaType", size, created_at AS "createdAt" FROM sheaf.attachments
         WHERE id = $1 AND owner = $2`,
        [toColumn(id), owner],
      );
      return row && { ...row, name: fromColumn(row.name) };
    },
    async listAttachments() {
      const rows = await query<AttachmentRecord>(
        `SELECT id, name, media_type AS "mediaType", size, created_at AS "createdAt" FROM sheaf.attachments
         WHERE owner = $1 ORDER BY created_at, id`,
        [owner],
      );
      return rows.map((row) => ({ ...row, name: fromColumn(row.name) }));
    },
    async readAttachment(id) {
      const [row] = await query<{ bytes: Uint8Array }>(
        "SELECT bytes FROM sheaf.attachments WHERE id = $1 AND owner = $2",
        [toColumn(id), owner],
      );
      return row?.bytes;
    },
    // Not by `query`: a second try would find the row gone.
    deleteAttachment: (id) =>
      transact(async (run, isDoubtful) => {
        const values = [toColumn(id), owner];
        const gone = await run("DELETE FROM sheaf.attachments WHERE id = $1 AND owner = $2 RETURNING id", values);
        return isDoubtful || gone.length > 0;
      }),
    async deleteAttachmentsBefore(time) {
      await query("DELETE FROM sheaf.attachments WHERE created_at < $1", [time]);
    },
  };
}
