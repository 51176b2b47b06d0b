/** What bubblewrap and the wrapper tell of a command, outside of its reach. */
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { constants, totalmem } from "node:os";
import { type ProcessEntry, readProcess } from "./processes.ts";

export interface SandboxStatus {
  /** First process of the sandbox, once it is there; its parent is bubblewrap. */
  readonly findFirst: () => ProcessEntry | undefined;
  /** Known behind the end, if nobody killed bubblewrap: it tells an exit code only of a program that it started. */
  readonly findExitCode: () => number | undefined;
  /** The signal that ended the shell of the command, if its exit code stands for one. */
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

/** As far as it is worth reading. */
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

/** Milliseconds between two looks; short commands end before the first. */
const period = 100;

/** Calls `onExcess` once, with a sentence. Ends by the function that it gives. */
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
  // The sandbox's own view: it lists nothing but its processes.
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
    // It has ended meanwhile.
    return [];
  }
}

/** Memory that belongs to no file. */
function readOwnBytes(file: string): number {
  try {
    const fields = readFileSync(file, "latin1").matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm);
    return [...fields].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
  } catch {
    return 0;
  }
}
