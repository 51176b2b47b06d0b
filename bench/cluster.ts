/**
 * Two servers on one PostgreSQL database: 50 responses at one, each read at the other, 50 deltas a second. The delay of a
 * delta from the model to the client, and the CPU time that servers and database take for it together. The floor is one
 * server with its own file, whose readers are its own.
 * `measureSize` measures a cluster of a given size instead: responses at all servers in turn, each read at the next one.
 */
import { once } from "node:events";
import { type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createPostgresCluster, findPostgresPrograms, type TestPostgres } from "../test/support/postgres-cluster.ts";
import {
  type Bench,
  compare,
  now,
  readCpuMicroseconds,
  sheafProgram,
  startNode,
  toQuantile,
} from "./support/measure.ts";
import { withFolder } from "./support/measure.ts";
import { type Provider, startProvider } from "./support/provider.ts";

const STREAMS = 50;
const PACE_MS = 20;
const DELTAS = 200;
/** At the beginning, while responses start. */
const SKIPPED = 50;
const token = "x".repeat(43);

export const bench: Bench = (isQuick) =>
  withDatabase(({ folder, provider, postgres }) => {
    provider.play(() => ({ text: [...createStamps(DELTAS), "end"], paceMs: PACE_MS }));
    return compare({
      units: {
        "delta from the model to a reader, median": "ms",
        "delta from the model to a reader, 99 %": "ms",
        "CPU of a delta": "µs",
        "CPU of a delta at the server that runs it": "µs",
        "CPU of a delta at the server that is read": "µs",
        "CPU of a delta at the database": "µs",
      },
      rounds: isQuick ? 1 : 3,
      floor: () => measure([startServer(folder, provider, undefined)], undefined),
      sheaf: async () => {
        const store = await postgres.clearDatabase();
        return measure([startServer(folder, provider, store), startServer(folder, provider, store)], postgres);
      },
    });
  });

/** The time at which each is sent. */
const createStamps = (count: number) => Array.from({ length: count }, () => () => `at ${now().toFixed(2)} `);

interface Places {
  readonly folder: string;
  readonly provider: Provider;
  readonly postgres: TestPostgres;
}

async function withDatabase<Result>(work: (places: Places) => Promise<Result>): Promise<Result> {
  const programs = findPostgresPrograms();
  if (programs === undefined) throw new Error("no PostgreSQL 15 or newer on this machine (apt install postgresql)");
  const provider = await startProvider();
  try {
    return await withFolder(async (folder) => {
      const postgres = createPostgresCluster(programs, folder);
      mkdirSync(join(folder, "workspace"));
      writeFileSync(join(folder, "token"), `${token}\n`, { mode: 0o600 });
      await postgres.start();
      try {
        return await work({ folder, provider, postgres });
      } finally {
        await postgres.stop();
      }
    });
  } finally {
    provider.close();
  }
}

/** How long the streams of `measureSize` write: together a thousand deltas a second, out of step. Milliseconds. */
const SIZE_MS = 20_000;

/** Responses that begin at the same time. */
const BEGINNING = 25;

