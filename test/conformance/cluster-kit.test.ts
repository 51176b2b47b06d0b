/** The conformance kit against three servers of one PostgreSQL database, behind a load balancer that keeps no session. */
import { expect, test } from "vitest";
import { runSuite, selectChecks, type Outcome } from "sheaf-conformance";
import { createKitFlags, createKitProfile } from "../kit/kit-profile.ts";
import { createCluster } from "../support/cluster.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { startRoundRobin } from "../support/round-robin.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { chooseRuns } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

describeWithPostgres("three servers that share a database", (postgres) => {
  test(verifies(["R-66", "X12"], "pass every check as one server does, whichever gets a request"), async () => {
    const files = { "README.md": "# Wordy\n\nCounts words in a text.\n" };
    const flags = createKitFlags(folders.newFolder());
    const cluster = await createCluster(postgres, folders, { script: { turns: [] }, args: flags, files });
    const servers = await Promise.all(["a", "b", "c"].map((name) => cluster.start(name)));
    const { address, counts } = await startRoundRobin(servers.map(({ port }) => port));
    // At every byte of a stream each connects hundreds of times: in a soak.
    const only = selectChecks({})
      .map(({ id }) => id)
      .filter((id) => chooseRuns(0, 1) > 0 || !id.startsWith("resume-at-every"));
    const options = {
      baseUrl: address,
      token: cluster.tokenOf("ada"),
      profile: createKitProfile(),
      waitMs: 15_000,
      only,
    };
    const outcomes: Outcome[] = [];
    for await (const outcome of runSuite(options)) outcomes.push(outcome);
    expect(outcomes.filter(({ status }) => status !== "passed")).toEqual([]);
    expect(outcomes.map(({ id }) => id)).toEqual(only);
    for (const count of counts) expect(count).toBeGreaterThan(20);
  });
});
