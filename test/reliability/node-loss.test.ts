/** Servers on one PostgreSQL database are killed or stopped at random moments; others go on with their responses. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { checkHistory } from "../support/check-history.ts";
import { createCluster } from "../support/cluster.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { countOutcomes, createHistoryRecorder, effectsScript } from "../support/record-history.ts";
import type { ServerProcess } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { chooseRuns, createRandom, reportFigure, soakTimeout } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** Each in a workspace of its own. */
const LANES = 4;

/** Every tenth loss is a stop for longer than the lease, not a kill. */
const STOP_EVERY = 10;
const STOP_MS = 12_000;

describeWithPostgres("servers are lost at random moments", (postgres) => {
  test(
    verifies("R-44", "every response ends once, no call runs twice, and readers see one stream"),
    async () => {
      const runs = chooseRuns(3, 100);
      const random = createRandom(7);
      const lanes = Array.from({ length: LANES }, (_, lane) => folders.newFolder({ "README.md": `${lane}` }));
      const workspaces = lanes.flatMap((root, lane) => ["--workspace", `lane${lane}=${root}`]);
      const args = ["--on-node-loss", "resume", "--sandbox", "disabled", "--force", ...workspaces];
      const cluster = await createCluster(postgres, folders, { script: effectsScript, args });
      let [one, other] = await Promise.all([cluster.startProcess("0"), cluster.startProcess("1")]);
      const recorder = createHistoryRecorder(lanes, () => [one, other]);

      for (let round = 1; round <= runs; round += 1) {
        const asked = lanes.map((_, lane) => recorder.ask(lane, `${round}.${lane}`));
        await sleep(random() * 2000);
        const lost: ServerProcess = one;
        const isStop = round % STOP_EVERY === 0;
        if (isStop) {
          lost.child.kill("SIGSTOP");
          await sleep(STOP_MS + random() * 4000);
          lost.child.kill("SIGCONT");
        } else await lost.stop("SIGKILL");
        await Promise.all(asked);
        if (isStop) await lost.stop("SIGKILL");
        one = other;
        other = await cluster.startProcess(`${round + 1}`);
      }

      const history = await recorder.finish(postgres, cluster.store);
      const { takeovers, failed } = countOutcomes(history.stored);
      reportFigure(
        "R-44",
        `${runs} servers lost, ${history.stored.length} responses, ${takeovers} taken over, ${failed.length} ended with an error, ${history.effects.length} effects of calls, longest silence of a reader ${Math.round(recorder.longestSilence)} ms`,
      );
      expect([...recorder.problems, ...checkHistory(history)]).toEqual([]);
      expect(failed).toEqual([]);
    },
    soakTimeout,
  );
});
