/** The process of a command, and the process table of `/proc`. */
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Readable } from "node:stream";

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Ticks since the machine started. They distinguish processes that had the same number. */
  readonly start: number;
  /** True if it has ended, and its parent has not waited for it yet. */
  readonly isDead: boolean;
  /** Ticks of processor time, with its children that have ended. */
  readonly used: number;
}

export function readProcesses(): ProcessEntry[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const entry = readProcess(Number(name));
      return entry && !entry.isDead ? [entry] : [];
    });
}

/** Reads a process of `/proc`; undefined if it does not exist. */
export function readProcess(pid: number): ProcessEntry | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name is in brackets and may contain any character. After it: state, parent, group, session, …, start.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "", parent = "", , session = ""] = fields;
    return {
      pid,
      parent: Number(parent),
      session: Number(session),
      start: Number(fields[19]),
      isDead: "ZXx".includes(state),
      used: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0),
    };
  } catch {
    return undefined;
  }
}

/** The use of the machine by some processes. */
export interface ProcessUse {
  /** Ticks of processor time, usually 100 a second. */
  readonly used: number;
  /** True if one of the processes waits for connections. */
  readonly listens: boolean;
}

export function readUse(pids: readonly number[]): ProcessUse {
  const sockets = new Set(pids.flatMap(listDescriptors));
  return {
    used: pids.reduce((sum, pid) => sum + (readProcess(pid)?.used ?? 0), 0),
    listens: pids.some((pid) => listListening(pid).some((socket) => sockets.has(socket))),
  };
}

/** The targets of a process's descriptors; an empty list if it is gone. */
function listDescriptors(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => readlinkSync(`/proc/${pid}/fd/${name}`));
  } catch {
    return [];
  }
}

/** Lists the sockets that wait for connections in a process's network, as descriptors name them; [] if it is gone. */
function listListening(pid: number): string[] {
  try {
    const tables = ["tcp", "tcp6"].map((name) => readFileSync(`/proc/${pid}/net/${name}`, "latin1"));
    // The fourth column is the state, the tenth the number of the socket.
    return [...tables.join("").matchAll(/^ *\d+:(?: \S+){2} 0A(?: +\S+){5} +(\d+)/gm)].map(
      ([, id]) => `socket:[${id}]`,
    );
  } catch {
    return [];
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

/** Returns descriptor 0 of a command, for `stdio`. */
export function toInputStdio(input: unknown): "ignore" | "pipe" {
  return input === undefined ? "ignore" : "pipe";
}

/** Writes the input right after `spawn`. A command may end without reading it. */
export function writeInput({ stdin }: ChildProcess, input: string | Readable | undefined): void {
  stdin?.on("error", () => undefined);
  if (stdin && typeof input === "object") input.pipe(stdin);
  else stdin?.end(input);
}

/** Exit code or signal of a process; one of both is null. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartedProcess {
  readonly child: ChildProcess;
  isRunning(): boolean;
  /** Resolves when the process has ended; rejects if it never started. */
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when the process has ended and its pipes are closed. */
  readonly closed: Promise<unknown>;
  /** Sends SIGKILL. */
  kill(): void;
  /** Closes its pipes. */
  release(): void;
}

/** Follows a child; must be called right after `spawn`. */
export function followChild(child: ChildProcess): StartedProcess {
  const end = Promise.withResolvers<ProcessEnd>();
  const close = Promise.withResolvers<void>();
  child.on("error", (error) => end.reject(error));
  child.once("exit", (code, signal) => end.resolve({ code, signal }));
  child.once("close", () => close.resolve());
  // The rejection may come too early for any listener.
  end.promise.catch(() => undefined);
  return {
    child,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    ended: end.promise,
    closed: close.promise,
    kill: () => void child.kill("SIGKILL"),
    release() {
      for (const stream of child.stdio) stream?.destroy();
    },
  };
}
