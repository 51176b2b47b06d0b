/** What `/proc` tells of processes. */
import { readdirSync, readFileSync } from "node:fs";

/** One process. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Ticks since the machine started; tells a process from a later one with the same number. */
  readonly start: number;
  /** It has ended, and nobody has waited for it yet. */
  readonly isDead: boolean;
}

/** Every process that is alive. */
export function readProcesses(): ProcessEntry[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const entry = readProcess(Number(name));
      return entry && !entry.isDead ? [entry] : [];
    });
}

/** One of them; undefined if there is none. */
export function readProcess(pid: number): ProcessEntry | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name stands in brackets and may hold any character. Behind it: state, parent, group, session, …, start.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "", parent = "", , session = ""] = fields;
    return {
      pid,
      parent: Number(parent),
      session: Number(session),
      start: Number(fields[19]),
      isDead: "ZXx".includes(state),
    };
  } catch {
    return undefined;
  }
}

/** Sends a signal; false if it could not be sent. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
