/**
 * What a cluster of servers needs for a number of open streams, and where it ends: docs/scale.md. A queue in steps of a
 * millisecond, fed with the CPU times that `npm run bench -- cluster` measures.
 */

/** Microseconds of CPU time for a delta. */
export interface DeltaCosts {
  readonly writer: number;
  readonly reader: number;
  readonly database: number;
}

export interface ScaleOptions {
  /** Open streams; each has one reader. */
  readonly streams: number;
  /** Of them, those whose model writes at this moment. */
  readonly activeShare: number;
  /** Of an active one, in a second. */
  readonly deltas: number;
  readonly costs: DeltaCosts;
  /** Cores of the database, and how much of them may be busy. */
  readonly databaseCores: number;
  readonly maxLoad: number;
}

export interface ScaleResult {
  readonly deltasPerSecond: number;
  /** One core each. */
  readonly servers: number;
  /** Of one database with so many cores; above 1 it does not keep up. */
  readonly databaseLoad: number;
  /** Databases of that size which it takes, by owners. */
  readonly databases: number;
  /** Connections to all databases. */
  readonly connections: number;
  /** Notices that one database passes on, in a second: each server hears those of all. */
  readonly noticesHeard: number;
  /** GB stored in a day of 8 busy hours. */
  readonly gbPerDay: number;
  /** From the model to a reader, by the queues alone; undefined: it grows without end. Milliseconds. */
  readonly waitP99: number | undefined;
}

/** Of a server: 8 for statements, one to listen. */
const CONNECTIONS = 9;
/** Between two notices of a server. Milliseconds. */
const NOTICE_GAP_MS = 10;
/** Bytes of an event as a row, with its index. */
const EVENT_BYTES = 180;
const BUSY_SECONDS = 8 * 3600;

export function simulateScale(options: ScaleOptions): ScaleResult {
  const { streams, activeShare, deltas, costs, databaseCores, maxLoad } = options;
  const deltasPerSecond = streams * activeShare * deltas;
  const servers = Math.max(2, Math.ceil((deltasPerSecond * (costs.writer + costs.reader)) / (1e6 * maxLoad)));
  const databaseLoad = (deltasPerSecond * costs.database) / (1e6 * databaseCores);
  const databases = Math.max(1, Math.ceil(databaseLoad / maxLoad));
  const perDatabase = Math.ceil(servers / databases);
  return {
    deltasPerSecond,
    servers,
    databaseLoad,
    databases,
    connections: servers * CONNECTIONS,
    noticesHeard: perDatabase * perDatabase * Math.min(1000 / NOTICE_GAP_MS, deltasPerSecond / servers),
    gbPerDay: (deltasPerSecond * EVENT_BYTES * BUSY_SECONDS) / 1e9,
    waitP99: databaseLoad < 1 ? simulateWait(deltasPerSecond, options) : undefined,
  };
}

/** Deltas come at random moments; the database works them off in their order. Ten seconds of them. */
function simulateWait(deltasPerSecond: number, { costs, databaseCores }: ScaleOptions): number {
  const random = createRandom(5);
  const waits: number[] = [];
  const capacity = (databaseCores * 1000) / costs.database;
  let queued = 0;
  for (let step = 0; step < 10_000; step += 1) {
    const mean = deltasPerSecond / 1000;
    // The sum of many independent streams is nearly normal, with the variance of its mean.
    queued += Math.max(0, mean + Math.sqrt(mean) * (random() + random() + random() + random() - 2) * Math.sqrt(3));
    // Then a notice, for which it waits half a gap on average, and all of it at most.
    waits.push(queued / capacity + random() * NOTICE_GAP_MS);
    queued = Math.max(0, queued - capacity);
  }
  return waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)]!;
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Rows of the table in docs/scale.md. */
export function formatScale(costs: DeltaCosts): string[] {
  return [1000, 10_000, 100_000, 1_000_000].map((streams) => {
    const result = simulateScale({ streams, activeShare: 0.2, deltas: 50, costs, databaseCores: 8, maxLoad: 0.6 });
    const wait = result.waitP99 === undefined ? "does not keep up" : `${Math.ceil(result.waitP99)} ms`;
    const cells = [
      streams,
      result.deltasPerSecond,
      result.servers,
      `${Math.round(result.databaseLoad * 100)} %`,
      wait,
      result.databases,
      result.connections,
      Math.round(result.noticesHeard),
      Math.round(result.gbPerDay),
    ];
    return `| ${cells.map((cell) => (typeof cell === "number" ? cell.toLocaleString("en") : cell)).join(" | ")} |`;
  });
}
