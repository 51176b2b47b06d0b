import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { RunEvent } from "@sheaf/protocol";
import { afterAll, describe, expect, test } from "vitest";
import { createSqliteStore } from "../src/sqlite.ts";
import { migrateSqlite } from "../src/sqlite-dump.ts";
import { createThreadedSqliteStore } from "../src/threaded-sqlite.ts";
import { describeWithNamespaces, toNamespaceWrapper } from "../../../test/support/namespace.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { testStoreContract } from "./store-contract.ts";

const folder = mkdtempSync(join(tmpdir(), "sheaf-store-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
const newFile = () => join(folder, `${(count += 1)}`, "sheaf.db");
const turnStart = (seq: number): RunEvent => ({ type: "turn_start", turn: seq, seq, time: seq });
const row = { id: "chat_a", conversationId: "conv_1", workspace: "/w", title: "t", createdAt: 1 };

describe("each write by itself", () => {
  testStoreContract(() => createSqliteStore(newFile()));
});
describe("writes in a thread of their own", () => {
  testStoreContract(() => createThreadedSqliteStore(newFile()));
});

describe("without a file", () => {
  testStoreContract(() => createSqliteStore(":memory:"));

  test("two stores share nothing, and a server's store without a file is whole", async () => {
    const one = createThreadedSqliteStore(":memory:");
    const other = createSqliteStore(":memory:");
    const response = { id: "chat_1", conversationId: "conv_1", workspace: "/w", title: "", createdAt: 1 };
    await one.createResponse(response);
    expect(await one.getResponse("chat_1")).toMatchObject({ position: 1 });
    expect(await other.getResponse("chat_1")).toBeUndefined();
    expect(existsSync(":memory:")).toBe(false);
    await Promise.all([one.close(), other.close()]);
  });
});

describe("the file", () => {
  test(verifies("S-42", "the folder is 0700, the file and its companions 0600"), async () => {
    const file = newFile();
    const store = createSqliteStore(file);
    await store.createResponse(row);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
    for (const suffix of ["", "-wal", "-shm"]) expect(statSync(file + suffix).mode & 0o777, suffix).toBe(0o600);
    await store.close();
  });

  test("of two processes that begin the same message, the later one learns that it no longer waits", async () => {
    const file = newFile();
    const [first, second] = [createSqliteStore(file), createSqliteStore(file)];
    await first.waiting.add({ responseId: "chat_a", conversationId: "conv_1", text: "{}", request: undefined }, 1);
    const claimed = [await first.waiting.claim(1, []), await second.waiting.claim(1, [])];
    expect(claimed).toMatchObject([{ responseId: "chat_a" }, { responseId: "chat_a" }]);
    const begun = { ...row, cluster: { hasWaited: true, maxRunning: 1, continuation: undefined } };
    await first.createResponse(begun);
    await first.appendEvents("chat_a", [{ type: "run_end", reason: "end_turn", seq: 1, time: 1 }], "synced");
    await expect(second.createResponse(begun)).rejects.toMatchObject({ code: "CANCELLED" });
    await Promise.all([first.close(), second.close()]);
  });

  test("what one store wrote another reads, while both are open", async () => {
    const file = newFile();
    const writer = createSqliteStore(file);
    const reader = createSqliteStore(file);
    await writer.createResponse(row);
    await writer.appendEvents("chat_a", [turnStart(1)], "grouped");
    expect(await reader.readEvents("chat_a")).toHaveLength(1);
    await expect(reader.appendEvents("chat_a", [turnStart(2)], "synced")).rejects.toMatchObject({ code: "INTERNAL" });
    await writer.close();
    await reader.close();
  });
});

describe("writers in several processes", () => {
  test(verifies("R-05", "a writer that says nothing loses its lease, and can write nothing any more"), async () => {
    const file = newFile();
    let now = 1_000_000;
    const clocks = { now: () => 1, uptime: () => now };
    const [first, second] = [createSqliteStore(file, clocks), createSqliteStore(file, clocks)];
    await first.createResponse(row);
    await first.appendEvents("chat_a", [turnStart(1)], "grouped");
    await expect(second.createResponse({ ...row, id: "chat_b" })).rejects.toMatchObject({ code: "CONVERSATION_BUSY" });
    now += 9000;
    expect(await first.keepLease("chat_a")).toBe("kept");
    now += 9000;
    expect(await second.claimResponse("chat_a")).toBe(false);
    now += 1001;
    expect(await second.claimResponse("chat_a")).toBe(true);
    await expect(first.appendEvents("chat_a", [turnStart(2)], "grouped")).rejects.toMatchObject({
      code: "CONVERSATION_BUSY",
    });
    expect(await first.keepLease("chat_a")).toBe("lost");
    await second.appendEvents("chat_a", [{ type: "run_end", reason: "end_turn", seq: 2, time: 2 }], "synced");
    await expect(first.appendEvents("chat_a", [turnStart(2)], "grouped")).rejects.toMatchObject({
      code: "CONVERSATION_BUSY",
    });
    expect((await second.readEvents("chat_a")).map(({ type }) => type)).toEqual(["turn_start", "run_end"]);
    await first.close();
    await second.close();
  });

  test.each([3_600_000, -3_600_000, 86_400_000, -86_400_000])(
    verifies(["R-05", "R-19"], "a clock that jumps by %d ms takes no lease from a writer that lives"),
    async (jump) => {
      const file = newFile();
      let now = 1_000_000_000;
      const [first, second] = [
        createSqliteStore(file, { now: () => now }),
        createSqliteStore(file, { now: () => now }),
      ];
      await first.createResponse(row);
      now += jump;
      expect(await second.claimResponse("chat_a")).toBe(false);
      await expect(second.createResponse({ ...row, id: "chat_b" })).rejects.toMatchObject({
        code: "CONVERSATION_BUSY",
      });
      expect(await first.keepLease("chat_a")).toBe("kept");
      await first.appendEvents("chat_a", [turnStart(1)], "synced");
      await first.close();
      await second.close();
    },
  );

  test(verifies(["R-05", "R-19"], "for a lease of another machine the wall clock counts, also set back"), async () => {
    const file = newFile();
    let now = 1_000_000_000;
    const clocks = { now: () => now, uptime: () => 1 };
    const [first, second] = [createSqliteStore(file, clocks), createSqliteStore(file, clocks)];
    await first.createResponse(row);
    const database = new DatabaseSync(file);
    // As that machine would have written it; its processes cannot be seen from here.
    database.exec("UPDATE conversations SET lease_holder = 'elsewhere ' || lease_holder");
    expect(await second.claimResponse("chat_a")).toBe(false);
    now += 10_001;
    expect(await second.claimResponse("chat_a")).toBe(true);
    database.exec("UPDATE conversations SET lease_holder = 'elsewhere ' || lease_holder");
    now -= 86_400_000;
    expect(await first.claimResponse("chat_a")).toBe(true);
    database.close();
    await first.close();
    await second.close();
  });

  test(verifies(["R-01", "R-05"], "the lease of a process that was killed is free at once"), async () => {
    const file = newFile();
    const writer = join(import.meta.dirname, "hold-lease-in-process.ts");
    const child = spawn(process.execPath, ["--conditions=sheaf-source", writer, file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    const store = createSqliteStore(file);
    expect(await store.claimResponse("chat_a")).toBe(false);
    child.kill("SIGKILL");
    await once(child, "close");
    expect(await store.claimResponse("chat_a")).toBe(true);
    await store.close();
  });

  test("many responses append at once, and one that is refused takes no other with it", async () => {
    const file = newFile();
    const store = createThreadedSqliteStore(file);
    const ids = Array.from({ length: 50 }, (_, index) => `chat_${index}`);
    for (const id of ids) await store.createResponse({ ...row, id, conversationId: `conv_${id}` });
    const outcomes = await Promise.allSettled(
      ids.map((id, index) => store.appendEvents(id, [turnStart(index === 7 ? 2 : 1)], "grouped")),
    );
    expect(outcomes.flatMap(({ status }, index) => (status === "rejected" ? [index] : []))).toEqual([7]);
    for (const [index, id] of ids.entries()) expect(await store.readEvents(id)).toHaveLength(index === 7 ? 0 : 1);
    await store.appendEvents("chat_7", [turnStart(1)], "synced");
    await store.close();
  });
});

describeWithNamespaces("a full disk", () => {
  test.each([
    ["createSqliteStore", "sqlite.ts", /free some space, or add --no-save$/],
    ["createThreadedSqliteStore", "threaded-sqlite.ts", /free some space$/],
  ])(verifies(["C20", "R-60"], "is not ready for %s, and the advice fits"), (name, module, message) => {
    const script = `
      const { writeFileSync } = await import("node:fs");
      const { ${name} } = await import(${JSON.stringify(import.meta.resolve(`../src/${module}`))});
      const store = ${name}("${folder}/sheaf.db");
      await store.checkReady();
      for (const bytes of [100_000, 1000]) {
        try {
          for (let count = 0; ; count += 1) writeFileSync("${folder}/" + bytes + count, Buffer.alloc(bytes));
        } catch {}
      }
      let failure;
      for (let count = 0; count < 1000; count += 1) await store.checkReady().catch((error) => (failure = error));
      console.log(JSON.stringify([failure?.code, failure?.message]));
      process.exit();`;
    const program = [process.execPath, "--conditions=sheaf-source", "--input-type=module", "-e", script];
    const words = [...toNamespaceWrapper(`mount -t tmpfs -o size=2m tmpfs ${folder}`), ...program];
    const failure: unknown = JSON.parse(execFileSync("/usr/bin/env", words).toString());
    expect(failure).toEqual(["STORAGE_FULL", expect.stringMatching(message)]);
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

  test(verifies("R-06", "a cut file: what is in front of the cut is read, nothing is taken away"), async () => {
    const file = newFile();
    const store = createSqliteStore(file);
    // Few enough that what lists them stays on the first pages.
    const ids = Array.from({ length: 12 }, (_, index) => `chat_${index}`);
    for (const [index, id] of ids.entries()) {
      await store.createResponse({ ...row, id, conversationId: `conv_${index}` });
      const delta: RunEvent = { type: "text_delta", text: "x".repeat(30_000), seq: 1, time: 1 };
      await store.appendEvents(id, [delta], "grouped");
    }
    await store.close();
    // From the last page on that leads to groups of events; where that is depends on the order of the writes.
    const database = new DatabaseSync(file);
    const lastPage = `SELECT max(pageno) AS page FROM dbstat WHERE name = 'event_groups' AND pagetype = 'leaf'`;
    const { page } = database.prepare(lastPage).get() as { page: number };
    database.close();
    const cut = readFileSync(file).subarray(0, (page - 1) * 4096);
    writeFileSync(file, cut);

    const damaged = createSqliteStore(file);
    expect(await damaged.listConversations({ limit: 100 })).toHaveLength(ids.length);
    const outcomes = ids.map(async (id) => (await damaged.readEvents(id)).length);
    const results = await Promise.allSettled(outcomes);
    const readable = results.filter(({ status }) => status === "fulfilled");
    expect(readable.length).toBeGreaterThan(0);
    expect(readable.length).toBeLessThan(ids.length);
    for (const result of results) {
      if (result.status === "fulfilled") expect(result.value).toBe(1);
      else expect(result.reason).toMatchObject({ code: "STORAGE_CORRUPT" });
    }
    await damaged.close();
    expect(readFileSync(file).subarray(4096, cut.length).equals(cut.subarray(4096))).toBe(true);
  });

  test(
    verifies(["R-06", "C20"], "a log that is no JSON any more is STORAGE_CORRUPT, the others are read"),
    async () => {
      const file = newFile();
      const store = createSqliteStore(file);
      for (const id of ["chat_a", "chat_b"]) {
        await store.createResponse({ ...row, id, conversationId: `conv_${id}` });
        await store.appendEvents(id, [turnStart(1)], "grouped");
      }
      await store.close();
      const database = new DatabaseSync(file);
      database.exec("UPDATE event_groups SET events = '[{' WHERE response = 1");
      database.close();
      const damaged = createSqliteStore(file);
      await expect(damaged.readEvents("chat_a")).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
      expect(await damaged.readEvents("chat_b")).toEqual([turnStart(1)]);
      expect(await damaged.listConversations({ limit: 9, search: "t" })).toHaveLength(2);
      expect(await damaged.listConversations({ limit: 9, search: "nowhere" })).toEqual([]);
      expect(await damaged.listTexts("conv_chat_a")).toMatchObject([{ message: "" }]);
      await damaged.close();
    },
  );

  test.each(["", "-journal", "-wal"])(
    verifies("R-15", "a pipe in the place of sheaf.db%s blocks nothing"),
    (ending) => {
      const file = join(folder, `pipe${ending}.db`);
      execFileSync("mkfifo", [`${file}${ending}`]);
      for (const open of [createSqliteStore, migrateSqlite]) {
        expect(() => open(file)).toThrow(
          expect.objectContaining({
            code: "STORAGE_CORRUPT",
            message: expect.stringContaining("move it away") as string,
          }),
        );
      }
    },
  );

  test.each([
    ["that says nothing", "", /^a newer Sheaf wrote the store: it has schema 999.*npm install -g sheaf@latest/],
    ["for newer programs alone", "990, '9.1.0'", /schemas up to \d+\. Update Sheaf \(npm install -g sheaf@9\.1\.0\)/],
    ["that only added", "0, '9.1.0'", undefined],
  ])(verifies(["R-33", "R-68"], "a newer schema %s"), async (title, use, message) => {
    const file = join(folder, `${title}.db`);
    await createSqliteStore(file).close();
    const database = new DatabaseSync(file);
    database.exec(`DELETE FROM schema_use; PRAGMA user_version = 999`);
    database.exec(use === "" ? "DROP TABLE schema_use" : `INSERT INTO schema_use VALUES (${use})`);
    database.close();
    if (message)
      expect(() => createSqliteStore(file)).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringMatching(message) as string }),
      );
    else expect(migrateSqlite(file)).toEqual({ version: 999, newest: 999 });
  });

  test(verifies("C20", "a folder that cannot be made is STORAGE_LOCKED and names the path"), () => {
    const file = join(folder, "blocked");
    writeFileSync(file, "");
    expect(() => createSqliteStore(join(file, "sheaf.db"))).toThrow(
      expect.objectContaining({ code: "STORAGE_LOCKED", message: expect.stringContaining(file) as string }),
    );
  });
});
