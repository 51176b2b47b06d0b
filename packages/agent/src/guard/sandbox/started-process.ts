/** A process that was started for a command. */
import type { ChildProcess } from "node:child_process";

/** One of both is null. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartedProcess {
  readonly child: ChildProcess;
  isRunning(): boolean;
  /** Rejects if it never started. */
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when it has ended and nobody holds its pipes any more. */
  readonly closed: Promise<unknown>;
  /** By SIGKILL. */
  kill(): void;
  /** Lets go of its pipes. */
  release(): void;
}

/** Right behind `spawn`. */
export function followChild(child: ChildProcess): StartedProcess {
  const end = Promise.withResolvers<ProcessEnd>();
  const close = Promise.withResolvers<void>();
  child.on("error", (error) => end.reject(error));
  child.once("exit", (code, signal) => end.resolve({ code, signal }));
  child.once("close", () => close.resolve());
  // Nobody may be waiting yet.
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
