/** Files that messages may name, as rows. Every statement but the sweep names the owner (S-120). */
import { insert, raw, select, sql, step, type Sql, type SqlDatabase } from "./sql.ts";
import type { AttachmentRecord, AttachmentStore } from "./store.ts";

/** The files as `owner` sees them. */
export function createAttachmentRows(database: SqlDatabase, owner: string): AttachmentStore {
  const { dialect, read } = database;
  const columns = select("attachments", "a", ["id", "name", "media_type", "size", "created_at"]);
  const selectRecords = (rest: Sql): Promise<readonly AttachmentRecord[]> =>
    read(sql`SELECT ${columns} FROM sheaf.attachments a WHERE a.owner = ${owner} ${rest}`);
  const isOwn = (id: string): Sql => sql`id = ${id} AND owner = ${owner}`;
  return {
    addAttachment: ({ id, name, mediaType, size, createdAt }, bytes, limits) =>
      database.transact("synced", function* (isDoubtful) {
        // A process that counts must not miss a file that is being added.
        const lock = dialect.lock(`attachments ${owner}`);
        if (lock) yield lock;
        if (isDoubtful && (yield sql`SELECT 1 FROM sheaf.attachments WHERE id = ${id}`).length > 0) return true;
        const [kept] = yield* step<{ count: number; bytes: number }>(
          sql`SELECT COUNT(*) AS count, CAST(COALESCE(SUM(size), 0) AS bigint) AS bytes
            FROM sheaf.attachments WHERE owner = ${owner}`,
        );
        if (kept!.count >= limits.count || kept!.bytes + size > limits.bytes) return false;
        const row = { id, owner, name, media_type: mediaType, size, created_at: createdAt, bytes };
        yield insert(dialect, "attachments", row, raw(""));
        return true;
      }),
    getAttachment: async (id) => (await selectRecords(sql`AND a.id = ${id}`))[0],
    listAttachments: () => selectRecords(raw("ORDER BY a.created_at, a.id")),
    async readAttachment(id) {
      const [row] = await read<{ bytes: Uint8Array }>(sql`SELECT bytes FROM sheaf.attachments WHERE ${isOwn(id)}`);
      return row?.bytes;
    },
    // Not by `write`: a second try would find the row gone.
    deleteAttachment: (id) =>
      database.transact("synced", function* (isDoubtful) {
        return (yield sql`DELETE FROM sheaf.attachments WHERE ${isOwn(id)} RETURNING id`).length > 0 || isDoubtful;
      }),
    async deleteAttachmentsBefore(time) {
      await database.write("grouped", sql`DELETE FROM sheaf.attachments WHERE created_at < ${time}`);
    },
  };
}