/** Microseconds of CPU time of a delta, once all streams are open and read; its delay, and how many came in a second. */
export function measureSize(size: {
  readonly nodes: number;
  readonly streams: number;
}): Promise<Readonly<Record<string, number>>> {
  return withDatabase(async ({ folder, provider, postgres }) => {
    const gate = Promise.withResolvers<void>();
    const paceMs = size.streams;
    const deltas = Math.max(Math.ceil(SIZE_MS / paceMs), SKIPPED + 10);
    const text = [...createStamps(deltas), "end"];
    let played = 0;
    provider.play(() => {
      const offsetMs = (played += 37) % paceMs;
      return { text, paceMs, startsAfter: gate.promise.then(() => sleep(offsetMs)) };
    });
    const store = await postgres.clearDatabase();
    const nodes = Array.from({ length: size.nodes }, () => startServer(folder, provider, store));
    try {
      const ports = await Promise.all(nodes.map(({ port }) => port));
      const toPort = (index: number): number => ports[index % ports.length]!;
      const paths: string[] = [];
      while (paths.length < size.streams) {
        const next = Array.from({ length: Math.min(BEGINNING, size.streams - paths.length) }, (_, index) =>
          beginResponse(toPort(paths.length + index)),
        );
        paths.push(...(await Promise.all(next)));
      }
      const readings = paths.map((path, index) => {
        return readDelays(send(toPort(index + 1), `GET ${path}/events`, ""), deltas);
      });
      await Promise.race([Promise.all(readings), sleep(3000)]);
      const readCpu = () => ({ nodes: sum(nodes.map(toCpu)), database: readFamilyCpu(postgres.processId) });
      const [before, startedAt] = [readCpu(), now()];
      gate.resolve();
      const delays = (await Promise.all(readings)).flat();
      const [after, count] = [readCpu(), size.streams * deltas];
      return {
        "CPU of a delta at all servers, µs": (after.nodes - before.nodes) / count,
        "CPU of a delta at the database, µs": (after.database - before.database) / count,
        "delta from the model to a reader, median, ms": toQuantile(delays, 0.5),
        "deltas a second": (count / (now() - startedAt)) * 1000,
      };
    } finally {
      await endNodes(nodes);
    }
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);
const toCpu = ({ child }: Node): number => readCpuMicroseconds(child.pid!);

interface Node {
  readonly child: ChildProcess;
  readonly port: Promise<number>;
}

let homes = 0;

/** Starts a server with a home of its own. */
function startServer(folder: string, provider: Provider, store: string | undefined): Node {
  const home = join(folder, `home${(homes += 1)}`);
  rmSync(home, { recursive: true, force: true });
  const model = ["--model", "openai-compatible/m", "--base-url", provider.url, "--api-key", "none"];
  const place = store === undefined ? [] : ["--store", store];
  const words = ["serve", "--port", "0", "--token-file", join(folder, "token"), ...model, ...place];
  const child = startNode([sheafProgram, ...words], join(folder, "workspace"), home);
  let errors = "";
  child.stderr!.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const port = Promise.race([once(child.stdout!, "data"), once(child, "close")]).then(([first]) => {
    const found = Number(/127\.0\.0\.1:(\d+)/.exec(String(first))?.[1]);
    if (Number.isNaN(found)) throw new Error(`sheaf serve does not listen: ${errors}`);
    return found;
  });
  return { child, port };
}

/** Responses begin at the first node; readers are at the last one. */
async function measure(nodes: readonly Node[], postgres: TestPostgres | undefined) {
  const ports = await Promise.all(nodes.map(({ port }) => port));
  const readCpu = (): number[] => [...nodes.map(toCpu), readFamilyCpu(postgres?.processId)];
  try {
    const before = readCpu();
    const delays = (
      await Promise.all(Array.from({ length: STREAMS }, () => readAnswer(ports[0]!, ports.at(-1)!)))
    ).flat();
    const spent = readCpu().map((after, index) => (after - before[index]!) / (STREAMS * DELTAS));
    const total = sum(spent);
    return {
      "delta from the model to a reader, median": toQuantile(delays, 0.5),
      "delta from the model to a reader, 99 %": toQuantile(delays, 0.99),
      "CPU of a delta": total,
      // The floor does all of it in one process.
      "CPU of a delta at the server that runs it": spent[0]!,
      "CPU of a delta at the server that is read": nodes.length > 1 ? spent[1]! : total,
      "CPU of a delta at the database": postgres ? spent.at(-1)! : total,
    };
  } finally {
    await endNodes(nodes);
  }
}

async function endNodes(nodes: readonly Node[]): Promise<void> {
  for (const { child } of nodes) {
    const closed = once(child, "close");
    child.kill("SIGTERM");
    await closed;
  }
}

/** Of a process and its children. */
function readFamilyCpu(processId: number | undefined): number {
  if (processId === undefined) return 0;
  const children = readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === `${processId}`;
    } catch {
      return false;
    }
  });
  return sum([processId, ...children.map(Number)].map(readCpuMicroseconds));
}

/** Delays of the deltas of one response, which begins at one node and is read at another. @throws for a gap. */
async function readAnswer(port: number, readerPort: number): Promise<number[]> {
  const path = await beginResponse(port);
  return readDelays(send(readerPort, `GET ${path}/events`, ""), DELTAS);
}

/** Gives its path. */
async function beginResponse(port: number): Promise<string> {
  const body = '{"message":"go","stream":true}';
  const begun = send(port, `POST /v1/chat`, body);
  let head = "";
  for await (const chunk of begun) {
    head += String(chunk);
    if (head.includes("\r\n\r\n")) break;
  }
  const path = /^location: (\S+)/im.exec(head)?.[1];
  if (path === undefined) throw new Error(`no response: ${head}`);
  begun.destroy();
  return path;
}

function send(port: number, line: string, body: string): Socket {
  const socket = connect(port, "127.0.0.1");
  const length = body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  socket.write(`${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n${length}\r\n${body}`);
  return socket;
}

function readDelays(socket: Socket, count: number): Promise<number[]> {
  const delays: number[] = [];
  const ids: number[] = [];
  let rest = "";
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the server closed a stream before its end")));
    socket.on("data", (chunk: Buffer) => {
      const at = now();
      const blocks = (rest + chunk.toString("latin1")).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const id = /^id: (\d+)$/m.exec(block)?.[1];
        if (id !== undefined) ids.push(Number(id));
        // The end of the document repeats its whole text.
        if (!block.includes("event: content_delta\n")) continue;
        for (const [, sentAt] of block.matchAll(/at (\d{13}\.\d\d)/g)) delays.push(at - Number(sentAt));
      }
      if (!rest.includes("event: done") && !blocks.some((block) => block.includes("event: done"))) return;
      socket.removeAllListeners("close");
      socket.destroy();
      const gap = ids.find((id, index) => index > 0 && id !== ids[index - 1]! + 1);
      if (gap !== undefined) reject(new Error(`a reader got event ${gap} after another one than ${gap - 1}`));
      else if (delays.length !== count) reject(new Error(`a reader got ${delays.length} of ${count} deltas`));
      else resolve(delays.slice(SKIPPED));
    });
  });
}
