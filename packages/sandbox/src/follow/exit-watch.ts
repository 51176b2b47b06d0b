/**
 * Ends the commands of a process that exits while they run: a second Ctrl-C, a crash (S-253). All of it is synchronous.
 */
import type { ChildProcess } from "node:child_process";
import { readProcess, readProcesses, sendSignal } from "./processes.ts";

export interface ExitWatch {
  /** Calls `takeNotes` once, after the end of all processes. At the usual end, call the returned function instead. */
  watch(child: ChildProcess, takeNotes: () => string[]): () => readonly string[];
  close(): void;
}

/** Milliseconds for all commands together: a person who presses Ctrl-C twice is in a hurry. */
const period = 2000;

export function createExitWatch(atExit: ((end: () => void) => () => void) | undefined): ExitWatch {
  const running = new Map<ChildProcess, () => string[]>();
  const endAll = (): void => {
    const processes = [...running.keys()].flatMap(({ pid }) => (pid === undefined ? [] : killGroup(pid)));
    waitForEnd(processes);
    for (const takeNotes of running.values()) takeNotes();
  };
  let forget: (() => void) | undefined;
  return {
    watch(child, takeNotes) {
      forget ??= atExit?.(endAll);
      const takeOnce = (): string[] => (running.delete(child) ? takeNotes() : []);
      running.set(child, takeOnce);
      return takeOnce;
    },
    close: () => forget?.(),
  };
}

/** Kills the process and its children: the first process of a sandbox ends all others in it. */
function killGroup(pid: number): number[] {
  const children = readProcesses().filter(({ parent }) => parent === pid);
  const pids = [pid, ...children.map((child) => child.pid)];
  sendSignal(-pid, "SIGKILL");
  for (const each of pids) sendSignal(each, "SIGKILL");
  return pids;
}

function waitForEnd(pids: readonly number[]): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const deadline = performance.now() + period;
  const isAlive = (pid: number): boolean => readProcess(pid)?.isDead === false;
  while (pids.some(isAlive) && performance.now() < deadline) Atomics.wait(pause, 0, 0, 5);
}
