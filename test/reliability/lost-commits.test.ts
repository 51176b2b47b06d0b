/** The connection to the database is reset again and again, each second time when a COMMIT is answered: no response hangs. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { checkHistory } from "../support/check-history.ts";
import { createCluster } from "../support/cluster.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { countOutcomes, createHistoryRecorder } from "../support/record-history.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { chooseRuns, reportFigure, soakTimeout } from "../support/soak.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const LANES = 10;
const script = { turns: [{ events: [{ text: "Hello " }, { wait_ms: 20 }, { text: "world." }] }], after: "loop" };

describeWithPostgres("connections that are reset", (postgres) => {
  test(
    verifies("R-75", "every response ends once, although one in five loses its connection"),
    async () => {
      const count = chooseRuns(200, 1000);
      const lanes = Array.from({ length: LANES }, () => folders.newFolder());
      const workspaces = lanes.flatMap((root, lane) => ["--workspace", `lane${lane}=${root}`]);
      const cluster = await createCluster(postgres, folders, {
        script,
        args: ["--on-node-loss", "resume", ...workspaces],
      });
      const address = new URL(cluster.store.replace("@/", "@h/"));
      const proxy = await startTcpProxy(() => join(address.searchParams.get("host")!, ".s.PGSQL.5432"));
      const near = `postgres://postgres@127.0.0.1:${proxy.port}${address.pathname}`;
      const server = await cluster.startProcess("0", { SHEAF_STORE: near });
      const recorder = createHistoryRecorder(lanes, () => [server]);
      let [asked, resets] = [0, 0];
      const askAll = async (lane: number): Promise<void> => {
        while (asked < count) {
          const number = (asked += 1);
          if (number % 5 === 0) {
            resets += 1;
            if (resets % 2 === 0) proxy.loseAnswers("COMMIT\0", 1);
            else {
              proxy.cut();
              proxy.mend();
            }
          }
          await recorder.ask(lane, `${number}`);
        }
      };
      await Promise.all(lanes.map((_, lane) => askAll(lane)));
      // Longer than a lease.
      await sleep(12_000);
      const open = await postgres.run(cluster.store, "SELECT id FROM sheaf.responses WHERE NOT ended");
      const history = await recorder.finish(postgres, cluster.store);
      const { failed } = countOutcomes(history.stored);
      reportFigure(
        "R-75",
        `${count} responses, ${resets} resets, ${open.length} without an end, ${failed.length} ended with an error`,
      );
      await recorder.deleteAll();
      expect([...recorder.problems, ...checkHistory(history), ...failed]).toEqual([]);
      expect(open).toEqual([]);
    },
    soakTimeout,
  );
});
