/**
 * Three servers on one PostgreSQL database with a synchronous standby, each with its own connection. Servers are
 * killed and stopped, connections cut and frozen, the database crashes, its clock jumps, and the standby takes over.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createApi, type Send } from "../support/api.ts";
import { checkHistory } from "../support/check-history.ts";
import { createCluster } from "../support/cluster.ts";
import { describeWhere } from "../support/describe-where.ts";
import {
  createPostgresCluster,
  findMissingPostgres,
  findPostgresPrograms,
  type TestPostgres,
} from "../support/postgres-cluster.ts";
import { askingKinds, countOutcomes, createHistoryRecorder, effectsScript } from "../support/record-history.ts";
import { findFreePort } from "../support/reverse-proxy.ts";
import type { ServerProcess } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { chooseRuns, createRandom, reportFigure, soakMinutes, soakSeed, soakTimeout } from "../support/soak.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const LANES = 4;
const NODES = 3;

/** Longer than a lease. Milliseconds. */
const STOP_MS = 12_000;

/** Shifts the clocks of servers and databases, each by the words in its file (Debian's package libfaketime). */
const clockLibrary = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

const faults = [
  ...([
    "kill",
    "restart",
    "stop",
    "cut",
    "freeze",
    "long cut",
    "lost commit",
    "cut readers",
    "freeze readers",
  ] as const),
  ...(["crash", "clock", "server clock", "full", "full at ends", "connection limit"] as const),
];
type Fault = (typeof faults)[number] | "fail-over";

/** In CI; a soak takes them at random, with one fail-over in the middle. */
const shortFaults: readonly Fault[] = ["cut", "crash", "fail-over", "kill"];
const isLong = soakMinutes > 0 || chooseRuns(shortFaults.length, 100) > shortFaults.length;

/** Every second server is one of another version, if its program is given: an upgrade and its rollback, again and again. */
const programOf = (started: number): string | undefined =>
  started % 2 === 0 ? process.env.SHEAF_SOAK_PROGRAM : undefined;

