/** Keeps descriptors that Sheaf inherited from its commands. */
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";

/** O_CLOEXEC of `/proc/PID/fdinfo`, octal 02000000. */
const closeOnExec = 0o2000000;

/** Replacements for inherited descriptors, starting after `last`; "ignore" for each number without one. */
export interface BlockedDescriptors {
  readonly descriptors: readonly (number | "ignore")[];
  close(): void;
}

/**
 * Replaces every inheritable descriptor above `last` by /dev/null, because a command could leave its sandbox through
 * it. Usually no such descriptor exists. The other numbers stay closed, since each open one slows a start and some
 * programs pass on a very high one.
 */
export function blockInherited(last: number): BlockedDescriptors {
  const inherited = new Set(readdirSync("/proc/self/fd").map(Number).filter(isInherited));
  const highest = Math.max(...inherited);
  if (highest <= last) return { descriptors: [], close: () => undefined };
  const empty = openSync("/dev/null", "r");
  return {
    descriptors: Array.from({ length: highest - last }, (_, index) =>
      inherited.has(last + 1 + index) ? empty : "ignore",
    ),
    close: () => closeSync(empty),
  };
}

function isInherited(descriptor: number): boolean {
  try {
    const [, flags = "0"] = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? [];
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The descriptor is closed already: the listing itself opens one.
    return false;
  }
}
