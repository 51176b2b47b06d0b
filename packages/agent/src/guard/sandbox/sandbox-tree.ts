/** Ending all that runs in one sandbox: its first process takes all others with it. */
import { setTimeout as wait } from "node:timers/promises";
import { type ProcessEntry, readProcess, readProcesses, sendSignal } from "./process-table.ts";
import type { ProcessTree } from "./process-tree.ts";
import type { StartedProcess } from "./started-process.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
const gracePeriod = 2000;
/** Milliseconds in which the kernel has ended a sandbox. */
const killPeriod = 2000;
/** Between two looks, at most: most often the kernel is done at once, or a millisecond later. */
const pollInterval = 10;

/** `bubblewrap` is its process; every other process of the sandbox descends from its first one. */
export function createSandboxTree(bubblewrap: StartedProcess, findFirst: () => ProcessEntry | undefined): ProcessTree {
  let ending: Promise<void> | undefined;
  return { end: () => (ending ??= endSandbox(bubblewrap, findFirst)) };
}

async function endSandbox(bubblewrap: StartedProcess, findFirst: () => ProcessEntry | undefined): Promise<void> {
  const signalAll = createSignaller();
  const isEnded = (): boolean => {
    if (!bubblewrap.isRunning()) return true;
    signalAll(findBelow(findFirst()));
    return false;
  };
  // The first process ends with bubblewrap, and with it all others.
  if (!(await pollUntil(isEnded, gracePeriod))) bubblewrap.kill();
  await pollUntil(() => !bubblewrap.isRunning() && isGone(findFirst()), killPeriod);
}

/**
 * Asks all to end, once: what a command starts to clean up behind itself may do its work. At first there may be nobody
 * yet, or only the wrapper, whose command then comes late.
 */
function createSignaller(): (entries: readonly ProcessEntry[]) => void {
  const signalled = new Set<number>();
  let wrappers: ReadonlySet<number> | undefined;
  return (entries) => {
    const isFirstTime = wrappers === undefined && entries.length > 0;
    const own = new Set(entries.map(({ pid }) => pid));
    if (isFirstTime) wrappers = new Set(entries.filter(({ parent }) => !own.has(parent)).map(({ pid }) => pid));
    for (const { pid, parent } of entries) {
      if (signalled.has(pid) || !(isFirstTime || wrappers?.has(parent))) continue;
      if (sendSignal(pid, "SIGTERM")) signalled.add(pid);
    }
  };
}

function isGone(first: ProcessEntry | undefined): boolean {
  const entry = first && readProcess(first.pid);
  return !entry || entry.isDead || entry.start !== first.start;
}

/** All that descends from a process, without itself. */
function findBelow(first: ProcessEntry | undefined): ProcessEntry[] {
  if (!first) return [];
  const entries = readProcesses();
  const found = new Set([first.pid]);
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const { pid, parent } of entries) if (found.has(parent)) found.add(pid);
  }
  return entries.filter(({ pid }) => pid !== first.pid && found.has(pid));
}

async function pollUntil(condition: () => boolean, period: number): Promise<boolean> {
  const deadline = performance.now() + period;
  for (let interval = 1; performance.now() < deadline; interval = Math.min(interval * 2, pollInterval)) {
    if (condition()) return true;
    await wait(interval);
  }
  return condition();
}