/** As a full disk does, for each group of events or for those with an end. */
const refusing = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'the disk is full' USING ERRCODE = '53100'; END $$`;
const refuse = (when: string): string =>
  `CREATE TRIGGER refuse BEFORE INSERT ON sheaf.event_groups FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refuse()`;

function newPostgresFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-postgres-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Node {
  readonly server: ServerProcess;
  /** To its database. */
  readonly proxy: TcpProxy;
  readonly clock: string;
}

/** The environment of a process whose clock a test sets by the file. */
function createClock(file: string): Readonly<Record<string, string>> {
  writeFileSync(file, "+0");
  if (!existsSync(clockLibrary)) return {};
  const settings = { FAKETIME_DONT_FAKE_MONOTONIC: "1", FAKETIME_CACHE_DURATION: "1" };
  return { LD_PRELOAD: clockLibrary, FAKETIME_TIMESTAMP_FILE: file, ...settings };
}

const programs = findPostgresPrograms();

describeWhere("a cluster in which everything fails, one thing at a time", findMissingPostgres(), () => {
  test(
    verifies("R-67", "every response ends once, no call runs twice, and readers see one stream"),
    async () => {
      const random = createRandom(soakSeed);
      const rounds = chooseRuns(shortFaults.length, 100);
      const startedAt = performance.now();
      const toMinutes = (): number => (performance.now() - startedAt) / 60_000;
      const between = (least: number, most: number): number => least + random() * (most - least);
      const [port, otherPort] = [await findFreePort(), await findFreePort()];
      const clock = join(newPostgresFolder(), "clock");
      const primary = createPostgresCluster(programs!, newPostgresFolder(), port, createClock(clock));
      onTestFinished(() => primary.stop("SIGQUIT"));
      await primary.start();
      // Limits of connections mean no superuser.
      await primary.run(primary.toAddress("postgres"), `CREATE ROLE app LOGIN; ${refusing}`);
      await primary.run(primary.toAddress("postgres"), "GRANT CREATE ON DATABASE postgres TO app");
      const standby = await primary.createStandby(newPostgresFolder(), otherPort);
      onTestFinished(() => standby.stop("SIGQUIT"));
      await standby.start();
      let [database, databasePort] = [primary, port];
      const run = (sql: string) => database.run(database.toAddress("postgres"), sql);

      const lanes = Array.from({ length: LANES }, (_, lane) => folders.newFolder({ "README.md": `${lane}` }));
      const nodes: Node[] = [];
      const doors: TcpProxy[] = [];
      while (doors.length < NODES) {
        const place = doors.length;
        doors.push(await startTcpProxy(() => nodes[place]!.server.port));
      }
      const workspaces = lanes.flatMap((root, lane) => ["--workspace", `lane${lane}=${root}`]);
      const args = [
        "--on-node-loss",
        "resume",
        "--sandbox",
        "disabled",
        "--force",
        "--grace",
        "1",
        ...workspaces,
        "--allow-host",
        "127.0.0.1",
      ];
      const cluster = await createCluster(primary, folders, { script: effectsScript, args });
      let started = 0;
      const logs: (() => string)[] = [];
      /** Again while its database refuses it, as whoever watches over servers would. */
      const startNode = async (tries = 30): Promise<Node> => {
        const proxy = await startTcpProxy(() => databasePort);
        const file = join(folders.path, `clock${(started += 1)}`);
        const environment = { SHEAF_STORE: `postgres://app@127.0.0.1:${proxy.port}/postgres`, ...createClock(file) };
        const server = await cluster
          .startProcess(`${started}`, environment, programOf(started))
          .catch((error: unknown) => error as Error);
        if (server instanceof Error) {
          if (tries === 0) throw server;
          await sleep(1000);
          return startNode(tries - 1);
        }
        logs.push(server.log);
        return { proxy, server, clock: file };
      };
      while (nodes.length < NODES) nodes.push(await startNode());
      const readers = doors.map(({ port: door }) => {
        const send: Send = (path, init) => fetch(`http://127.0.0.1:${door}${path}`, init);
        return createApi(send, nodes[0]!.server.token, { model: "scripted:script.json" });
      });
      const recorder = createHistoryRecorder(lanes, () => readers);

      const fail: Readonly<Record<Fault, (node: Node, index: number) => Promise<void>>> = {
        async kill({ server }, index) {
          await server.stop("SIGKILL");
          nodes[index] = await startNode();
        },
        async restart({ server }, index) {
          await server.stop("SIGTERM");
          nodes[index] = await startNode();
        },
        async stop({ server }) {
          server.child.kill("SIGSTOP");
          await sleep(STOP_MS);
          server.child.kill("SIGCONT");
        },
        cut: ({ proxy }) => breakFor(proxy, "cut", between(1000, 5000)),
        freeze: ({ proxy }) => breakFor(proxy, "freeze", between(1000, 5000)),
        "long cut": ({ proxy }) => breakFor(proxy, "cut", STOP_MS + between(0, 4000)),
        "cut readers": (_, index) => breakFor(doors[index]!, "cut", between(0, 3000)),
        "freeze readers": (_, index) => breakFor(doors[index]!, "freeze", between(1000, 25_000)),
        async "lost commit"({ proxy }) {
          proxy.loseAnswers("COMMIT\0", Math.ceil(random() * 4));
          await sleep(2000);
          proxy.loseAnswers("", 0);
        },
        async crash() {
          await database.stop("SIGQUIT");
          await sleep(between(0, 2000));
          await database.start();
        },
        async clock() {
          const sign = random() < 0.5 ? "+" : "-";
          if (!existsSync(clockLibrary)) return jumpClock(database, sign);
          writeFileSync(clock, `${sign}1d`);
          await sleep(between(2000, 8000));
          writeFileSync(clock, "+0");
        },
        async "server clock"(node) {
          writeFileSync(node.clock, random() < 0.5 ? "+1d" : "-1d");
          await sleep(between(2000, 8000));
        },
        full: () => refuseFor("true", between(1000, 15_000)),
        "full at ends": () => refuseFor("NEW.events LIKE '%run_end%'", between(1000, 15_000)),
        async "connection limit"() {
          await run("ALTER ROLE app CONNECTION LIMIT 0");
          await run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
          await sleep(between(1000, 15_000));
          await run("ALTER ROLE app CONNECTION LIMIT -1");
        },
        async "fail-over"() {
          await primary.stop("SIGQUIT");
          [database, databasePort] = [standby, otherPort];
          await standby.run(standby.toAddress("postgres"), "SELECT pg_promote()");
        },
      };

      const refuseFor = async (when: string, milliseconds: number): Promise<void> => {
        await run(refuse(when));
        await sleep(milliseconds);
        await run("DROP TRIGGER refuse ON sheaf.event_groups");
      };

      const counts = new Map<Fault, number>();
      let isFailedOver = false;
      const isOver = (round: number): boolean =>
        soakMinutes > 0 ? toMinutes() >= soakMinutes && isFailedOver : round >= rounds;
      for (let round = 0; !isOver(round); round += 1) {
        const isHalf = soakMinutes > 0 ? toMinutes() > soakMinutes / 2 : round >= rounds / 2;
        const chance: Fault = isHalf && !isFailedOver ? "fail-over" : faults[Math.floor(random() * faults.length)]!;
        const fault: Fault = isLong ? chance : shortFaults[round]!;
        isFailedOver ||= fault === "fail-over";
        counts.set(fault, (counts.get(fault) ?? 0) + 1);
        const kinds = lanes.flatMap((_, lane) => (isLong && round > 0 ? [lane, lane] : [lane]));
        const asked = kinds.map((lane, place) => {
          const kind = isLong ? askingKinds[Math.floor(random() * askingKinds.length)] : undefined;
          return recorder.ask(lane, `${round}.${place}`, kind);
        });
        await sleep(random() * 1500);
        const index = Math.floor(random() * NODES);
        const [before, beganAt] = [recorder.problems.length, toMinutes()];
        await Promise.all([fail[fault](nodes[index]!, index), ...asked]);
        const seen = recorder.problems.slice(before).join("; ");
        reportFigure("R-67", `${round} at ${beganAt.toFixed(2)} min: ${fault} at ${index}, ${seen}`);
      }
      await Promise.all(lanes.map((_, lane) => recorder.ask(lane, `last.${lane}`)));
      await Promise.all(lanes.map((_, lane) => recorder.ask(lane, `cancelled.${lane}`, "cancel")));

      const history = await recorder.finish(database, database.toAddress("postgres"));
      const open =
        await run(`SELECT id || ', a message, ' || COALESCE(failure, response::text, 'waits') AS id FROM sheaf.orders
        UNION ALL SELECT id FROM sheaf.responses WHERE NOT ended`);
      await recorder.deleteAll();
      const outcomes = countOutcomes(history.stored);
      const failed = outcomes.failed.filter((error) => !error.startsWith("CANCELLED"));
      const list = [...counts].map(([fault, count]) => `${count} ${fault}`).join(", ");
      reportFigure(
        "R-67",
        `seed ${soakSeed}, ${[...counts.values()].reduce((sum, count) => sum + count, 0)} faults (${list}), ${history.stored.length} responses, ${history.stored.flat().length} events, ${outcomes.takeovers} taken over, ${failed.length} ended with an error, ${history.effects.length} effects of calls, longest silence of a reader ${Math.round(recorder.longestSilence)} ms`,
      );
      // The servers' own lines show why.
      for (const line of failed.length > 0 ? logs.flatMap((log) => log().split("\n")) : []) {
        if (line !== "" && !line.includes('"level":"info"')) reportFigure("R-67", line.slice(0, 500));
      }
      const unended = open.map(({ id }) => `${String(id)} has no end`);
      expect([...recorder.problems, ...checkHistory(history), ...failed, ...unended]).toEqual([]);
    },
    soakTimeout,
  );
});

async function breakFor(proxy: TcpProxy, how: "cut" | "freeze", milliseconds: number): Promise<void> {
  proxy[how]();
  await sleep(milliseconds);
  proxy.mend();
}

/** What a jump of the database's clock by a day makes of the times in it. */
async function jumpClock(database: TestPostgres, sign: "+" | "-"): Promise<void> {
  const sql = `UPDATE sheaf.holders SET alive_until = alive_until ${sign} interval '1 day';
    UPDATE sheaf.orders SET not_before = not_before ${sign} interval '1 day'`;
  await database.run(database.toAddress("postgres"), sql);
}
