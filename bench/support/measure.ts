/** Figures: what Sheaf takes and what the floor takes, measured in turn in the same run. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** One measured quantity; smaller is better. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly floor: number;
  readonly sheaf: number;
}

/** What a file of `bench/` exports as `bench`. `isQuick`: fewer rounds of the same figures. */
export type Bench = (isQuick: boolean) => Promise<readonly Figure[]>;

type Sample<Name extends string> = Readonly<Record<Name, number>>;

/** What is measured: names of the figures with their units, and one round of each side. */
export interface Comparison<Name extends string> {
  readonly units: Readonly<Record<Name, string>>;
  readonly rounds: number;
  readonly floor: () => Promise<Sample<Name>>;
  readonly sheaf: () => Promise<Sample<Name>>;
}

/**
 * The sides alternate, so that other work on the machine slows both, and each figure is the lower quartile of its
 * rounds: those that were disturbed least. A first round, which fills caches, is not counted.
 */
export async function compare<Name extends string>(comparison: Comparison<Name>): Promise<Figure[]> {
  const floor: Sample<Name>[] = [];
  const sheaf: Sample<Name>[] = [];
  for (let round = 0; round <= comparison.rounds; round += 1) {
    floor.push(await comparison.floor());
    sheaf.push(await comparison.sheaf());
  }
  const toFigure = (samples: readonly Sample<Name>[], name: Name): number =>
    toLowerQuartile(samples.slice(1).map((sample) => sample[name]));
  return (Object.keys(comparison.units) as Name[]).map((name) => ({
    name,
    unit: comparison.units[name],
    floor: toFigure(floor, name),
    sheaf: toFigure(sheaf, name),
  }));
}

export const toLowerQuartile = (values: readonly number[]): number => toQuantile(values, 0.25);

export function toQuantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;
}

/** The built program. */
export const sheafProgram = join(import.meta.dirname, "../../packages/cli/bin/sheaf.js");
/** A file of this folder. */
export const toSupportFile = (name: string): string => join(import.meta.dirname, name);

/** Milliseconds since 1970, with a fraction: the same clock in every process of this machine. */
export const now = (): number => performance.timeOrigin + performance.now();

/** Runs with a new folder, in memory where possible: otherwise the disk's time for synced writes hides Sheaf's. */
export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sheaf-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With the `rg` that Sheaf brings along, for the floor. */
const path = [dirname(createRequire(sheafProgram)("@vscode/ripgrep").rgPath as string), process.env.PATH].join(
  delimiter,
);

/** Starts Node on a program. `home` is the user's home and the folder of Sheaf's own files. */
export function startNode(words: readonly string[], cwd: string, home: string): ChildProcess {
  const env = { PATH: path, HOME: home, SHEAF_HOME: join(home, "sheaf") };
  return spawn(process.execPath, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs a program to its end and takes its time and memory. @throws Error when it fails. */
export async function runNode(
  words: readonly string[],
  cwd: string,
  home: string,
  onOutput: (chunk: Buffer) => void = () => undefined,
): Promise<{ readonly startedAt: number; readonly totalMs: number; readonly peakMb: number }> {
  const startedAt = performance.now();
  const child = startNode(words, cwd, home);
  let errors = "";
  let peakMb = 0;
  child.stderr!.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  child.stdout!.on("data", (chunk: Buffer) => {
    peakMb = Math.max(peakMb, readPeakMb(child.pid!));
    onOutput(chunk);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code !== 0) throw new Error(`"${words.join(" ")}" ended with exit code ${code}: ${errors}`);
  return { startedAt, totalMs: performance.now() - startedAt, peakMb };
}

/** Peak resident memory of a process so far; 0 when it has ended. */
export function readPeakMb(pid: number): number {
  const [, kilobytes = 0] = /VmHWM:\s+(\d+)/.exec(readProcess(pid, "status")) ?? [];
  return Number(kilobytes) / 1024;
}

/** Ticks of CPU time in a second, as `/proc` counts them. */
const ticksPerSecond = 100;

/** Microseconds of CPU time of a process so far. */
export function readCpuMicroseconds(pid: number): number {
  const stat = readProcess(pid, "stat");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6;
}

function readProcess(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}
