/** Numbers of processes: which are alive, and where they count. */
import { readlinkSync } from "node:fs";

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
