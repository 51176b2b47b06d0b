/** Stores of every schema that a released program may have left, and what the current program finds in them. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { RunEvent } from "@sheaf/protocol";
import { createSqliteStore } from "../../packages/store/src/sqlite.ts";

/** How to go from the schema of that number to the one before. */
const undo: Readonly<Record<number, string>> = {
  9: "DROP TABLE attachments;",
  8: "",
  7: `DROP INDEX conversations_by_pin; ALTER TABLE conversations DROP COLUMN pinned;
      ALTER TABLE responses DROP COLUMN prompt_tokens; ALTER TABLE responses DROP COLUMN completion_tokens;
      ALTER TABLE responses DROP COLUMN cost_usd; ALTER TABLE responses DROP COLUMN answer;`,
  6: "ALTER TABLE conversations DROP COLUMN settings;",
  5: "DROP TABLE arrived_groups;",
  4: "DROP TABLE owner_usage;",
  3: `DROP TABLE requests; DROP INDEX open_responses; DROP INDEX conversations_by_update;
      ALTER TABLE conversations DROP COLUMN owner; ALTER TABLE conversations DROP COLUMN fence;
      ALTER TABLE conversations DROP COLUMN lease_holder; ALTER TABLE conversations DROP COLUMN lease_until;
      ALTER TABLE conversations DROP COLUMN cancel;
      CREATE INDEX conversations_by_update ON conversations (updated_at);`,
  2: "ALTER TABLE responses DROP COLUMN reverted;",
};

/** Writes `schema-N.db` into a new folder, each with these logs, from the newest schema down to the first. */
export async function writeOldStores(folder: string, logs: readonly (readonly RunEvent[])[]): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const current = join(folder, "current.db");
  const store = createSqliteStore(current);
  for (const [index, log] of logs.entries()) {
    const number = `${index}`.padStart(12, "0");
    const id = `chat_00000000-0000-4000-8000-${number}`;
    const conversationId = `conv_00000000-0000-4000-8000-${number}`;
    const first = log[0]!;
    const title = first.type === "run_start" ? first.prompt.slice(0, 60) : "";
    await store.createResponse({ id, conversationId, workspace: "/w", title, createdAt: first.time });
    await store.appendEvents(id, log, "synced");
  }
  await store.close();
  const database = new DatabaseSync(current);
  database.exec("PRAGMA journal_mode = DELETE");
  const { user_version: newest } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  for (let version = newest; version > 0; version -= 1) {
    database.exec(`PRAGMA user_version = ${version}; VACUUM INTO '${join(folder, `schema-${version}.db`)}'`);
    if (version > 1 && undo[version] === undefined) throw new Error(`nothing undoes schema ${version}`);
    database.exec(undo[version] ?? "");
  }
  database.close();
  rmSync(current);
}

/** Everything in each store, as a copy of it is opened. */
export async function* readOldStores(folder: string): AsyncGenerator<{ readonly key: string; readonly text: string }> {
  const copies = mkdtempSync(join(tmpdir(), "sheaf-oracle-"));
  try {
    for (const name of readdirSync(folder).toSorted()) {
      copyFileSync(join(folder, name), join(copies, name));
      yield { key: name, text: await readStore(join(copies, name)) };
    }
  } finally {
    rmSync(copies, { recursive: true, force: true });
  }
}

async function readStore(file: string): Promise<string> {
  const store = createSqliteStore(file);
  const lines: unknown[] = [];
  for (const conversation of await store.listConversations({ limit: 1000 })) {
    lines.push(conversation);
    for (const response of await store.listResponses(conversation.id)) {
      lines.push(response, await store.readEvents(response.id));
    }
  }
  await store.close();
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
