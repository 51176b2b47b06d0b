import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { RunEvent } from "@sheaf/protocol";
import { afterEach, describe, expect, test } from "vitest";
import { migratePostgres, readSchemaState } from "../src/migrations/migrate-postgres.ts";
import { type ClusterStore, createPostgresStore, preparePostgres } from "../src/postgres.ts";
import { createPostgresConnection, type Query } from "../src/postgres-connection.ts";
import { sheafVersion } from "@sheaf/base/version";
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { testDeep } from "../../../test/support/describe-where.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { testStoreContract } from "./store-contract.ts";

const turnStart = (seq: number): RunEvent => ({ type: "turn_start", turn: seq, seq, time: seq });
const runEnd = (seq: number): RunEvent => ({ type: "run_end", reason: "end_turn", seq, time: seq });
const row = { id: "chat_a", conversationId: "conv_1", workspace: "/w", title: "t", createdAt: 1 };

describeWithPostgres("a store in PostgreSQL", (postgres) => {
  const opened: ClusterStore[] = [];
  const open = async (address: string): Promise<ClusterStore> => {
    const store = await createPostgresStore(address);
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  describe(verifies(["R-21", "R-30"], "the contract of all stores"), () => {
    testStoreContract(async () => open(await postgres.clearDatabase()));
  });

  test(verifies("C240", "a message that a response takes while it ends begins the next response"), async () => {
    const address = await postgres.clearDatabase();
    const store = await open(address);
    await store.createResponse(row);
    await store.waiting.add({ responseId: "chat_b", conversationId: "conv_1", text: "{}", steers: true }, 9);
    const other = new pg.Client({ connectionString: address });
    await other.connect();
    await other.query("BEGIN; SELECT 1 FROM sheaf.orders FOR UPDATE");
    const taken = store.waiting.take("chat_a");
    const blocked =
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE sheaf.orders%'";
    await expect.poll(() => postgres.run(address, blocked)).toHaveLength(1);
    await store.appendEvents("chat_a", [runEnd(1)], "synced");
    await other.query("COMMIT");
    await other.end();
    await taken;
    expect(await store.waiting.claim(9, [])).toMatchObject({ responseId: "chat_b" });
  });

  test(verifies("R-71", "a statement waits while no connection is free"), async () => {
    const address = await postgres.clearDatabase();
    await postgres.run(address, "CREATE ROLE crowded LOGIN CONNECTION LIMIT 0");
    const socket = join(new URL(address.replace("@/", "@h/")).searchParams.get("host")!, ".s.PGSQL.5432");
    let free: Promise<unknown> | undefined;
    let tries = 0;
    const { port } = await startTcpProxy(() => {
      tries += 1;
      // The server has refused the first connection.
      if (tries > 1) free ??= postgres.run(address, "ALTER ROLE crowded CONNECTION LIMIT -1");
      return socket;
    });
    const connection = createPostgresConnection(`postgres://crowded@127.0.0.1:${port}/postgres`);
    try {
      expect(await connection.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
    } finally {
      await connection.close();
      await free;
    }
  });

  test("a question that waits calls its writer, who need not ask again at once", async () => {
    const address = await postgres.clearDatabase();
    const [writer, other] = [await open(address), await open(address)];
    await writer.createResponse(row);
    let calls = 0;
    const endWatch = writer.watchResponse("chat_a", () => {
      calls += 1;
      void writer.keepLease("chat_a");
    });
    const asking = other.cluster.mailbox.ask("chat_a", "go?", async () => false);
    await expect.poll(() => calls).toBeGreaterThan(0);
    for (let index = 0; index < 50; index += 1) await writer.checkReady();
    expect(calls).toBeLessThan(10);
    endWatch();
    const [question] = await writer.cluster.mailbox.take("chat_a");
    await writer.cluster.mailbox.reply("chat_a", question!.id, "yes");
    expect(await asking).toBe("yes");
  });

  test(verifies(["R-05", "R-31"], "a writer whose lease was taken is refused, also at the same moment"), async () => {
    const address = await postgres.clearDatabase();
    const [first, second] = [await open(address), await open(address)];
    await first.createResponse(row);
    await first.appendEvents("chat_a", [turnStart(1)], "grouped");
    expect(await second.claimResponse("chat_a")).toBe(false);
    await postgres.run(address, "DELETE FROM sheaf.holders");
    const [stale, isClaimed] = await Promise.allSettled([
      first.appendEvents("chat_a", [turnStart(2)], "grouped"),
      second.claimResponse("chat_a"),
    ]);
    expect(isClaimed).toMatchObject({ value: true });
    // Whoever came first: the new writer goes on after what is stored.
    const { lastSeq } = (await second.getResponse("chat_a"))!;
    expect(lastSeq).toBe(stale.status === "fulfilled" ? 2 : 1);
    await expect(first.appendEvents("chat_a", [turnStart(lastSeq + 1)], "grouped")).rejects.toMatchObject({
      code: "CONVERSATION_BUSY",
    });
    expect(await first.keepLease("chat_a")).toBe("lost");
    await second.appendEvents("chat_a", [runEnd(lastSeq + 1)], "synced");
    expect((await second.readEvents("chat_a")).map(({ seq }) => seq)).toEqual(
      Array.from({ length: lastSeq + 1 }, (_, index) => index + 1),
    );
  });

  test(verifies("R-06", "a log that is no log any more ends, and searches go past it"), async () => {
    const address = await postgres.clearDatabase();
    const store = await open(address);
    for (const [index, events] of ["[{", "[{}]", '[{"type":"turn_end","seq":1}]'].entries()) {
      const id = `chat_${index}`;
      await store.createResponse({ ...row, id, conversationId: `conv_${id}` });
      await store.appendEvents(id, [turnStart(1)], "grouped");
      await postgres.run(
        address,
        `UPDATE sheaf.event_groups SET events = '${events}'
         WHERE response = (SELECT key FROM sheaf.responses WHERE id = '${id}')`,
      );
      expect(await store.listTexts(`conv_${id}`)).toMatchObject([{ message: "" }]);
      await store.appendEvents(id, [runEnd(2)], "synced");
      expect(await store.getResponse(id)).toMatchObject({ ended: true });
    }
  });

  test(verifies("R-31", "many responses append at once, and one that is refused takes no other with it"), async () => {
    const address = await postgres.clearDatabase();
    const store = await open(address);
    const ids = Array.from({ length: 50 }, (_, index) => `chat_${index}`);
    for (const id of ids) await store.createResponse({ ...row, id, conversationId: `conv_${id}` });
    await postgres.run(address, "UPDATE sheaf.conversations SET fence = fence + 1 WHERE id = 'conv_chat_7'");
    // The database knows where the log ends, whatever this process believes.
    await postgres.run(
      address,
      `INSERT INTO sheaf.event_groups SELECT key, 1, 4, '[]' FROM sheaf.responses WHERE id = 'chat_9'`,
    );
    const outcomes = await Promise.allSettled(
      ids.flatMap((id) => [
        store.appendEvents(id, [turnStart(1)], "grouped"),
        store.appendEvents(id, [turnStart(2), runEnd(3)], "synced"),
      ]),
    );
    const refused = outcomes.flatMap(({ status }, index) => (status === "rejected" ? [Math.floor(index / 2)] : []));
    expect(refused).toEqual([7, 7, 9, 9]);
    expect(outcomes[14]).toMatchObject({ reason: { code: "CONVERSATION_BUSY" } });
    for (const [index, id] of ids.entries()) {
      if (index !== 9) expect(await store.readEvents(id)).toHaveLength(index === 7 ? 0 : 3);
    }
  });

  testDeep(verifies(["R-01", "R-32"], "the lease of a process that was killed is free within 5 s"), async () => {
    const address = await postgres.clearDatabase();
    const writer = join(import.meta.dirname, "hold-lease-in-process.ts");
    const child = spawn(process.execPath, ["--conditions=sheaf-source", writer, address], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    const store = await open(address);
    expect(await store.claimResponse("chat_a")).toBe(false);
    child.kill("SIGKILL");
    await once(child, "close");
    const ended = performance.now();
    await expect.poll(() => store.claimResponse("chat_a"), { interval: 100 }).toBe(true);
    expect(performance.now() - ended).toBeLessThan(5000);
  });

  testDeep(
    verifies(["R-05", "R-32"], "a process that was stopped cannot write what another one took over"),
    async () => {
      const address = await postgres.clearDatabase();
      const writer = join(import.meta.dirname, "hold-lease-in-process.ts");
      const child = spawn(process.execPath, ["--conditions=sheaf-source", writer, address], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      child.kill("SIGSTOP");
      const store = await open(address);
      // It still has its connection: only its signs of life are missing.
      expect(await store.claimResponse("chat_a")).toBe(false);
      await postgres.run(address, "UPDATE sheaf.holders SET alive_until = alive_until - interval '10 s'");
      await expect.poll(() => store.claimResponse("chat_a"), { timeout: 10_000 }).toBe(true);
      child.kill("SIGKILL");
      await once(child, "close");
    },
  );

  test.each(["+", "-"])(verifies(["R-19", "R-32"], "no clock has a say in leases: a jump by %s1 day"), async (sign) => {
    const address = await postgres.clearDatabase();
    const [first, second] = [await open(address), await open(address)];
    await first.createResponse({ ...row, createdAt: Date.now() - 86_400_000 });
    expect(await second.claimResponse("chat_a")).toBe(false);
    // As after the clock of the database was set.
    await postgres.run(address, `UPDATE sheaf.holders SET alive_until = alive_until ${sign} interval '1 day'`);
    expect(await second.claimResponse("chat_a")).toBe(false);
    expect(await first.keepLease("chat_a")).toBe("kept");
    // A process that is gone is gone at any time.
    await first.close();
    expect(await second.claimResponse("chat_a")).toBe(true);
  });

  test(verifies("R-31", "the database restarts: what was acknowledged is there, and a run goes on"), async () => {
    const address = await postgres.clearDatabase();
    const [store, other] = [await open(address), await open(address)];
    await store.createResponse(row);
    await store.appendEvents("chat_a", [turnStart(1)], "grouped");
    // As after some seconds without a database.
    await postgres.run(address, "UPDATE sheaf.holders SET alive_until = alive_until - interval '5 s'");
    await postgres.stop("SIGQUIT");
    const claimed = other.claimResponse("chat_a");
    const appended = store.appendEvents("chat_a", [turnStart(2)], "synced");
    await postgres.start();
    await appended;
    expect(await claimed).toBe(false);
    expect(await store.keepLease("chat_a")).toBe("kept");
    await store.appendEvents("chat_a", [runEnd(3)], "synced");
    expect((await store.readEvents("chat_a")).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  test(
    verifies(["R-35", "R-36"], "a store tells of what others did, and not of its own, also after a restart"),
    async () => {
      const address = await postgres.clearDatabase();
      const [store, other] = [await open(address), await open(address)];
      await store.createResponse(row);
      const told = { writer: 0, reader: 0 };
      const endWatch = other.watchResponse("chat_a", () => (told.reader += 1));
      store.watchResponse("chat_a", () => (told.writer += 1));
      await store.appendEvents("chat_a", [turnStart(1)], "grouped");
      await expect.poll(() => told).toEqual({ writer: 0, reader: 1 });
      await other.requestCancel("chat_a");
      await expect.poll(() => told.writer).toBe(1);
      expect(await store.keepLease("chat_a")).toBe("cancel");
      await postgres.stop("SIGQUIT");
      await postgres.start();
      // What was said meanwhile is lost, so everybody looks.
      await expect.poll(() => told.reader).toBe(2);
      endWatch();
      await store.appendEvents("chat_a", [runEnd(2)], "synced");
      await other.requestCancel("chat_a");
      expect(told.reader).toBe(2);
    },
  );

  test(verifies("R-38", "an order is claimed by one process, of the owner who has the least running"), async () => {
    const address = await postgres.clearDatabase();
    const [store, other] = [await open(address), await open(address)];
    const add = (owner: string, id: string, conversationId: string): Promise<void> =>
      store.forOwner(owner).waiting.add({ responseId: id, conversationId, text: id }, 9);
    await store.forOwner("ada").createResponse(row);
    await add("ada", "chat_busy", "conv_1");
    for (const id of ["chat_2", "chat_3"]) await add("ada", id, `conv_${id}`);
    await add("bob", "chat_4", "conv_4");
    await add("bob", "chat_5", "conv_4");
    const claimed: string[] = [];
    for (const { waiting } of [store, other, store, other]) {
      const order = await waiting.claim(10, claimed);
      if (order) claimed.push(order.responseId);
    }
    expect(claimed).toEqual(["chat_4", "chat_2", "chat_3"]);
    // One that this process forgot, and that no other one may have.
    expect(await other.waiting.claim(10, [])).toMatchObject({ responseId: "chat_2" });
    expect(await store.waiting.claim(1, [])).toMatchObject({ responseId: "chat_4", owner: "bob" });
    await store.forOwner("bob").waiting.giveBack("chat_4");
    expect(await store.waiting.claim(1, [])).toBeUndefined();
    // As after the clock of the database was set back.
    await postgres.run(address, "UPDATE sheaf.orders SET not_before = not_before + interval '1 day'");
    expect(await store.waiting.claim(1, [])).toMatchObject({ responseId: "chat_4" });
  });

  test(verifies(["R-40", "R-53"], "only the process of a response says whether others may go on with it"), async () => {
    const address = await postgres.clearDatabase();
    const [store, other] = [await open(address), await open(address)];
    await store.createResponse({ ...row, cluster: { hasWaited: false, maxRunning: 9, continuation: "{}" } });
    await other.cluster.setContinuable("chat_a", false);
    await postgres.run(address, "DELETE FROM sheaf.holders");
    expect(await other.cluster.findCut("chat_a")).toBe("{}");
    await store.cluster.setContinuable("chat_a", false);
    await postgres.run(address, "DELETE FROM sheaf.holders");
    expect(await other.cluster.findCut("chat_a")).toBeUndefined();
    expect(await other.claimResponse("chat_a")).toBe(true);
  });

  test(
    verifies(["R-40", "R-65"], "one statement finds the lost responses of all, and the leases show what is asked"),
    async () => {
      const address = await postgres.clearDatabase();
      const [store, other] = [await open(address), await open(address)];
      for (const [index, one] of [store, store, other].entries())
        await one.createResponse({ ...row, id: `chat_${index}`, conversationId: `conv_${index}` });
      const list = async (one: ClusterStore): Promise<readonly string[]> =>
        (await one.listOpenResponses()).map(({ id }) => id).toSorted();
      expect([await list(store), await list(other)]).toEqual([[], []]);
      await store.leaveResponse("chat_0");
      expect([await list(store), await list(other)]).toEqual([["chat_0"], []]);
      let told = 0;
      store.watchResponse("chat_1", () => (told += 1));
      await postgres.run(
        address,
        `INSERT INTO sheaf.letters (id, response, body) SELECT 'q', key, '{}' FROM sheaf.responses WHERE id = 'chat_1'`,
      );
      expect(await store.keepLease("chat_1")).toBe("kept");
      expect(told).toBe(1);
      await postgres.run(address, "DELETE FROM sheaf.holders");
      expect([await list(store), await list(other)]).toEqual([
        ["chat_0", "chat_2"],
        ["chat_0", "chat_1"],
      ]);
    },
  );

  test(verifies("R-40", "a try counts that stored something, or whose process died"), async () => {
    const address = await postgres.clearDatabase();
    const [store, other] = [await open(address), await open(address)];
    const continuation = "{}";
    await store.createResponse({ ...row, cluster: { hasWaited: false, maxRunning: 9, continuation } });
    await store.appendEvents("chat_a", [turnStart(1)], "grouped");
    await store.leaveResponse("chat_a");
    const readTries = async (): Promise<unknown> =>
      (await postgres.run(address, "SELECT tries FROM sheaf.orders"))[0]!.tries;
    const tries: unknown[] = [];
    for (const isStored of [false, false, true, false]) {
      expect(await store.cluster.takeOver("chat_a")).toBe(true);
      if (isStored) await store.appendEvents("chat_a", [turnStart(2)], "grouped");
      await store.leaveResponse("chat_a");
      tries.push(await readTries());
    }
    expect(tries).toEqual([1, 1, 1, 2]);
    await postgres.run(address, "DELETE FROM sheaf.holders");
    expect(await other.cluster.takeOver("chat_a")).toBe(true);
    expect(await readTries()).toBe(3);
  });

  test(verifies(["R-05", "R-33"], "processes that start at once make one schema"), async () => {
    for (let round = 0; round < 3; round += 1) {
      const address = await postgres.clearDatabase();
      const stores = await Promise.all(Array.from({ length: 20 }, () => createPostgresStore(address)));
      await stores[0]!.createResponse(row);
      expect(await stores[19]!.getResponse("chat_a")).toMatchObject({ position: 1 });
      await Promise.all(stores.map((store) => store.close()));
      const { newest } = await preparePostgres(address, { migrates: false });
      expect(await preparePostgres(address, { migrates: false })).toEqual({ version: newest, newest });
    }
  });

  /** A database as an older program made it. */
  const createOlder = async (version: number): Promise<string> => {
    const address = await postgres.clearDatabase();
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    const query: Query = async <Row extends object>(text: string, values?: readonly unknown[]) =>
      (await client.query<Row>(text, values && [...values])).rows;
    await migratePostgres(query, version);
    await client.end();
    return address;
  };

  test(verifies("R-68", "a migration gives way to a statement that waits for it, and is done after it"), async () => {
    const { newest } = await preparePostgres(await postgres.clearDatabase(), { migrates: false });
    const address = await createOlder(newest - 2);
    const writer = new pg.Client({ connectionString: address });
    await writer.connect();
    await writer.query("BEGIN; LOCK TABLE sheaf.responses IN ROW EXCLUSIVE MODE");
    const migrating = preparePostgres(address, { migrates: true }).catch((error: unknown) => error);
    const isHeld = "SELECT 1 FROM pg_locks WHERE relation = 'sheaf.orders'::regclass AND mode = 'AccessExclusiveLock'";
    while ((await writer.query(isHeld)).rows.length === 0);
    await writer.query("SELECT 1 FROM sheaf.orders");
    await writer.query("COMMIT");
    await writer.end();
    expect(await migrating).toEqual({ version: newest - 2, newest });
    expect(await preparePostgres(address, { migrates: false })).toEqual({ version: newest, newest });
  });

  test(verifies(["R-33", "R-68"], "the schema of every older program is migrated, with what is stored"), async () => {
    const { newest } = await preparePostgres(await postgres.clearDatabase(), { migrates: false });
    for (let version = 1; version < newest; version += 1) {
      const address = await createOlder(version);
      await postgres.run(
        address,
        `INSERT INTO sheaf.conversations (id, owner, workspace, title, title_words, created_at, updated_at)
           VALUES ('conv_1', 'local', '/w', 't', 't', 1, 1);
         INSERT INTO sheaf.responses (id, conversation, position, created_at) VALUES ('chat_0', 1, 1, 1);
         INSERT INTO sheaf.event_groups VALUES (1, 1, 1, '[{"type":"turn_start","turn":1,"seq":1,"time":1}]')`,
      );
      expect(await preparePostgres(address, { migrates: false })).toEqual({ version, newest });
      const store = await open(address);
      expect(await store.readEvents("chat_0")).toEqual([turnStart(1)]);
      expect(await store.claimResponse("chat_0")).toBe(true);
      await store.appendEvents("chat_0", [runEnd(2)], "synced");
      await store.createResponse(row);
      expect(await store.getResponse("chat_a")).toMatchObject({ position: 2 });
      await store.close();
    }
  });

  test(verifies("R-68", "a step of the migration only adds, so that older programs go on"), () => {
    const source = readFileSync(join(import.meta.dirname, "../src/migrations/migrate-postgres.ts"), "utf8");
    const statements = [...source.matchAll(/\b(CREATE|ALTER|DROP|UPDATE|DELETE|TRUNCATE) [^;`]*/g)]
      .map(([text]) => text)
      .filter((text) => !/^UPDATE sheaf\.migrations|^CREATE SCHEMA/.test(text));
    const adds = /^CREATE TABLE |^CREATE INDEX |^ALTER TABLE \S+ ADD COLUMN \w+ (?!.*NOT NULL(?!.* DEFAULT ))/s;
    expect(statements.filter((text) => !adds.test(text))).toEqual([]);
    expect(adds.test("ALTER TABLE sheaf.a ADD COLUMN b text NOT NULL")).toBe(false);
    expect(adds.test("ALTER TABLE sheaf.a RENAME COLUMN b TO c")).toBe(false);
  });

  test(verifies(["R-33", "R-68"], "a newer schema is used, or refused without a change"), async () => {
    const address = await postgres.clearDatabase();
    await (await createPostgresStore(address)).close();
    const [own] = await postgres.run(address, "SELECT written_by, readable_from FROM sheaf.migrations");
    expect(own).toEqual({ written_by: sheafVersion, readable_from: 0 });
    await postgres.run(address, "UPDATE sheaf.migrations SET version = 999, written_by = '9.1.0'");
    await (await open(address)).createResponse(row);
    await postgres.run(address, "UPDATE sheaf.migrations SET readable_from = 998");
    await expect(createPostgresStore(address)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/schema 999.*schemas up to \d+. Update Sheaf .*sheaf@9\.1\.0/) as string,
    });
    expect(await postgres.run(address, "SELECT version, written_by FROM sheaf.migrations")).toEqual([
      { version: 999, written_by: "9.1.0" },
    ]);
  });

  test(verifies("R-33", "an interrupted migration leaves nothing, and a schema that was given is used"), async () => {
    const address = await postgres.clearDatabase();
    await postgres.run(address, "CREATE ROLE limited LOGIN; CREATE SCHEMA sheaf; CREATE TABLE sheaf.requests ()");
    await expect(createPostgresStore(address)).rejects.toThrow(/already exists/);
    expect(await preparePostgres(address, { migrates: false })).toMatchObject({ version: 0 });
    await postgres.run(address, "DROP TABLE sheaf.requests; GRANT ALL ON SCHEMA sheaf TO limited");
    const limited = address.replace("postgres@", "limited@");
    const store = await open(limited);
    await store.createResponse(row);
    expect(await store.getResponse("chat_a")).toMatchObject({ position: 1 });
  });

  test(
    verifies("R-34", "an error for clients has no name and no word of the database; its cause has both"),
    async () => {
      const address = await postgres.clearDatabase();
      const store = await open(address);
      await postgres.run(
        address,
        `CREATE FUNCTION sheaf.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''bob says no''; END';
       CREATE TRIGGER refuse BEFORE INSERT ON sheaf.conversations FOR EACH ROW EXECUTE FUNCTION sheaf.refuse()`,
      );
      await expect(store.createResponse(row)).rejects.toMatchObject({
        code: "STORAGE_LOCKED",
        message: expect.stringMatching(/^the store failed: a trigger in the database refuses to write: /) as string,
        cause: { message: expect.stringMatching(/database "\w+" at .*bob says no/) as string },
      });
    },
  );

  test.each([
    ["no such database", "missing", "postgres", /database "missing" at .*does not exist.*createdb/, "CONFIG_INVALID"],
    ["no right to create the schema", "template1", "weak", /permission denied.*make it the owner/, "CONFIG_INVALID"],
    ["an unknown user", "template1", "nobody_here", /check name and password/, "CONFIG_INVALID"],
    ["a wrong password", "template1", "guarded:SECRET", /check name and password/, "CONFIG_INVALID"],
  ])(verifies("R-34", "%s"), async (_, database, user, message, code) => {
    const roles = await postgres.run(postgres.toAddress("postgres"), "SELECT 1 FROM pg_roles WHERE rolname = 'weak'");
    if (roles.length === 0) {
      await postgres.run(
        postgres.toAddress("postgres"),
        "CREATE ROLE weak LOGIN; CREATE ROLE guarded LOGIN PASSWORD 'other'",
      );
    }
    const failure = await createPostgresStore(postgres.toAddress(database, user)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(JSON.stringify(failure) + String((failure as Error).stack)).not.toContain("SECRET");
  });
});

describe("without a database", () => {
  test.each([
    [
      "postgres://u:SECRET@127.0.0.1:1/db",
      "STORAGE_LOCKED",
      /database "db" at 127.0.0.1:1\).*ECONNREFUSED.*check host/,
    ],
    ["postgres://u:SECRET@nowhere.invalid/db", "STORAGE_LOCKED", /database "db" at nowhere.invalid:5432/],
    ["postgres://nowhere.invalid/db?user=a@SECRET", "STORAGE_LOCKED", /database "db" at nowhere.invalid/],
    ["postgres://u:SECRET@/db?host=/nowhere", "STORAGE_LOCKED", /database "db" at \/nowhere/],
    ["postgres://u:SECRET@[::1/db", "CONFIG_INVALID", /not valid: write postgres:/],
    ["postgres://u:12/SECRET@h/db", "CONFIG_INVALID", /write %2F for \//],
    ["postgres://u:12#SECRET@h/db", "CONFIG_INVALID", /%23 for #/],
    ["postgres://u:12?SECRET@h/db", "CONFIG_INVALID", /%3F for \?/],
    ["postgres://u:SECRET@h/db?sslrootcert=/no.pem", "CONFIG_INVALID", /there is no file \/no.pem/],
  ])(verifies("R-34", "%s"), async (address, code, message) => {
    const failure = await createPostgresStore(address).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(JSON.stringify(failure) + String((failure as Error).stack)).not.toContain("SECRET");
  });

  test.each([
    [{ version: 140_011, encoding: "UTF8" }, /PostgreSQL 14, and Sheaf needs 15/],
    [{ version: 150_000, encoding: "LATIN1" }, /encoding is LATIN1/],
  ])(verifies("R-34", "a server that cannot be used: %j"), async (server, message) => {
    const query = (async () => [server]) as unknown as Query;
    await expect(readSchemaState(query)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(migratePostgres(query)).rejects.toThrow(message);
  });
});
