/** Ends a command with all its processes, even if they have left its group. */
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { markerName } from "../environment.ts";
import {
  type ProcessEntry,
  readProcess,
  readProcesses,
  readUse,
  sendSignal,
  type StartedProcess,
} from "./processes.ts";

/** All processes of one command. */
export interface ProcessTree {
  /**
   * Ends all processes: SIGTERM, and SIGKILL after two seconds. Resolves when all have ended, or after four seconds. A
   * second call waits for the first. Without a sandbox, it misses a process that left its session and parents and
   * cleared its environment.
   */
  end(): Promise<void>;
  /** Returns their use of the machine; undefined if the system does not show it. */
  look(): ReturnType<typeof readUse> | undefined;
}

/** Milliseconds between SIGTERM and SIGKILL. */
const gracePeriod = 2000;
/** Milliseconds in which SIGKILL is repeated: a process may keep forking. */
const killPeriod = 2000;
const maxFreezeRounds = 20;

/** `leader` is the first process of the command's group and session. All its processes have the `marker`. */
export function createProcessTree(leader: number, marker: string): ProcessTree {
  const find = process.platform === "linux" ? createFinder(leader, marker) : () => findGroup(leader);
  let ending: Promise<void> | undefined;
  return {
    end: () => (ending ??= endProcesses(find)),
    look: () => (process.platform === "linux" ? readUse(find()) : undefined),
  };
}

async function endProcesses(find: () => readonly number[]): Promise<void> {
  if (!freeze(find)) return;
  signalAll(find(), "SIGTERM");
  /** Sends the signal to each remaining process. */
  const areGone = (signal: NodeJS.Signals) => (): boolean => {
    const found = find();
    signalAll(found, signal);
    return found.length === 0;
  };
  if (await pollUntil(areGone("SIGCONT"), gracePeriod)) return;
  await pollUntil(areGone("SIGKILL"), killPeriod);
}

/**
 * Stops all processes, so that none can fork: an unseen child could escape when its parent ends. Returns after a round
 * that finds no new process; false if it found no process at all.
 */
function freeze(find: () => readonly number[]): boolean {
  let known = 0;
  for (let round = 0; round < maxFreezeRounds; round += 1) {
    const found = find();
    if (found.length === known) break;
    known = found.length;
    signalAll(found, "SIGSTOP");
  }
  return known > 0;
}

function signalAll(processes: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of processes) sendSignal(pid, signal);
}

/** Finds living processes by session, marker and descent, and the living ones of earlier searches. */
function createFinder(leader: number, marker: string): () => readonly number[] {
  // Processes of the command, then all others, by number and start time. No other process becomes the command's later,
  // since a process has the marker from its start or never.
  const known = new Set<string>();
  const since = readProcess(leader)?.start ?? 0;
  const foreign = new Set<string>();
  return () => {
    const entries = readProcesses();
    const found = new Set<number>();
    for (const entry of entries) {
      const key = toKey(entry);
      const isCandidate = entry.start >= since && !foreign.has(key);
      if (known.has(key) || (isCandidate && isOwn(entry, leader, marker))) found.add(entry.pid);
      else foreign.add(key);
    }
    // A child may have left the session and cleared its environment.
    addDescendants(found, entries);
    for (const entry of entries) if (found.has(entry.pid)) known.add(toKey(entry));
    return [...found];
  };
}

function addDescendants(found: Set<number>, entries: readonly ProcessEntry[]): void {
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const { pid, parent } of entries) if (found.has(parent)) found.add(pid);
  }
}

function toKey({ pid, start }: ProcessEntry): string {
  return `${pid} ${start}`;
}

function isOwn({ pid, session }: ProcessEntry, leader: number, marker: string): boolean {
  if (session === leader) return true;
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    return variables.includes(`${markerName}=${marker}`);
  } catch {
    return false;
  }
}

/** Returns the group, since it is all that can be found without `/proc`. */
function findGroup(leader: number): readonly number[] {
  return sendSignal(-leader, 0) ? [-leader] : [];
}

/**
 * Most milliseconds between two looks: the kernel usually needs less than one, and a look costs 2 ms of the processor.
 */
const maxPollInterval = 100;

/** All processes in a sandbox. Its first process ends with bubblewrap, and the others end with the first. */
export function createSandboxTree(bubblewrap: StartedProcess, findFirst: () => ProcessEntry | undefined): ProcessTree {
  let ending: Promise<void> | undefined;
  return {
    end: () => (ending ??= endSandbox(bubblewrap, findFirst)),
    look: () => readUse(findBelow(findFirst()).map(({ pid }) => pid)),
  };
}

async function endSandbox(bubblewrap: StartedProcess, findFirst: () => ProcessEntry | undefined): Promise<void> {
  const askToEnd = createSignaller();
  const isEnded = (): boolean => {
    if (!bubblewrap.isRunning()) return true;
    askToEnd(findBelow(findFirst()));
    return false;
  };
  // The rest ends with bubblewrap.
  if (!(await pollUntil(isEnded, gracePeriod))) bubblewrap.kill();
  await pollUntil(() => !bubblewrap.isRunning() && isGone(findFirst()), killPeriod);
}

/**
 * Sends SIGTERM to each process once, so that programs started for cleaning up may finish. At first the sandbox may be
 * empty, or contain only the wrapper, whose command comes late.
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

/** The descendants of a process. */
function findBelow(first: ProcessEntry | undefined): ProcessEntry[] {
  if (!first) return [];
  const entries = readProcesses();
  const found = new Set([first.pid]);
  addDescendants(found, entries);
  return entries.filter(({ pid }) => pid !== first.pid && found.has(pid));
}

async function pollUntil(condition: () => boolean, period: number): Promise<boolean> {
  const deadline = performance.now() + period;
  for (let interval = 1; performance.now() < deadline; interval = Math.min(interval * 2, maxPollInterval)) {
    if (condition()) return true;
    await wait(interval);
  }
  return condition();
}
