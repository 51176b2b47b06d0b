/** Observes a running sandbox from outside: the reports of bubblewrap and the wrapper, and its use of the machine. */
import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { constants, totalmem } from "node:os";
import { toLine } from "@sheaf/base/files/read-folder";
import { waitAtMost } from "@sheaf/base/wait-at-most";
import type { MountTable } from "../hold/mount-table.ts";
import { type ProcessEntry, readProcess } from "./processes.ts";

export interface SandboxStatus {
  /** The sandbox's first process, once it exists; its parent is bubblewrap. */
  readonly findFirst: () => ProcessEntry | undefined;
  /** Known after the end, unless bubblewrap was killed, and only for a program that bubblewrap started. */
  readonly findExitCode: () => number | undefined;
  /** Returns the signal that ended the command's shell, if its exit code represents one. */
  readonly toSignal: (code: number) => NodeJS.Signals | undefined;
}

/** Descriptors of the child: bubblewrap's status, and the wrapper's stderr. */
export interface StatusDescriptors {
  readonly status: number;
  readonly notice: number;
}

const maxLength = 4096;

/** Reads both as they arrive: from bubblewrap one JSON object a line, from the wrapper the messages of its shell. */
export function followStatus(child: ChildProcess, descriptors: StatusDescriptors): SandboxStatus {
  let first: ProcessEntry | undefined;
  let status = "";
  let notice = "";
  readStream(child.stdio[descriptors.status], (chunk) => {
    status = append(status, chunk);
    const [, pid] = /"child-pid": (\d+)/.exec(status) ?? [];
    if (pid !== undefined) first ??= readProcess(Number(pid));
  });
  readStream(child.stdio[descriptors.notice], (chunk) => {
    notice = append(notice, chunk);
  });
  return {
    findFirst: () => first,
    findExitCode() {
      const [, code] = /"exit-code": (\d+)/.exec(status) ?? [];
      return code === undefined ? undefined : Number(code);
    },
    // The shell reports there that a signal ended the program it ran.
    toSignal: (code) => (notice === "" ? undefined : findSignal(code - 128)),
  };
}

function readStream(stream: ChildProcess["stdio"][number], onChunk: (chunk: Uint8Array) => void): void {
  stream?.on("error", () => undefined);
  stream?.on("data", onChunk);
}

/** Reads only the first few thousand characters. */
function append(text: string, chunk: Uint8Array): string {
  return text.length > maxLength ? text : text + Buffer.from(chunk).toString("latin1");
}

export function findSignal(number: number): NodeJS.Signals | undefined {
  const names = Object.keys(constants.signals) as NodeJS.Signals[];
  return names.find((name) => constants.signals[name] === number);
}

export interface UseLimits {
  readonly processes: number;
  /** Memory of all processes together, without pages of files. */
  readonly memoryBytes: number;
  readonly disk: DiskLimits;
}

/** The space that a command must leave free on each disk that it can write to: the smallest of these. */
interface DiskLimits {
  readonly bytes: number;
  /** Part of the disk's size. */
  readonly ofSize: number;
  /** Part of the space that was free when the command started, so that a command has room even on a full disk. */
  readonly ofFirst: number;
}

export const defaultUseLimits: UseLimits = {
  processes: 1024,
  memoryBytes: Math.round(totalmem() * 0.75),
  disk: { bytes: 1024 ** 3, ofSize: 0.05, ofFirst: 0.5 },
};

/** Milliseconds between two looks. */
const period = 100;
/** Milliseconds for the first look at the disks: one of the network may never answer. */
const firstPeriod = 1000;

/**
 * Limits the processes, the memory (S-30) and the disk space (S-90) of one sandbox. It looks a few times a second and
 * ends the whole sandbox, since limits of the kernel apply to a single process, or need rights that users seldom have.
 * `table` lists the sandbox's mounts. Calls `onExcess` once, with a sentence.
 *
 * Resolves after the first look at the disks, before which the command must not start. The returned function ends the
 * watch.
 */
