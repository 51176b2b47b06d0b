/**
 * Holds the processes and the memory of one sandbox to a limit (S-30). It looks a few times a second and ends the sandbox
 * as a whole: limits of the kernel count a single process, or need rights that a user has seldom, and root has too many.
 */
import { readdirSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";
import type { ProcessEntry } from "./process-table.ts";

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
