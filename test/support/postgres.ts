/** A PostgreSQL server for the tests of a worker, gone with it. */
import { chmodSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, inject } from "vitest";
import { describeWhere } from "./describe-where.ts";
import {
  createPostgresCluster,
  findMissingPostgres,
  findPostgresPrograms,
  type TestPostgres,
} from "./postgres-cluster.ts";

/** The server of this worker: each of its files starts it on the same files, since making them takes a second. */
let shared: TestPostgres | undefined;

function openShared(): TestPostgres {
  if (shared) return shared;
  const top = inject("runFolder");
  // PostgreSQL runs as another user.
  chmodSync(top, 0o755);
  shared = createPostgresCluster(findPostgresPrograms()!, mkdtempSync(join(top, "postgres-")));
  return shared;
}

/** Runs `body` where PostgreSQL 15 or newer is installed; `postgres` works within its tests. */
export function describeWithPostgres(title: string, body: (postgres: TestPostgres) => void): void {
  describeWhere(title, findMissingPostgres(), () => {
    const cluster = openShared();
    beforeAll(() => cluster.start());
    afterAll(() => cluster.stop());
    body(cluster);
  });
}
