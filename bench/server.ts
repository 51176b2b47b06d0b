/**
 * `npm run bench -- server [--quick] [--strict]`: streams of Sheaf's server with durable storage beside those of a bare
 * node:http server in the same run: deltas a second when they come as fast as they go, and their delay, CPU and memory
 * at a pace of one every 20 ms. Budgets: docs/performance.md.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { toSmallMemory } from "../packages/agent/src/cli/small-memory.ts";
import { runLoad, type LoadResult } from "./server/load.ts";
import type { Workload } from "./server/workload.ts";

const quick = process.argv.includes("--quick");

/** Both servers as bundles, as Sheaf is shipped. It lies in the repository, since packages are looked for from there. */
const folder = mkdtempSync(join(import.meta.dirname, "../node_modules/.sheaf-bench-"));
writeFileSync(join(folder, "package.json"), '{"type":"module"}');
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
await build({
  entryPoints: {
    "sheaf-server": join(import.meta.dirname, "server/sheaf-server.ts"),
    "floor-server": join(import.meta.dirname, "server/floor-server.ts"),
    "sqlite-worker": join(import.meta.dirname, "../packages/agent/src/store/sqlite-worker.ts"),
  },
  outdir: folder,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  conditions: ["sheaf-source"],
  external: ["@vscode/ripgrep"],
  banner: { js: 'import{createRequire as benchRequire}from"node:module";const require=benchRequire(import.meta.url);' },
});

/** Ticks of the kernel's clock in a second, as /proc counts CPU. */
const TICKS = 100;

/** Streams before those that are measured. */
const WARM_STREAMS = 20;

interface Measure extends LoadResult {
  /** Microseconds of CPU of the server, per delta. */
  readonly cpu: number;
  /** MB, at its highest. */
  readonly memory: number;
}

/** Starts a server, loads it, and looks at its process. */
async function measure(kind: "sheaf" | "floor", streams: number, workload: Workload): Promise<Measure> {
  const file = join(folder, `${kind}-server.js`);
  const { deltas, group, paceMs } = workload;
  // As `sheaf serve` starts itself.
  const plain = { options: [], environment: process.env };
  const { options, environment: env } = kind === "sheaf" ? toSmallMemory(process.env) : plain;
  const words = [...options, file, `${deltas}`, `${group}`, `${paceMs}`];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"], env });
  const [first] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(first.toString());
  try {
    // Code that is not compiled yet is not what is measured: a server runs for days.
    await runLoad(port, WARM_STREAMS, false);
    const before = readCpu(child.pid!);
    const result = await runLoad(port, streams, paceMs > 0);
    const cpu = ((readCpu(child.pid!) - before) / result.deltas) * 1e6;
    return { ...result, cpu, memory: readPeak(child.pid!) };
  } finally {
    child.kill("SIGTERM");
    await once(child, "close");
  }
}

/** Seconds of CPU so far. */
function readCpu(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

function readPeak(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
  return Number(kilobytes) / 1024;
}

const at = (sorted: readonly number[], part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;

const problems: string[] = [];
const check = (isMet: boolean, budget: string): void => {
  if (!isMet) problems.push(budget);
};

const pad = (text: string | number, width = 12): string => String(text).padStart(width);
const row = (...cells: readonly (string | number)[]): void => console.log(cells.map((cell) => pad(cell)).join(""));

/** As fast as they go. */
async function runFlood(streams: number, group: number): Promise<void> {
  const total = quick ? 200_000 : 1_000_000;
  const deltas = Math.max(group, Math.floor(Math.min(total / streams, 50_000) / group) * group);
  const floor = await measure("floor", streams, { deltas, group, paceMs: 0 });
  const sheaf = await measure("sheaf", streams, { deltas, group, paceMs: 0 });
  const rates = [floor, sheaf].map((result) => result.deltas / result.seconds);
  const part = rates[1]! / rates[0]!;
  row(
    streams,
    group,
    ...rates.map((rate) => Math.round(rate)),
    part.toFixed(2),
    floor.cpu.toFixed(1),
    sheaf.cpu.toFixed(1),
    Math.round(floor.memory),
    Math.round(sheaf.memory),
  );
  if (streams === 100)
    check(part >= 1 / 3, `${streams} streams of ${group}: a third of the floor, ${part.toFixed(2)} measured`);
}

/** One delta every 20 ms in each stream. */
async function runPaced(streams: number): Promise<void> {
  const workload = { deltas: quick ? 100 : 300, group: 1, paceMs: 20 };
  const floor = await measure("floor", streams, workload);
  const sheaf = await measure("sheaf", streams, workload);
  const delays = [floor, sheaf].flatMap((result) => [
    at(result.delays, 0.5).toFixed(2),
    at(result.delays, 0.99).toFixed(2),
  ]);
  const perStream = (sheaf.memory * 1024) / streams;
  row(
    streams,
    ...delays,
    floor.cpu.toFixed(0),
    sheaf.cpu.toFixed(0),
    Math.round(floor.memory),
    Math.round(sheaf.memory),
    perStream.toFixed(0),
  );
  if (streams !== 100) return;
  check(
    at(sheaf.delays, 0.99) <= 10,
    `100 streams at a pace: p99 10 ms, ${at(sheaf.delays, 0.99).toFixed(1)} measured`,
  );
  check(sheaf.memory <= 150, `100 streams at a pace: 150 MB, ${Math.round(sheaf.memory)} measured`);
}

console.log("As fast as they go: deltas a second; CPU in µs a delta; peak memory in MB");
row("streams", "group", "floor/s", "sheaf/s", "part", "floor CPU", "sheaf CPU", "floor MB", "sheaf MB");
for (const [streams, group] of [
  [1, 1],
  [10, 1],
  [100, 1],
  [100, 10],
  [500, 1],
] as const) {
  await runFlood(streams, group);
}
console.log(
  "\nOne delta every 20 ms in each stream: delay in ms; CPU in µs a delta; peak memory in MB, and kB a stream",
);
row(
  "streams",
  "floor p50",
  "floor p99",
  "sheaf p50",
  "sheaf p99",
  "floor CPU",
  "sheaf CPU",
  "floor MB",
  "sheaf MB",
  "kB/stream",
);
for (const streams of [1, 10, 100, 500]) await runPaced(streams);
for (const problem of problems) console.log(`missed: ${problem}`);
if (process.argv.includes("--strict") && problems.length > 0) process.exitCode = 1;
