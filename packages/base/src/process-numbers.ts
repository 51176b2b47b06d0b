/** Numbers of processes: which are alive, and where they count. */
import { readFileSync, readlinkSync } from "node:fs";

export function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** They are unique only within their namespace. "" where there is none. */
export function readProcessNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** Ticks of `/proc` in a second, and nanoseconds in one. */
const ticks = 100n;
const second = 1_000_000_000n;

/**
 * The start of the first process of the namespace, after that of the machine: nanoseconds since 1970. Whatever ran before it
 * has ended. Undefined where `/proc` does not show it.
 */
export function readFirstStart(): bigint | undefined {
  try {
    const boot = /^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1];
    const stat = readFileSync("/proc/1/stat", "utf8");
    const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return boot && start ? BigInt(boot) * second + (BigInt(start) * second) / ticks : undefined;
  } catch {
    return undefined;
  }
}
