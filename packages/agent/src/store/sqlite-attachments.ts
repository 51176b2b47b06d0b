/** Files that messages may name, in SQLite. Every statement but the sweep names the owner (S-120). */
import type { SqliteConnection } from "./sqlite-connection.ts";
import type { AttachmentRecord, AttachmentStore } from "./store.ts";

/** The files as `owner` sees them. */
export function createSqliteAttachments(connection: SqliteConnection, owner: string): AttachmentStore {
  return {
    addAttachment: async ({ id, name, mediaType, size, createdAt }, bytes, limits) =>
      connection.transact("synced", () => {
        const sql = "SELECT COUNT(*) AS count, COALESCE(SUM(size), 0) AS bytes FROM attachments WHERE owner = ?";
        const kept = connection.prepare(sql).get(owner) as { count: number; bytes: number };
        if (kept.count >= limits.count || kept.bytes + size > limits.bytes) return false;
        connection
          .prepare(
            `INSERT INTO attachments (id, owner, name, media_type, size, created_at, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)`,
          )
          .run(id, owner, name, mediaType, size, createdAt, bytes);
        return true;
      }),
    getAttachment: async (id) => {
      const sql = `SELECT id, name, media_type AS mediaType, size, created_at AS createdAt FROM attachments
        WHERE id = ? AND owner = ?`;
      const row = connection.run(() => connection.prepare(sql).get(id, owner)) as AttachmentRecord | undefined;
      return row && { ...row };
    },
    listAttachments: async () => {
      const sql = `SELECT id, name, media_type AS mediaType, size, created_at AS createdAt FROM attachments
        WHERE owner = ? ORDER BY created_at, id`;
      const rows = connection.run(() => connection.prepare(sql).all(owner)) as unknown as AttachmentRecord[];
      return rows.map((row) => ({ ...row }));
    },
    readAttachment: async (id) => {
      const sql = "SELECT bytes FROM attachments WHERE id = ? AND owner = ?";
      return (connection.run(() => connection.prepare(sql).get(id, owner)) as { bytes: Uint8Array } | undefined)?.bytes;
    },
    deleteAttachment: async (id) => {
      const sql = "DELETE FROM attachments WHERE id = ? AND owner = ?";
      return connection.transact("synced", () => connection.prepare(sql).run(id, owner).changes > 0);
    },
    deleteAttachmentsBefore: async (time) => {
      connection.run(() => connection.prepare("DELETE FROM attachments WHERE created_at < ?").run(time));
    },
  };
}
