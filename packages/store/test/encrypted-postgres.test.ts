/** PostgreSQL over TLS, whose certificate Sheaf checks as the address says. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { createPostgresStore } from "../src/postgres.ts";
import { describeWhere, testDeep } from "../../../test/support/describe-where.ts";
import {
  createPostgresCluster,
  findMissingPostgres,
  findPostgresPrograms,
} from "../../../test/support/postgres-cluster.ts";
import { describeWithProgram } from "../../../test/support/programs.ts";
import { findFreePort } from "../../../test/support/reverse-proxy.ts";
import { verifies } from "../../../test/support/verifies.ts";

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-encrypted-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A certificate for `localhost` that signs itself. */
function createCertificate(folder: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const out = ["-keyout", `${folder}/server.key`, "-out", `${folder}/server.crt`];
  const name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const { status, stderr } = spawnSync("openssl", ["req", "-x509", ...key, ...out, ...name], { encoding: "utf8" });
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
}

describeWithProgram("openssl", () =>
  describeWhere("an encrypted database", findMissingPostgres(), () => {
    testDeep(verifies(["R-30", "R-34"], "verify-full works with the right certificate and name alone"), async () => {
      const [folder, port] = [createFolder(), await findFreePort()];
      const postgres = createPostgresCluster(findPostgresPrograms()!, folder, port);
      onTestFinished(() => postgres.stop("SIGQUIT"));
      await postgres.start();
      const data = join(folder, "data");
      createCertificate(data);
      const { uid, gid } = statSync(data);
      for (const name of ["server.key", "server.crt"]) chownSync(join(data, name), uid, gid);
      chmodSync(join(data, "server.key"), 0o600);
      await postgres.run(postgres.toAddress("postgres"), "ALTER SYSTEM SET ssl = on");
      await postgres.run(postgres.toAddress("postgres"), "SELECT pg_reload_conf()");
      const other = createFolder();
      createCertificate(other);

      const toAddress = (host: string, root: string): string =>
        `postgres://postgres@${host}:${port}/postgres?sslmode=verify-full&sslrootcert=${root}/server.crt`;
      await expect
        .poll(() => createPostgresStore(toAddress("localhost", data)).then((store) => store.close()))
        .toBeUndefined();
      const store = await createPostgresStore(toAddress("localhost", data));
      const used = "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_port > 0";
      expect(await postgres.run(postgres.toAddress("postgres"), used)).toEqual([{ ssl: true }]);
      await store.close();
      for (const [host, root] of [
        ["localhost", other],
        ["127.0.0.1", data],
      ] as const) {
        const opened = createPostgresStore(toAddress(host, root));
        await expect(opened).rejects.toMatchObject({
          code: "CONFIG_INVALID",
          message: expect.stringContaining("sslrootcert") as string,
        });
      }
    });
  }),
);
