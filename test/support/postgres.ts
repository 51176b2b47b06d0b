/** A PostgreSQL server for tests, gone with them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { describeWhere } from "./describe-where.ts";
import { createPostgresCluster, findPostgresPrograms, type TestPostgres } from "./postgres-cluster.ts";

/** Runs `body` where PostgreSQL 15 or newer is installed; `postgres` works within its tests. */
export function describeWithPostgres(title: string, body: (postgres: TestPostgres) => void): void {
  const programs = findPostgresPrograms();
  const missing =
    programs === undefined ? "no PostgreSQL 15 or newer on this machine (apt install postgresql)" : undefined;
  describeWhere(title, missing, () => {
    const folder = mkdtempSync(join(tmpdir(), "sheaf-postgres-"));
    const cluster = createPostgresCluster(programs!, folder);
    beforeAll(() => cluster.start());
    afterAll(async () => {
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    body(cluster);
  });
}
