/** Who holds a lease: this process, by a name that others can see die. */
import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface LeaseHolder {
  /** The name for a lease that holds until then. Milliseconds by `readUptime`. */
  toName(until: number): string;
  /** What can be seen from here of the holder with that name; undefined: it is of another machine. */
  look(name: string): SeenHolder | undefined;
}

interface SeenHolder {
  /** Its process is certainly gone. */
  readonly isGone: boolean;
  /** As its name says; undefined: it does not. */
  readonly until: number | undefined;
}

/** The parts of a name: machine and process namespace, process, moment of its start, which store in it, and until when. */
const NAME = /^(.*)\|(\d+)\|(\d*)\|[^|@]+(?:@(\d+))?$/s;

/** Milliseconds of a clock that all processes of this machine share, and that no change of its time moves. */
export function readUptime(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Each store has its own: two in one process are two writers. */
export function createLeaseHolder(): LeaseHolder {
  const place = `${hostname()} ${readNamespace()}`;
  const own = `${place}|${process.pid}|${readStart(process.pid)}|${randomUUID()}`;
  return {
    toName: (until) => `${own}@${until}`,
    look(name) {
      const [, otherPlace, processId, start, until] = NAME.exec(name) ?? [];
      if (otherPlace !== place) return undefined;
      return { isGone: isGone(Number(processId), start), until: until === undefined ? undefined : Number(until) };
    },
  };
}

function isGone(processId: number, start: string | undefined): boolean {
  // The number of a dead process is given out again.
  return !isAlive(processId) || (start !== "" && start !== readStart(processId));
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
