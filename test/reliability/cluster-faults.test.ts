/**
 * Three servers on one PostgreSQL database with a synchronous standby, each with its own connection. Servers are
 * killed and stopped, connections cut and frozen, the database crashes, its clock jumps, and the standby takes over.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { checkHistory } from "../support/check-history.ts";
import { createCluster } from "../support/cluster.ts";
import { describeWhere } from "../support/describe-where.ts";
import {
  createPostgresCluster,
  findMissingPostgres,
  findPostgresPrograms,
  type TestPostgres,
} from "../support/postgres-cluster.ts";
import { countOutcomes, createHistoryRecorder, effectsScript } from "../support/record-history.ts";
import { findFreePort } from "../support/reverse-proxy.ts";
import type { ServerProcess } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { chooseRuns, createRandom, reportFigure, soakTimeout } from "../support/soak.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const LANES = 4;
const NODES = 3;

/** Longer than a lease. Milliseconds. */
const STOP_MS = 12_000;

const faults = ["kill", "stop", "cut", "freeze", "long cut", "crash", "clock"] as const;
type Fault = (typeof faults)[number] | "fail-over";

/** In CI; a soak takes them at random, with one fail-over in the middle. */
const shortFaults: readonly Fault[] = ["cut", "crash", "fail-over", "kill"];

function newPostgresFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-postgres-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Node {
  readonly server: ServerProcess;
  readonly proxy: TcpProxy;
}

const programs = findPostgresPrograms();

describeWhere("a cluster in which everything fails, one thing at a time", findMissingPostgres(), () => {
  test(
    verifies("R-67", "every response ends once, no call runs twice, and readers see one stream"),
    async () => {
      const random = createRandom(11);
      const rounds = chooseRuns(shortFaults.length, 100);
      const [port, otherPort] = [await findFreePort(), await findFreePort()];
      const primary = createPostgresCluster(programs!, newPostgresFolder(), port);
      onTestFinished(() => primary.stop("SIGQUIT"));
      await primary.start();
      const standby = await primary.createStandby(newPostgresFolder(), otherPort);
      onTestFinished(() => standby.stop("SIGQUIT"));
      await standby.start();
      let [database, databasePort] = [primary, port];

      const lanes = Array.from({ length: LANES }, (_, lane) => folders.newFolder({ "README.md": `${lane}` }));
      const workspaces = lanes.flatMap((root, lane) => ["--workspace", `lane${lane}=${root}`]);
      const args = ["--on-node-loss", "resume", "--sandbox", "disabled", "--force", ...workspaces];
      const cluster = await createCluster(primary, folders, { script: effectsScript, args });
      let started = 0;
      const startNode = async (): Promise<Node> => {
        const proxy = await startTcpProxy(() => databasePort);
        const store = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
        return { proxy, server: await cluster.startProcess(`${(started += 1)}`, { SHEAF_STORE: store }) };
      };
      const nodes = await Promise.all(Array.from({ length: NODES }, startNode));
      const recorder = createHistoryRecorder(lanes, () => nodes.map(({ server }) => server));

      const fail: Readonly<Record<Fault, (node: Node, index: number) => Promise<void>>> = {
        async kill({ server }, index) {
          await server.stop("SIGKILL");
          nodes[index] = await startNode();
        },
        async stop({ server }) {
          server.child.kill("SIGSTOP");
          await sleep(STOP_MS);
          server.child.kill("SIGCONT");
        },
        cut: ({ proxy }) => breakFor(proxy, "cut", 1000 + random() * 4000),
        freeze: ({ proxy }) => breakFor(proxy, "freeze", 1000 + random() * 4000),
        "long cut": ({ proxy }) => breakFor(proxy, "cut", STOP_MS + random() * 4000),
        async crash() {
          await database.stop("SIGQUIT");
          await sleep(random() * 2000);
          await database.start();
        },
        clock: () => jumpClock(database, random() < 0.5 ? "+" : "-"),
        async "fail-over"() {
          await primary.stop("SIGQUIT");
          [database, databasePort] = [standby, otherPort];
          await standby.run(standby.toAddress("postgres"), "SELECT pg_promote()");
        },
      };

      const counts = new Map<Fault, number>();
      for (let round = 0; round < rounds; round += 1) {
        const isFailOver = rounds > shortFaults.length && round === Math.floor(rounds / 2);
        const chance = isFailOver ? "fail-over" : faults[Math.floor(random() * faults.length)]!;
        const fault = rounds > shortFaults.length ? chance : shortFaults[round]!;
        counts.set(fault, (counts.get(fault) ?? 0) + 1);
        const asked = lanes.map((_, lane) => recorder.ask(lane, round));
        await sleep(random() * 1500);
        const index = Math.floor(random() * NODES);
        await Promise.all([fail[fault](nodes[index]!, index), ...asked]);
      }

      const history = await recorder.finish(database, database.toAddress("postgres"));
      const { takeovers, failed } = countOutcomes(history.stored);
      const list = [...counts].map(([fault, count]) => `${count} ${fault}`).join(", ");
      reportFigure(
        "R-67",
        `${rounds} faults (${list}), ${history.stored.length} responses, ${takeovers} taken over, ${failed.length} ended with an error (${failed.join(" ")}), ${history.effects.length} effects of calls, longest silence of a reader ${Math.round(recorder.longestSilence)} ms`,
      );
      expect(checkHistory(history)).toEqual([]);
      expect(failed).toEqual([]);
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