export async function watchUse(
  findFirst: () => ProcessEntry | undefined,
  table: MountTable,
  limits: UseLimits,
  onExcess: (sentence: string) => void,
): Promise<() => void> {
  const disks = createDiskWatch(table, limits.disk);
  let isOver = false;
  const report = (sentence: string | undefined): void => {
    if (sentence === undefined || isOver) return;
    isOver = true;
    onExcess(sentence);
  };
  const look = (): void => {
    if (isOver) return;
    const first = findFirst();
    timer = setTimeout(look, period);
    if (!first) return;
    void disks.look(first.pid).then(report);
    report(findExcess(first.pid, limits));
  };
  const first = findFirst();
  if (first) await waitAtMost(disks.look(first.pid), firstPeriod);
  let timer = setTimeout(look, period);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Room on a disk, of bytes or of files. */
interface Room {
  readonly free: number;
  readonly size: number;
  /** The highest space that has to be left. */
  readonly most: number;
}

/** Watches the disks that a sandbox can write to. A network disk may never answer: then no further look starts. */
function createDiskWatch(table: MountTable, limits: DiskLimits) {
  const disks = [...listWritableDisks(table)];
  /** Space that was free at the first look, by room. */
  const firsts = new Map<string, number>();
  let isLooking = false;
  const isFull = (name: string, { free, size, most }: Room): boolean => {
    const first = firsts.get(name) ?? free;
    firsts.set(name, first);
    return free < Math.min(most, size * limits.ofSize, first * limits.ofFirst);
  };
  const findFull = async (pid: number): Promise<string | undefined> => {
    const full = disks.map(async ([disk, path]) => {
      // The sandbox may have ended already.
      const rooms = await readRooms(`/proc/${pid}/root${path}`, limits.bytes).catch(() => []);
      return rooms.some((room, index) => isFull(`${disk} ${index}`, room)) ? path : undefined;
    });
    return (await Promise.all(full)).find((path) => path !== undefined);
  };
  return {
    /** Returns a sentence if a disk has less free space than the limit. */
    async look(pid: number): Promise<string | undefined> {
      if (isLooking) return undefined;
      isLooking = true;
      const path = await findFull(pid);
      isLooking = false;
      return path === undefined ? undefined : `The command was ended: the disk of ${toLine(path)} is almost full.`;
    },
  };
}

/** Returns an empty list for a file system without a size, such as /proc. Some file systems do not count files. */
async function readRooms(path: string, mostBytes: number): Promise<Room[]> {
  const { bavail, blocks, bsize, ffree, files } = await statfs(path);
  const rooms = [
    { free: bavail * bsize, size: blocks * bsize, most: mostBytes },
    { free: ffree, size: files, most: files },
  ];
  return rooms.filter(({ size }) => size > 0);
}

/** Maps each disk that is mounted writable to a place on it. */
function listWritableDisks(table: MountTable): ReadonlyMap<string, string> {
  const mounts = [...table].flatMap(([place, entries]) => entries.map((entry) => ({ place, ...entry })));
  return new Map(mounts.filter(({ isWritable }) => isWritable).map(({ device, place }) => [device, place]));
}

function findExcess(first: number, limits: UseLimits): string | undefined {
  // The sandbox lists its processes alone. Until it has its own /proc, the machine's lists this process as well.
  const view = `/proc/${first}/root/proc`;
  if (existsSync(`${view}/self/stat`)) return undefined;
  const pids = listProcesses(view);
  if (pids.length > limits.processes) {
    return `The command was ended: it had more than ${limits.processes} processes.`;
  }
  const bytes = pids.reduce((sum, pid) => sum + readOwnBytes(`${view}/${pid}/status`), 0);
  if (bytes <= limits.memoryBytes) return undefined;
  return `The command was ended: it used more than ${Math.round(limits.memoryBytes / 1024 / 1024)} MiB of memory.`;
}

function listProcesses(view: string): string[] {
  try {
    return readdirSync(view).filter((name) => /^\d+$/.test(name));
  } catch {
    // The sandbox has ended in between.
    return [];
  }
}

/** Reads the memory of a process, without pages of files. */
function readOwnBytes(file: string): number {
  try {
    const fields = readFileSync(file, "latin1").matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm);
    return [...fields].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
  } catch {
    return 0;
  }
}
