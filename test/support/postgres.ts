/** A PostgreSQL server for tests, gone with them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { describeWhere } from "./describe-where.ts";
import {
  createPostgresCluster,
  findMissingPostgres,
  findPostgresPrograms,
  type TestPostgres,
} from "./postgres-cluster.ts";

/** Runs `body` where PostgreSQL 15 or newer is installed; `postgres` works within its tests. */
export function describeWithPostgres(title: string, body: (postgres: TestPostgres) => void): void {
  const programs = findPostgresPrograms();
  describeWhere(title, findMissingPostgres(), () => {
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
