/** Finds out if a process is alive, and where its number is valid. */
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

/** Returns this process's namespace, in which process numbers are unique; "" on systems without one. */
export function readProcessNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** Ticks of `/proc` in a second, and nanoseconds in a second. */
const ticks = 100n;
const second = 1_000_000_000n;

/**
 * Returns the start of the namespace's first process, which is later than the machine's, in nanoseconds since 1970. All
 * earlier processes have ended. Undefined if `/proc` does not show it.
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

/** Returns the processor time that the first thread of a process has used, as `/proc` shows it; "" without `/proc`. */
export function readThreadTime(processId = 0): string {
  try {
    const stat = readFileSync(`/proc/${processId}/task/${processId}/stat`, "utf8");
    return stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ", 13)
      .slice(11)
      .join(" ");
  } catch {
    return "";
  }
}
