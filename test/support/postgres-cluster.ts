/** A PostgreSQL server of its own in a temporary folder, reached by a Unix socket. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Missing } from "./describe-where.ts";
import { findMissing } from "./programs.ts";

/** The user that may do everything in the cluster. */
const superuser = "postgres";

/** A server that may run. */
export interface TestPostgres {
  /** Gives the address of the one database of a test, which is empty now. */
  clearDatabase(): Promise<string>;
  /** Gives the address of a new database, for tests that run at the same time. Takes ten times as long. */
  createDatabase(): Promise<string>;
  /** The address of a database that may not exist, as somebody; only `guarded` needs a password. */
  toAddress(database: string, user?: string): string;
  /** Runs statements as the superuser. */
  run(address: string, sql: string): Promise<readonly Record<string, unknown>[]>;
  /** Its first process; the others are children of it. */
  readonly processId: number | undefined;
  /** Ends the server, as after a power cut if it is SIGQUIT. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
  /** A copy in another folder, which does not run yet: it follows this server, which from then on waits for it. */
  createStandby(copy: string, copyPort: number): Promise<TestPostgres>;
}

/** The folder with `initdb` and `postgres`. */
export function findPostgresPrograms(): string | undefined {
  const folders = globSync("/usr/lib/postgresql/*/bin").filter((path) => Number(path.split("/")[4]) >= 15);
  return [...folders, "/usr/local/bin", "/usr/bin"].find((path) => existsSync(join(path, "initdb")));
}

/** Describes why there is no server for tests. */
export function findMissingPostgres(): Missing | undefined {
  if (findPostgresPrograms() !== undefined) return undefined;
  return findMissing("initdb", "PostgreSQL is older than version 15");
}

/** Its files are in `folder`; it does not run yet. `port`: on 127.0.0.1; default: by its socket alone. */
export function createPostgresCluster(
  programs: string,
  folder: string,
  port?: number,
  more: Readonly<Record<string, string>> = {},
): TestPostgres {
  const data = join(folder, "data");
  // PostgreSQL refuses to run as root.
  const other = process.getuid?.() === 0 ? readIds("nobody") : undefined;
  const words = other
    ? ["setpriv", `--reuid=${other.user}`, `--regid=${other.group}`, "--clear-groups", "--pdeathsig=INT"]
    : [];
  // For the programs of PostgreSQL alone: what is preloaded must have their user.
  if (Object.keys(more).length > 0)
    words.push("env", ...Object.entries(more).map(([name, value]) => `${name}=${value}`));
  const giveFolder = (path: string): void => {
    if (other) chownSync(path, other.user, other.group);
  };
  const environment = { PATH: process.env.PATH, LC_ALL: "C.UTF-8" };
  let child: ChildProcess | undefined;
  let databases = 0;

  const toAddress = (database: string, user = superuser): string =>
    `postgres://${user}@/${database}?host=${encodeURIComponent(folder)}${port === undefined ? "" : `&port=${port}`}`;

  const run: TestPostgres["run"] = async (address, sql) => {
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  };

  /** As the user of the server. @throws Error when it fails. */
  const runProgram = (name: string, args: readonly string[], cwd: string): void => {
    const [command = "", ...rest] = [...words, join(programs, name), ...args];
    const { status, stderr } = spawnSync(command, rest, { env: environment, cwd, encoding: "utf8" });
    if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
  };

  return {
    toAddress,
    run,
    get processId() {
      return child?.pid;
    },
    async clearDatabase() {
      await run(toAddress("postgres"), "DROP SCHEMA IF EXISTS sheaf CASCADE");
      return toAddress("postgres");
    },
    async createDatabase() {
      const name = `test_${(databases += 1)}`;
      await run(toAddress("postgres"), `CREATE DATABASE ${name}`);
      return toAddress(name);
    },
    async start() {
      giveFolder(folder);
      if (!existsSync(data)) {
        const settings = ["-U", superuser, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"];
        runProgram("initdb", ["-D", data, ...settings], folder);
        const rules = join(data, "pg_hba.conf");
        writeFileSync(rules, `local all guarded scram-sha-256\n${readFileSync(rules, "utf8")}`);
      }
      // It is as durable as it says to its clients, but for the disk, which these tests do not take away.
      const listens = port === undefined ? ["listen_addresses="] : ["listen_addresses=127.0.0.1", `port=${port}`];
      const settings = [
        ...listens,
        `unix_socket_directories=${folder}`,
        "fsync=off",
        "shared_buffers=32MB",
        "max_connections=300",
      ];
      const [command = "", ...rest] = [
        ...words,
        join(programs, "postgres"),
        "-D",
        data,
        ...settings.flatMap((setting) => ["-c", setting]),
      ];
      child = spawn(command, rest, { env: environment, cwd: folder, stdio: "ignore" });
      for (let tries = 0; tries < 200; tries += 1) {
        if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}`);
        if (await run(toAddress("postgres"), "SELECT 1").catch(() => undefined)) return;
        await sleep(50);
      }
      throw new Error("postgres does not answer");
    },
    async createStandby(copy, copyPort) {
      giveFolder(copy);
      const target = join(copy, "data");
      const from = ["-h", folder, "-U", superuser, ...(port === undefined ? [] : ["-p", `${port}`])];
      runProgram("pg_basebackup", ["-D", target, "-R", "-X", "stream", "-c", "fast", ...from], copy);
      await run(toAddress("postgres"), "ALTER SYSTEM SET synchronous_standby_names = '*'");
      await run(toAddress("postgres"), "SELECT pg_reload_conf()");
      return createPostgresCluster(programs, copy, copyPort, more);
    },
    async stop(signal = "SIGINT") {
      const ending = child;
      child = undefined;
      if (!ending || ending.exitCode !== null) return;
      const ended = once(ending, "exit");
      ending.kill(signal);
      await ended;
    },
  };
}

function readIds(name: string): { readonly user: number; readonly group: number } {
  const [user, group] = ["-u", "-g"].map((flag) => Number(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout));
  return { user: user!, group: group! };
}
