/** Who holds a lease: this process, by a name that others can see die. */
import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface LeaseHolder {
  readonly name: string;
  /** Whether another holder's process is certainly gone. False where that cannot be seen from here. */
  isGone(name: string): boolean;
}

/** The parts of a name: machine and process namespace, process, moment of its start, and which store in it. */
const NAME = /^(.*)\|(\d+)\|(\d*)\|([^|]+)$/s;

/** Each store has its own: two in one process are two writers. */
export function createLeaseHolder(): LeaseHolder {
  const place = `${hostname()} ${readNamespace()}`;
  return {
    name: `${place}|${process.pid}|${readStart(process.pid)}|${randomUUID()}`,
    isGone(name) {
      const [, otherPlace, otherPid = "", otherStart] = NAME.exec(name) ?? [];
      if (otherPlace !== place) return false;
      const processId = Number(otherPid);
      if (!isAlive(processId)) return true;
      // The number of a dead process is given out again.
      return otherStart !== "" && otherStart !== readStart(processId);
    },
  };
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // Somebody else's process is there, too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Process numbers mean something within their namespace only. */
function readNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** When a process began, in ticks since the machine did; "" where that cannot be seen. */
function readStart(processId: number): string {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, "latin1");
    // The name of the program, in brackets, may hold anything.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
