/** What can be seen of a running sandbox from outside: what bubblewrap and the wrapper report, and what it uses. */
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { constants, totalmem } from "node:os";
import { type ProcessEntry, readProcess } from "./processes.ts";

export interface SandboxStatus {
  /** The sandbox's first process, once it exists; its parent is bubblewrap. */
  readonly findFirst: () => ProcessEntry | undefined;
  /** Known after the end, unless bubblewrap was killed. It reports an exit code only for a program that it started. */
  readonly findExitCode: () => number | undefined;
  /** The signal that ended the command's shell, if its exit code represents one. */
  readonly toSignal: (code: number) => NodeJS.Signals | undefined;
}

/** Descriptors of the child: status of bubblewrap, stderr of the wrapper. */
export interface StatusDescriptors {
  readonly status: number;
  readonly notice: number;
}

const maxLength = 4096;

/** Reads both as they come: from bubblewrap one JSON object a line, from the wrapper what its shell prints. */
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
    // A shell reports there when a signal ended what it ran.
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

function findSignal(number: number): NodeJS.Signals | undefined {
  const names = Object.keys(constants.signals) as NodeJS.Signals[];
  return names.find((name) => constants.signals[name] === number);
}

export interface UseLimits {
  readonly processes: number;
  /** Of all processes together, without pages of files. */
  readonly memoryBytes: number;
}

export const defaultUseLimits: UseLimits = { processes: 1024, memoryBytes: Math.round(totalmem() * 0.75) };

/** Milliseconds between two looks. */
const period = 100;

/**
 * Limits the processes and the memory of one sandbox (S-30). It looks a few times a second and ends the sandbox as a whole:
 * limits of the kernel apply to a single process, or need rights that users seldom have. Calls `onExcess` once, with a
 * sentence. The returned function ends the watch.
 */
export function watchUse(
  findFirst: () => ProcessEntry | undefined,
  limits: UseLimits,
  onExcess: (sentence: string) => void,
): () => void {
  const timer = setInterval(() => {
    const first = findFirst();
    const sentence = first && findExcess(first.pid, limits);
    if (sentence === undefined) return;
    clearInterval(timer);
    onExcess(sentence);
  }, period);
  return () => clearInterval(timer);
}

function findExcess(first: number, limits: UseLimits): string | undefined {
  // The sandbox's view lists only its own processes.
  const view = `/proc/${first}/root/proc`;
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
    // The sandbox has ended meanwhile.
    return [];
  }
}

/** Memory without pages of files. */
function readOwnBytes(file: string): number {
  try {
    const fields = readFileSync(file, "latin1").matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm);
    return [...fields].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
  } catch {
    return 0;
  }
}
