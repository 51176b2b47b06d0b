/** A whole store as rows: checked, and copied from SQLite to PostgreSQL. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { RunEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { checkStore } from "../src/check-store.ts";
import { fillPostgres, openPostgresDump } from "../src/postgres-dump.ts";
import { createPostgresStore, preparePostgres } from "../src/postgres.ts";
import { openSqliteDump } from "../src/sqlite-dump.ts";
import { createSqliteStore } from "../src/sqlite.ts";
import { tableNames, type StoreDump, type TableRow } from "../src/store-tables.ts";
import { describeWithBubblewrap } from "../../../test/support/bubblewrap.ts";
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";

const folders = createTestFolder();

const logOf = (id: string, words: readonly string[]): RunEvent[] =>
  [
    { type: "run_start", prompt: `Ünïcode "${id}" \0 \u{1F600}` },
    ...words.map((text) => ({ type: "text_delta", text })),
    { type: "run_end", reason: "end_turn" },
  ].map((event, index) => ({ ...event, seq: index + 1, time: 1000 + index }) as RunEvent);

/** Two owners, a pinned conversation, a reverted response, a key of a request, usage. */
async function fillFile(): Promise<string> {
  const file = join(folders.newFolder(), "sheaf.db");
  const store = createSqliteStore(file);
  for (const owner of ["local", "user:ada"]) {
    const own = store.forOwner(owner);
    for (let index = 0; index < 30; index += 1) {
      const id = `chat_${owner}_${index}`;
      const conversationId = `conv_${owner}_${Math.floor(index / 3)}`;
      const request = { key: `${index}`, digest: "d" };
      await own.createResponse({ id, conversationId, workspace: "/w", title: `T\0 ${id}`, createdAt: index, request });
      const [first, ...rest] = logOf(id, ["one ", "\u{10FFFE} two"]);
      await own.appendEvents(id, [first!], "grouped");
      await own.appendEvents(id, rest, "synced");
    }
    await own.changeConversation(`conv_${owner}_1`, { pinned: true, settings: { mode: "plan" } });
    await own.showBranch(`conv_${owner}_2`, 1);
    const bytes = Buffer.from([0, 255, 1, 128]);
    const meta = { name: "a.bin", mediaType: "image/png" as const, size: 4, createdAt: 1 };
    await own.addAttachment({ id: `file_${owner}`, ...meta }, bytes, { count: 9, bytes: 99 });
    await own.addUsage("2026-02-23", { turns: 3, costUsd: 0.1 + 0.2 });
  }
  await store.close();
  return file;
}

const readRows = async (dump: StoreDump): Promise<TableRow[][]> => {
  const tables: TableRow[][] = [];
  for (const table of tableNames) {
    const rows: TableRow[] = [];
    for await (const row of dump.rows(table)) rows.push(row);
    tables.push(rows);
  }
  return tables;
};

test(verifies("C76", "a file in which all is well has no problems; each that is planted is found"), async () => {
  const file = await fillFile();
  const dump = openSqliteDump(file);
  expect(await checkStore(dump)).toEqual({
    conversations: 20,
    responses: 60,
    events: 240,
    open: 0,
    problemCount: 0,
    problems: [],
  });
  await dump.close();
  for (const [sql, problem] of [
    ["UPDATE event_groups SET events = '[{' WHERE response = 3 AND first_seq = 1", /chat_local_2: .*is not JSON/],
    ["DELETE FROM event_groups WHERE response = 4 AND first_seq = 1", /chat_local_3: event 2 follows event 0/],
    ["DELETE FROM event_groups WHERE response = 5 AND first_seq = 2", /chat_local_4: .*its log has no end/],
    ["UPDATE responses SET ended = 0 WHERE key = 6", /chat_local_5: its log has an end/],
    ["INSERT INTO event_groups VALUES (999, 1, 1, '[]')", /does not exist \(key 999\)/],
    ["UPDATE conversations SET settings = '{' WHERE key = 2", /its settings are not JSON/],
  ] as const) {
    const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    database.exec(sql);
    database.close();
    const damaged = openSqliteDump(file);
    expect((await checkStore(damaged)).problems).toContainEqual(expect.stringMatching(problem));
    await damaged.close();
  }
});

test(
  verifies("C76", "a check changes nothing, also of groups that wait for their place, and migrates nothing"),
  async () => {
    const file = await fillFile();
    const database = new DatabaseSync(file);
    database.exec(`INSERT INTO arrived_groups (response, first_seq, last_seq, events)
    SELECT * FROM event_groups WHERE response = 60; DELETE FROM event_groups WHERE response = 60`);
    database.close();
    const before = readFileSync(file);
    const dump = openSqliteDump(file);
    expect(await checkStore(dump)).toMatchObject({ events: 240, problems: [] });
    await dump.close();
    expect(readFileSync(file).equals(before)).toBe(true);
    const older = new DatabaseSync(file);
    older.exec("PRAGMA user_version = 9");
    older.close();
    expect(() => openSqliteDump(file)).toThrow(/has schema 9, this Sheaf needs \d+: run sheaf store migrate/);
  },
);

