/** Three servers on one PostgreSQL database are upgraded one after the other under load, and rolled back in the same way. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { checkHistory } from "../support/check-history.ts";
import { createCluster } from "../support/cluster.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { countOutcomes, createHistoryRecorder, effectsScript } from "../support/record-history.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { createRandom, reportFigure, soakSeed, soakTimeout } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const NODES = 3;

/** The program of an older version; without it, servers restart in the version that was built. */
const older = process.env.SHEAF_SOAK_PROGRAM;

describeWithPostgres("a cluster is upgraded and rolled back", (postgres) => {
  test(
    verifies(["R-67", "R-68"], "every message has one answer, no call runs twice, and readers see one stream"),
    async () => {
      const lanes = Array.from({ length: NODES + 1 }, (_, lane) => folders.newFolder({ "README.md": `${lane}` }));
      const workspaces = lanes.flatMap((root, lane) => ["--workspace", `lane${lane}=${root}`]);
      const args = ["--on-node-loss", "resume", "--sandbox", "disabled", "--force", "--grace", "0", ...workspaces];
      const cluster = await createCluster(postgres, folders, { script: effectsScript, args });
      const start = (round: number, program?: string) => cluster.startProcess(`${round}`, {}, program);
      const servers = [await start(0, older), await start(1, older), await start(2, older)];
      const random = createRandom(soakSeed);
      const recorder = createHistoryRecorder(lanes, () => servers);
      const readVersion = async (): Promise<unknown> =>
        (await postgres.run(cluster.store, "SELECT version FROM sheaf.migrations"))[0]?.version;
      const versions = [await readVersion()];

      for (let round = 0; round < 2 * NODES; round += 1) {
        const asked = lanes.flatMap((_, lane) => [0, 1].map((turn) => recorder.ask(lane, `${round}.${lane}.${turn}`)));
        await sleep(random() * 1500);
        // The next one replaces it at once, as a deployment does.
        const place = round % NODES;
        await servers[place]!.stop("SIGTERM");
        servers[place] = await start(NODES + round, round < NODES ? undefined : older);
        await Promise.all(asked);
        versions.push(await readVersion());
      }

      const history = await recorder.finish(postgres, cluster.store);
      const { takeovers, failed } = countOutcomes(history.stored);
      reportFigure(
        "R-68",
        `schemas ${versions.join(", ")}; ${history.stored.length} responses, ${history.stored.flat().length} events, ${takeovers} taken over, ${failed.length} ended with an error, longest silence of a reader ${Math.round(recorder.longestSilence)} ms`,
      );
      expect([...recorder.problems, ...checkHistory(history), ...failed]).toEqual([]);
    },
    soakTimeout,
  );
});
