/** `sheaf store` on the file of a user and on a PostgreSQL database. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSqliteStore } from "../../packages/store/src/sqlite.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { startServer, startServerProcess } from "../support/server.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** A folder whose user had two answers. */
async function createHome(): Promise<{ cwd: string; home: string }> {
  const cwd = folders.newFolder();
  const user = { cwd, home: `${cwd}-home` };
  for (const prompt of ["one", "two"]) {
    expect((await runSheaf(["-p", "--model", "offline", prompt], user)).code).toBe(0);
  }
  return user;
}

test(verifies("C76", "check, vacuum and migrate of a file"), async () => {
  const user = await createHome();
  const check = await runSheaf(["store", "check"], user);
  expect(check).toMatchObject({ code: 0, stderr: "" });
  expect(check.stdout).toMatch(
    /sheaf\.db: schema \d+\n2 conversations, 2 responses \(0 open\), \d+ events\nno problems\n$/,
  );
  expect(await runSheaf(["store", "vacuum"], user)).toMatchObject({ code: 0, stdout: "done\n" });
  expect((await runSheaf(["store", "migrate"], user)).stdout).toMatch(/^schema \d+ is the newest\n$/);
  const database = new DatabaseSync(join(user.home, "sheaf.db"));
  database.exec("DELETE FROM event_groups WHERE response = 2");
  database.close();
  const damaged = await runSheaf(["store", "check", "--json"], user);
  expect(damaged.code).toBe(9);
  expect(JSON.parse(damaged.stdout)).toMatchObject({ problemCount: 1, problems: [expect.stringContaining("no end")] });
});

test(verifies("C76", "what it does not know, and a store that is not there, are usage errors"), async () => {
  const cwd = folders.newFolder();
  const user = { cwd, home: `${cwd}-home` };
  for (const [words, problem] of [
    [["store"], /use one of check, migrate/],
    [["store", "check", "twice"], /check twice/],
    [["store", "check"], /there is no store at /],
    [["store", "copy", "--store", "postgres://x@127.0.0.1:1/x"], /there is no store at /],
    [["store", "check", "--store", "sqlite://secret"], /--store does not name a PostgreSQL database/],
  ] as const) {
    const { code, stderr } = await runSheaf(words, user);
    expect(stderr).toMatch(problem);
    expect(stderr).not.toContain("secret");
    expect(code).toBe(2);
  }
});

describeWithPostgres("a database", (postgres) => {
  test(verifies(["R-62", "C76"], "gets the file of a user by copy, once, and its server goes on"), async () => {
    const store = await postgres.clearDatabase();
    const user = await createHome();
    const run = (...words: string[]) => runSheaf(["store", ...words, "--store", store], user);
    expect((await runSheaf(["store", "copy"], user)).stderr).toMatch(/give --store postgres/);
    expect((await run("check")).stderr).toMatch(/run sheaf store migrate/);
    expect((await run("migrate")).stdout).toMatch(/^schema 0 is now \d+\n$/);
    const copied = await run("copy");
    expect(copied).toMatchObject({ code: 0, stderr: "" });
    expect(copied.stdout).toMatch(/^copied and verified: 2 conversations, 2 responses, \d+ groups of events\n$/);
    const again = await run("copy");
    expect(again.code).toBe(2);
    expect(again.stderr).toMatch(/is not empty/);
    expect((await run("check")).stdout).toContain("2 conversations, 2 responses (0 open)");
    expect((await run("vacuum")).code).toBe(0);
    const server = await startServer({ ...user, environment: { SHEAF_STORE: store } });
    const conversations = await server.listConversations();
    expect(conversations).toMatchObject([{ title: "two" }, { title: "one" }]);
  });

  test(verifies("R-62", "a file in which a response runs or a message waits is not copied"), async () => {
    const store = await postgres.clearDatabase();
    const cwd = folders.newFolder();
    const script = { turns: [{ events: [{ text: "a" }, { wait_ms: 60_000 }] }] };
    const server = await startServerProcess({ cwd, script });
    const answer = await server.chat({ message: "Go", stream: true });
    // Events are stored before they are sent.
    const reader = answer.body!.getReader();
    await reader.read();
    const conversationId = answer.headers.get("x-conversation-id");
    const queued = await server.chat({ message: "Next", conversationId, whenBusy: "queue", stream: true });
    const refused = await runSheaf(["store", "copy", "--store", store], { cwd, home: `${cwd}-home` });
    expect(refused.stderr).toMatch(/CONVERSATION_BUSY: .*is being written: stop the server/);
    await server.stop("SIGKILL");
    await reader.cancel().catch(() => undefined);
    await queued.text().catch(() => undefined);
    const waits = await runSheaf(["store", "copy", "--store", store], { cwd, home: `${cwd}-home` });
    expect(waits.stderr).toMatch(/CONVERSATION_BUSY: .*waits in .*: run "sheaf serve" until/);
    const file = createSqliteStore(join(`${cwd}-home`, "sheaf.db"));
    expect(await file.waiting.remove(queued.headers.get("x-response-id")!)).toBe(true);
    await file.close();
    const copied = await runSheaf(["store", "copy", "--store", store], { cwd, home: `${cwd}-home` });
    expect(copied.stdout).toMatch(/1 conversations, 1 responses/);
    expect(await postgres.run(store, "SELECT ended FROM sheaf.responses")).toEqual([{ ended: true }]);
  });
});