describeWithBubblewrap("a read-only disk", () => {
  test(verifies("R-06", "can be read, and shows what cannot be written"), async () => {
    const file = await fillFile();
    const script = `
      const { createSqliteStore } = await import(${JSON.stringify(import.meta.resolve("../src/sqlite.ts"))});
      const store = createSqliteStore(${JSON.stringify(file)});
      const failure = await store.deleteConversation("conv_local_1").catch(({ code, message }) => code + message);
      console.log(JSON.stringify([(await store.listConversations({ limit: 99 })).length, failure]));`;
    const program = [process.execPath, "--conditions=sheaf-source", "--input-type=module", "-e", script];
    const output = execFileSync("bwrap", ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", ...program]);
    expect(JSON.parse(output.toString())).toEqual([10, expect.stringMatching(/^STORAGE_LOCKED.*cannot be written/)]);
  });
});

describeWithPostgres("a copy to PostgreSQL", (postgres) => {
  test(verifies("R-62", "has every row; the store goes on with new ones"), async () => {
    const address = await postgres.clearDatabase();
    await preparePostgres(address, { migrates: true });
    const source = openSqliteDump(await fillFile());
    const sums = await fillPostgres(address, source);
    expect(sums.responses.count).toBe(60);
    const copy = await openPostgresDump(address);
    expect(await readRows(copy)).toEqual(await readRows(source));
    expect(await checkStore(copy)).toMatchObject({ responses: 60, events: 240, problemCount: 0 });
    await copy.close();
    await expect(fillPostgres(address, source)).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining("is not empty") as string,
    });
    await source.close();
    const store = await createPostgresStore(address);
    const ada = store.forOwner("user:ada");
    expect(await ada.readEvents("chat_user:ada_7")).toEqual(logOf("chat_user:ada_7", ["one ", "\u{10FFFE} two"]));
    expect(await ada.getConversation("conv_user:ada_1")).toMatchObject({ pinned: true, settings: { mode: "plan" } });
    expect(await ada.listConversations({ limit: 9, search: "chat_user:ada_29" })).toMatchObject([
      { id: "conv_user:ada_9", title: "T\0 chat_user:ada_27" },
    ]);
    expect(await ada.findRequest("7")).toMatchObject({ responseId: "chat_user:ada_7" });
    expect(await ada.readUsage("2026-02-23")).toEqual({ turns: 3, costUsd: 0.1 + 0.2 });
    await ada.createResponse({ id: "n", conversationId: "c", workspace: "/w", title: "t", createdAt: 1 });
    await store.close();
  });

  test(verifies("R-62", "that fails leaves nothing behind"), async () => {
    const address = await postgres.clearDatabase();
    await preparePostgres(address, { migrates: true });
    const source = openSqliteDump(await fillFile());
    let count = 0;
    const failing: Pick<StoreDump, "rows"> = {
      async *rows(table) {
        for await (const row of source.rows(table)) {
          count += 1;
          // After some statements: what they wrote must go, too.
          if (table === "event_groups" && count > 100) throw new Error("the disk is gone");
          yield row;
        }
      },
    };
    await expect(fillPostgres(address, failing)).rejects.toThrow(/the disk is gone/);
    expect(await postgres.run(address, "SELECT * FROM sheaf.conversations")).toEqual([]);
    // A character that the database cannot give back as it was.
    const changed: Pick<StoreDump, "rows"> = {
      async *rows(table) {
        for await (const row of source.rows(table))
          yield table === "conversations" ? { ...row, title: "\u{10FFFF}" } : row;
      },
    };
    await expect(fillPostgres(address, changed)).rejects.toThrow(/20 arrived, or some with other content/);
    expect(await postgres.run(address, "SELECT * FROM sheaf.conversations")).toEqual([]);
    await source.close();
  });

  test("every table of the schema is copied, or is of the moment", async () => {
    const address = await postgres.clearDatabase();
    await preparePostgres(address, { migrates: true });
    const rows = await postgres.run(address, "SELECT tablename FROM pg_tables WHERE schemaname = 'sheaf'");
    const moment = ["migrations", "holders", "letters", "orders"];
    expect(rows.map(({ tablename }) => tablename as string).toSorted()).toEqual([...tableNames, ...moment].toSorted());
  });

  test(verifies("C76", "a database with an older schema must be migrated before it is read"), async () => {
    const address = await postgres.clearDatabase();
    await expect(openPostgresDump(address)).rejects.toMatchObject({
      message: expect.stringMatching(/is no store yet: run sheaf store migrate/) as string,
    });
  });
});
