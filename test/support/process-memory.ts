/** Memory of a process that runs, as the kernel counts it. Linux only. */
import { readFileSync } from "node:fs";

/** Resident memory now. Bytes; throws when the process is gone. */
export function readMemory(pid: number): number {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

interface MemoryWatch {
  /** Highest resident memory that was seen. Bytes. */
  readonly highest: () => number;
  readonly stop: () => void;
}

/** Looks at the memory of a process until it is gone. */
export function watchMemory(pid: number, everyMs: number): MemoryWatch {
  let highest = 0;
  const timer = setInterval(() => {
    try {
      highest = Math.max(highest, readMemory(pid));
    } catch {
      clearInterval(timer);
    }
  }, everyMs);
  return { highest: () => highest, stop: () => clearInterval(timer) };
}
