/** Descriptors that Sheaf got from whoever started it and would hand on: through one, a command could leave its sandbox. */
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";

/** O_CLOEXEC of `/proc/PID/fdinfo`, octal 02000000. */
const closeOnExec = 0o2000000;

/** What a new process gets instead, from the descriptor behind `last` on; "ignore" where it would inherit nothing. */
export interface BlockedDescriptors {
  readonly descriptors: readonly (number | "ignore")[];
  close(): void;
}

/**
 * Puts /dev/null in the place of every descriptor above `last` that would be inherited; most often there is none. Only
 * there: each descriptor that a command has makes its start slower, and some programs hand on a very high one.
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
    // Closed meanwhile: the listing itself has one.
    return false;
  }
}
