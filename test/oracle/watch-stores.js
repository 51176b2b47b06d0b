/**
 * A preload (`node --import`) that copies every group of events a store writes into a file of SHEAF_ORACLE_LOGS. Node
 * processes that a test starts load it too, so it must run on every version of Node.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread, threadId } from "node:worker_threads";

const folder = process.env.SHEAF_ORACLE_LOGS;
const isOldNode = Number(process.versions.node.split(".")[0]) < 24;

if (folder && !isOldNode) {
  watchSqlite();
  watchPostgres();
  if (process.env.VITEST && isMainThread) passOn();
}

/** One line for each group. A failure to write must not fail the test. */
function keepGroup(database, response, firstSeq, events) {
  try {
    mkdirSync(folder, { recursive: true });
    const at = performance.timeOrigin + performance.now();
    const line = JSON.stringify({ at, log: `${database} ${response}`, firstSeq: Number(firstSeq), events });
    appendFileSync(join(folder, `${process.pid}-${threadId}.ndjson`), `${line}\n`);
  } catch {
    // Another user's process, or a process that may not write here.
  }
}

/** The statements of all SQLite stores end in `run` of `StatementSync`. */
function watchSqlite() {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  const { DatabaseSync, StatementSync } = process.getBuiltinModule("node:sqlite");
  process.emitWarning = emitWarning;
  const places = new WeakMap();
  const statements = new WeakMap();
  let count = 0;
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (sql, ...rest) {
    const statement = prepare.call(this, sql, ...rest);
    if (!/^INSERT INTO (event|arrived)_groups[^)]*\bevents\)\s+(SELECT \?|VALUES)/.test(sql.trim())) return statement;
    // Stores in memory have no name.
    if (!places.has(this)) places.set(this, this.location() ?? `${process.pid}-${threadId}-${(count += 1)}`);
    statements.set(statement, places.get(this));
    return statement;
  };
  const { run } = StatementSync.prototype;
  StatementSync.prototype.run = function (...values) {
    const result = run.apply(this, values);
    if (statements.has(this)) keepGroup(statements.get(this), values[0], values[1], values[3]);
    return result;
  };
}

/** Stores in PostgreSQL write through the package `pg`, which is loaded when the first one opens. */
function watchPostgres() {
  globalThis[Symbol.for("sheaf-oracle")] = (Client) => {
    const { query } = Client.prototype;
    Client.prototype.query = function (config, values, ...rest) {
      const text = typeof config === "string" ? config : config?.text;
      const row = typeof config === "string" ? values : (config?.values ?? values);
      if (text?.includes("INSERT INTO sheaf.event_groups") && Array.isArray(row?.[3])) {
        const [responses, firstSeqs, , events] = row;
        const database = `${this.host}:${this.port}/${this.database}`;
        for (const [index, response] of responses.entries()) {
          keepGroup(database, response, firstSeqs[index], events[index]);
        }
      }
      return query.call(this, config, values, ...rest);
    };
  };
  module.registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith("/pg/lib/client.js") || !loaded.source) return loaded;
      return { ...loaded, source: `${loaded.source}\nglobalThis[Symbol.for("sheaf-oracle")](module.exports);\n` };
    },
  });
}

/** Tests give their processes an environment of their own: whatever starts this Node gets the preload. */
function passOn() {
  const childProcess = process.getBuiltinModule("node:child_process");
  const option = `--import=${fileURLToPath(import.meta.url)}`;
  for (const name of ["spawn", "spawnSync", "execFile", "execFileSync", "fork"]) {
    const start = childProcess[name];
    childProcess[name] = (...call) => {
      const [command, args] = call;
      const words = [command, ...(Array.isArray(args) ? args : [])];
      const startsNode =
        name === "fork" || words.some((word) => word === process.execPath || String(word).endsWith("sheaf.js"));
      const options = call.find((value) => value !== null && typeof value === "object" && !Array.isArray(value));
      if (!startsNode || !options?.env) return start(...call);
      const { NODE_OPTIONS = "" } = options.env;
      const env = {
        ...options.env,
        SHEAF_ORACLE_LOGS: folder,
        NODE_OPTIONS: NODE_OPTIONS.includes(option) ? NODE_OPTIONS : `${NODE_OPTIONS} ${option}`.trim(),
      };
      return start(...call.map((value) => (value === options ? { ...options, env } : value)));
    };
    // execFile has a promised form of its own.
    const promised = start[Symbol.for("nodejs.util.promisify.custom")];
    if (promised) childProcess[name][Symbol.for("nodejs.util.promisify.custom")] = promised;
  }
  module.syncBuiltinESMExports();
}
