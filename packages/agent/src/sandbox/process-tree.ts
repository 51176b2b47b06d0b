/** Ending a command with all its processes, also those that left its group. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { markerName } from "./environment.ts";

/** What tells the processes of one command from all others. */
export interface ProcessTree {
  /** Process that was started; leader of its own group and session. */
  readonly leader: number;
  /** Value of the marker in the environment of every process of the command. */
  readonly marker: string;
}

/** One process, as `/proc` shows it. */
interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
}

/** Milliseconds between SIGTERM and SIGKILL. */
const gracePeriod = 2000;
/** Milliseconds in which SIGKILL is repeated: a process that forks without end makes new ones meanwhile. */
const killPeriod = 2000;
const pollInterval = 25;

/**
 * Ends the tree: SIGTERM, after two seconds SIGKILL. Resolves when nothing of it is left, or after four seconds.
 * A process that is found by none of group, session, descent and marker (`env -i setsid` twice) needs the sandbox.
 */
export async function endProcessTree(tree: ProcessTree): Promise<void> {
  if (signalTree(tree, "SIGTERM") === 0) return;
  if (await pollUntilGone(tree, gracePeriod, "SIGCONT")) return;
  signalTree(tree, "SIGKILL");
  await pollUntilGone(tree, killPeriod, "SIGKILL");
}

/** Processes of the tree that are alive. Only Linux shows them all; elsewhere it is the group. */
export function findProcesses(tree: ProcessTree): number[] {
  if (process.platform !== "linux") return isGroupAlive(tree.leader) ? [-tree.leader] : [];
  const entries = readProcesses();
  const found = new Set(entries.filter((entry) => isOwn(entry, tree)).map(({ pid }) => pid));
  // Children of what was found, until no more come: a child may have left the session and cleared its environment.
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const { pid, parent } of entries) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

/** How many got the signal. */
function signalTree(tree: ProcessTree, signal: NodeJS.Signals): number {
  const found = findProcesses(tree);
  for (const pid of found) sendSignal(pid, signal);
  return found.length;
}

/** Whether all are gone in time; until then each one that is left gets `signal`. */
async function pollUntilGone(tree: ProcessTree, period: number, signal: NodeJS.Signals): Promise<boolean> {
  for (let waited = 0; waited < period; waited += pollInterval) {
    if (signalTree(tree, signal) === 0) return true;
    await wait(pollInterval);
  }
  return findProcesses(tree).length === 0;
}

function isOwn({ pid, session }: ProcessEntry, { leader, marker }: ProcessTree): boolean {
  if (session === leader) return true;
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    return variables.includes(`${markerName}=${marker}`);
  } catch {
    return false;
  }
}

/** Every process but the dead ones that nobody has waited for yet. */
function readProcesses(): ProcessEntry[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const entry = readProcess(Number(name));
      return entry ? [entry] : [];
    });
}

function readProcess(pid: number): ProcessEntry | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name stands in brackets and may hold any character; behind it: state, parent, group, session.
    const [state = "", parent = "", , session = ""] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return "ZXx".includes(state) ? undefined : { pid, parent: Number(parent), session: Number(session) };
  } catch {
    return undefined;
  }
}

function isGroupAlive(leader: number): boolean {
  return sendSignal(-leader, 0);
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
