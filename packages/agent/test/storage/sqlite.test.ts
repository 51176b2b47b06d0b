import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { createSqliteStore } from "../../src/storage/sqlite.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { testStoreContract } from "./store-contract.ts";

const folder = mkdtempSync(join(tmpdir(), "sheaf-store-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
const newFile = () => join(folder, `${(count += 1)}`, "sheaf.db");
const row = { id: "chat_a", conversationId: "conv_1", workspace: "/w", title: "t", createdAt: 1 };

testStoreContract(() => createSqliteStore(newFile()));

describe("the file", () => {
  test(verifies("S-42", "the folder is 0700, the file and its companions 0600"), async () => {
    const file = newFile();
    const store = createSqliteStore(file);
    await store.createResponse(row);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
    for (const suffix of ["", "-wal", "-shm"]) expect(statSync(file + suffix).mode & 0o777, suffix).toBe(0o600);
    await store.close();
  });

  test("what one store wrote another reads, while both are open", async () => {
    const file = newFile();
    const writer = createSqliteStore(file);
    const reader = createSqliteStore(file);
    await writer.createResponse(row);
    await writer.appendEvents("chat_a", [{ type: "turn_start", turn: 1, seq: 1, time: 1 }], "grouped");
    expect(await reader.readEvents("chat_a")).toHaveLength(1);
    await reader.appendEvents("chat_a", [{ type: "turn_start", turn: 2, seq: 2, time: 2 }], "synced");
    // The first writer does not know of the second event: its own would double number 2.
    await expect(
      writer.appendEvents("chat_a", [{ type: "turn_start", turn: 9, seq: 2, time: 2 }], "grouped"),
    ).rejects.toMatchObject({ code: "INTERNAL" });
    expect((await reader.readEvents("chat_a")).map((event) => event.seq)).toEqual([1, 2]);
    await writer.close();
    await reader.close();
  });
});

describe("damage has a code and a way out", () => {
  test(verifies("C20", "a file that is no database is STORAGE_CORRUPT"), () => {
    const file = join(folder, "no.db");
    writeFileSync(file, "this is no database, however long one looks at it ".repeat(100));
    expect(() => createSqliteStore(file)).toThrow(
      expect.objectContaining({ code: "STORAGE_CORRUPT", message: expect.stringContaining("SHEAF_HOME") as string }),
    );
  });

  test(verifies("C20", "a cut file is STORAGE_CORRUPT or empty, never a crash"), async () => {
    const file = newFile();
    const store = createSqliteStore(file);
    await store.createResponse(row);
    await store.close();
    truncateSync(file, 5000);
    try {
      await createSqliteStore(file).listConversations({ limit: 1 });
    } catch (error) {
      expect(error).toMatchObject({ code: "STORAGE_CORRUPT" });
    }
  });

  test("a newer shape is refused by name", () => {
    const file = join(folder, "newer.db");
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 999");
    database.close();
    expect(() => createSqliteStore(file)).toThrow(/shape 999.*newer Sheaf/);
  });

  test(verifies("C20", "a folder that cannot be made is STORAGE_LOCKED and names the path"), () => {
    const file = join(folder, "blocked");
    writeFileSync(file, "");
    expect(() => createSqliteStore(join(file, "sheaf.db"))).toThrow(
      expect.objectContaining({ code: "STORAGE_LOCKED", message: expect.stringContaining(file) as string }),
    );
  });
});
