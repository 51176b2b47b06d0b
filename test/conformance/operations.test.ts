/** Servers of one PostgreSQL database in operation: readiness, and restarts one after the other. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reduce } from "@sheaf/protocol";
import { expect, test, type TestContext } from "vitest";
import { begin, createCluster, readWhole, type Cluster } from "../support/cluster.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { readEvents, startServer, type TestServer } from "../support/server.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const resume = ["--on-node-loss", "resume", "--sandbox", "disabled", "--force", "--grace", "0"];

const readStatus = async ({ address }: Pick<TestServer, "address">): Promise<[number, unknown]> => {
  const answer = await fetch(`${address}/readyz`);
  return [answer.status, ((await answer.json()) as { status: unknown }).status];
};

test(verifies(["R-60", "R-61"], "a server with its own file is ready, and closes while a response ends"), async () => {
  const slow = { turns: [{ events: [{ text: "a" }, { wait_ms: 2000 }, { text: "b" }] }], after: "repeat_last" };
  const server = await startServer({ script: slow, args: ["--grace", "10"] });
  expect(await readStatus(server)).toEqual([200, "ready"]);
  const metrics = await (await server.fetch("/metrics")).text();
  expect(metrics).toContain("\nsheaf_ready 1\n");
  expect(metrics).not.toContain("sheaf_cluster");
  await begin(server);
  const stopped = server.stop();
  await expect.poll(() => readStatus(server)).toEqual([503, "closing"]);
  expect(await stopped).toBe(0);
});

describeWithPostgres("servers of a database", (postgres) => {
  const start = ({ onTestFinished: onEnd }: TestContext, script: unknown, args: readonly string[]): Promise<Cluster> =>
    createCluster(postgres, folders, { script, args, onEnd });

  /** Twelve calls that take a second, and a text. */
  const calls = {
    turns: [
      ...Array.from({ length: 12 }, (_, index) => ({
        events: [
          { text: `${index}. ` },
          { call: { tool: "run_terminal_cmd", arguments: { command: `echo ${index} >> effects; sleep 1` } } },
        ],
      })),
      { events: [{ text: "Done." }] },
    ],
  };

  test(verifies("R-60", "are ready while the database answers, and count what all do"), async (context) => {
    const slow = { turns: [{ events: [{ text: "a" }, { wait_ms: 8000 }] }], after: "loop" };
    const cluster = await start(context, slow, []);
    const [one, other] = [await cluster.start("a"), await cluster.start("b")];
    const { conversationId } = await begin(one);
    await begin(other, { conversationId, whenBusy: "queue" });
    const metrics = await (await other.fetch("/metrics")).text();
    for (const line of ["sheaf_cluster_nodes 2", "sheaf_cluster_responses_running 1", "sheaf_queue_waiting 1"])
      expect(metrics).toContain(`\n${line}\n`);
    expect(await readStatus(one)).toEqual([200, "ready"]);
    await postgres.stop();
    try {
      await expect.poll(() => readStatus(one), { interval: 600 }).toEqual([503, "store_unavailable"]);
      expect((await fetch(`${one.address}/healthz`)).status).toBe(200);
    } finally {
      await postgres.start();
    }
    await expect.poll(() => readStatus(one), { interval: 600 }).toEqual([200, "ready"]);
    void one.stop();
    await expect.poll(() => readStatus(one)).toEqual([503, "closing"]);
  });

  testDeep(verifies("R-61", "hand their responses over, again and again; no call runs twice"), async (context) => {
    const cluster = await start(context, calls, resume);
    let [one, other] = [await cluster.start("0"), await cluster.start("1")];
    const { path, seen, read } = await begin(one);
    // More often than a response may lose its server.
    for (let round = 2; round <= 5; round += 1) {
      expect(await one.stop()).toBe(0);
      expect(one.log()).toContain("handing_over");
      const taken = '"event":"response_recovered"';
      one = other;
      await context.expect.poll(one.log, { timeout: 6000 }).toContain(taken);
      other = await cluster.start(`${round}`);
    }
    await read;
    const events = await readWhole(one, path, seen);
    expect(reduce(events).status).toBe("completed");
    const effects = readFileSync(join(cluster.cwd, "effects"), "utf8").trimEnd().split("\n");
    expect(effects).toEqual([...new Set(effects)]);
  });

  test.concurrent(
    verifies(["R-61", "R-18"], "without another one, or without the flag, the response ends"),
    async (context) => {
      for (const [args, names] of [
        [resume, ["a"]],
        [
          ["--grace", "0"],
          ["a", "b"],
        ],
      ] as const) {
        const slow = { turns: [{ events: [{ text: "a" }, { wait_ms: 60_000 }] }] };
        const cluster = await start(context, slow, args);
        const [one] = await Promise.all(names.map((name) => cluster.start(name)));
        const { seen, read } = await begin(one!);
        await context.expect.poll(() => seen.length).toBeGreaterThan(1);
        expect(await one!.stop()).toBe(0);
        await read;
        expect(seen.at(-1)?.event).toBe("done");
        expect(reduce(seen)).toMatchObject({ documents: [{}, { metadata: { errorCode: "CANCELLED" } }] });
      }
    },
  );

  test.concurrent(verifies("R-61", "a message that waits is begun by another one"), async (context) => {
    const slow = { turns: [{ events: [{ text: "a" }, { wait_ms: 2000 }] }], after: "loop" };
    const cluster = await start(context, slow, ["--grace", "5"]);
    const [one, other] = [await cluster.start("a"), await cluster.start("b")];
    const { conversationId } = await begin(one);
    const queued = await one.chat({ message: "Go", conversationId, whenBusy: "queue", stream: true });
    const path = queued.headers.get("location")!;
    const stopped = one.stop();
    await queued.text().catch(() => undefined);
    expect(await stopped).toBe(0);
    const events = await readEvents(await other.fetch(`${path}/events`));
    expect(reduce(events).status).toBe("completed");
  });

  test.concurrent(
    verifies("R-64", "a backup of a running cluster is restored elsewhere, and a server goes on there"),
    async (context) => {
      const slow = { turns: [{ events: [{ text: "a" }, { wait_ms: 30_000 }] }], after: "loop" };
      const cluster = await start(context, slow, []);
      const one = await cluster.start("a");
      const { path, seen } = await begin(one);
      await context.expect.poll(() => seen.length).toBeGreaterThan(1);
      const file = join(folders.newFolder(), "sheaf.backup");
      const runScript = (name: string, store: string) =>
        spawnSync(join(import.meta.dirname, "../../deploy", name), [file], {
          encoding: "utf8",
          env: { PATH: process.env.PATH, SHEAF_STORE: store },
        });
      expect(runScript("backup.sh", cluster.store)).toMatchObject({ status: 0, stderr: "" });
      // Not over another store.
      expect(runScript("restore.sh", cluster.store).status).not.toBe(0);
      await postgres.run(cluster.store, "DROP DATABASE IF EXISTS restored");
      await postgres.run(cluster.store, "CREATE DATABASE restored");
      const restored = postgres.toAddress("restored");
      expect(runScript("restore.sh", restored)).toMatchObject({ status: 0, stderr: "" });
      const user = { cwd: cluster.cwd, home: `${cluster.cwd}-home` };
      const checked = await runSheaf(["store", "check", "--store", restored], user);
      expect(checked.stdout).toMatch(/1 conversations, 1 responses \(1 open\), \d+ events\nno problems/);
      const other = await cluster.start("b", { SHEAF_STORE: restored });
      const events = await readWhole(other, path, seen);
      expect(reduce(events).documents.at(-1)).toMatchObject({ metadata: { errorCode: "INTERRUPTED" } });
      await other.stop();
      await postgres.run(cluster.store, "DROP DATABASE restored");
    },
  );

  testDeep(
    verifies("R-68", "go on and start again while a newer one migrates, unless it shuts them out"),
    async (context) => {
      const slow = { turns: [{ events: [{ text: "a " }, { wait_ms: 3000 }, { text: "b" }] }], after: "loop" };
      const cluster = await start(context, slow, resume);
      const [one, other] = [await cluster.startProcess("a"), await cluster.start("b")];
      const { path, seen, read } = await begin(one);
      // As the next version would.
      await postgres.run(
        cluster.store,
        `BEGIN; ALTER TABLE sheaf.conversations ADD COLUMN later text;
       ALTER TABLE sheaf.responses ADD COLUMN later integer NOT NULL DEFAULT 7;
       UPDATE sheaf.migrations SET version = version + 1; COMMIT`,
      );
      await (await cluster.start("late")).stop();
      await postgres.run(cluster.store, "UPDATE sheaf.migrations SET readable_from = version");
      await expect(cluster.start("later")).rejects.toThrow(
        /CONFIG_INVALID: a newer Sheaf wrote the store: it has schema (\d+), .* up to \d+. Update Sheaf/,
      );
      const rest = begin(other);
      await one.stop("SIGKILL");
      await read;
      expect(reduce(await readWhole(other, path, seen)).status).toBe("completed");
      const second = await rest;
      await second.read;
      expect(second.seen.at(-1)?.event).toBe("done");
      expect(await readStatus(other)).toEqual([200, "ready"]);
    },
  );
});
