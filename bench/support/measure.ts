/** Times and memory of something that is fed in parts. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { chunkLength, million } from "./answers.ts";

/** Takes a long text in parts; every round has a new one. */
export interface Contender {
  /** Takes the next stretch of the text, not timed; what it gives is timed. */
  prepare(text: string): () => void;
  /** What came out, so that the compiler cannot leave anything out. */
  describe(): string;
}

export interface Measurement {
  /** Characters. */
  readonly length: number;
  readonly milliseconds: number;
  /** Of all threads, garbage collection too. */
  readonly cpuMilliseconds: number;
  /** Milliseconds of each part. */
  readonly parts: readonly number[];
  readonly described: string;
}

/** Small enough that what is prepared for a part does not outlive a garbage collection of young objects. */
const partLength = 50_000;

function runOnce(text: string, contender: Contender): Measurement {
  const parts: number[] = [];
  let cpuMicroseconds = 0;
  for (let at = 0; at < text.length; at += partLength) {
    const feed = contender.prepare(text.slice(at, at + partLength));
    const cpu = process.cpuUsage();
    const start = performance.now();
    feed();
    parts.push(performance.now() - start);
    const used = process.cpuUsage(cpu);
    cpuMicroseconds += used.user + used.system;
  }
  const milliseconds = parts.reduce((sum, part) => sum + part, 0);
  const cpuMilliseconds = cpuMicroseconds / 1000;
  return { length: text.length, milliseconds, cpuMilliseconds, parts, described: contender.describe() };
}

/**
 * The fastest of several rounds of each; fewer for a longer text. The rounds take turns, so that other work on the
 * machine slows down all alike.
 */
export function measureInTurns(text: string, creates: readonly (() => Contender)[]): Measurement[] {
  const rounds = text.length > 20 * million ? 1 : text.length > 2 * million ? 5 : 15;
  const measurements = Array.from({ length: rounds }, () => creates.map((create) => runOnce(text, create())));
  return creates.map((_, at) =>
    measurements
      .map((round) => round[at]!)
      .reduce((best, next) => (next.milliseconds < best.milliseconds ? next : best)),
  );
}

/** Something that takes the whole text at once; the fastest of three. */
export function measureWhole(text: string, run: (text: string) => string): Measurement {
  const measurements = Array.from({ length: 3 }, () => {
    const cpu = process.cpuUsage();
    const start = performance.now();
    const described = run(text);
    const milliseconds = performance.now() - start;
    const used = process.cpuUsage(cpu);
    const cpuMilliseconds = (used.user + used.system) / 1000;
    return { length: text.length, milliseconds, cpuMilliseconds, parts: [milliseconds], described };
  });
  return measurements.reduce((best, next) => (next.milliseconds < best.milliseconds ? next : best));
}

/**
 * Bytes of heap that a contender holds when it has taken the whole text. To be measured behind all times: a full
 * collection throws away code that was made for objects of which none lives.
 */
export function measureHeldBytes(text: string, create: () => Contender): number {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const contender = create();
  for (let at = 0; at < text.length; at += partLength) contender.prepare(text.slice(at, at + partLength))();
  collectGarbage();
  const held = process.memoryUsage().heapUsed - before;
  contender.describe();
  return held;
}

/** Millions of characters a second. */
export function toSpeed({ length, milliseconds }: Measurement): number {
  return length / 1000 / milliseconds;
}

/** Nanoseconds. */
export function toCpuPerDelta({ length, cpuMilliseconds }: Measurement): number {
  return (cpuMilliseconds * million) / (length / chunkLength);
}

/** Nanoseconds of a delta: the quarter of the parts that other work has slowed down least. */
export function toTypicalDelta({ parts }: Pick<Measurement, "parts">): number {
  return (toLowerQuartile(parts) * million) / (partLength / chunkLength);
}

/** The same of each tenth of the text. */
export function toTenths({ parts }: Measurement): number[] {
  const size = parts.length / 10;
  const tenths = Array.from({ length: 10 }, (_, at) => parts.slice(Math.floor(at * size), Math.floor((at + 1) * size)));
  return tenths.map((some) => toTypicalDelta({ parts: some }));
}

function toLowerQuartile(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0;
}
