/**
 * Starts Sheaf's threads and processes. No other file does, so that none loads a file that a command may have changed.
 */
import { type ChildProcess, fork } from "node:child_process";
import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts the file `name` next to the module with the URL `from`: a compiled file in the bundle, TypeScript in the
 * sources. NODE_OPTIONS can add files to load, so the environment of the thread is empty (S-224).
 */
export function startThread(
  from: string,
  name: string,
  options: Pick<WorkerOptions, "workerData" | "resourceLimits">,
): Worker {
  const isSource = from.endsWith(".ts");
  return new Worker(new URL(`./${name}.${isSource ? "ts" : "js"}`, from), {
    ...options,
    env: {},
    execArgv: isSource ? ["--conditions=sheaf-source"] : [],
  });
}

/**
 * Starts the file `name` as a process, as `startThread` does: a disk that blocks it blocks no other process. Messages
 * stay in order. Signals of the terminal do not reach it, and it ends once this process is gone.
 */
export function startProcess(from: string, name: string, environment: Readonly<Record<string, string>>): ChildProcess {
  const isSource = from.endsWith(".ts");
  return fork(new URL(`./${name}.${isSource ? "ts" : "js"}`, from), {
    env: { ...environment },
    execArgv: [
      ...process.execArgv.filter((word) => word.startsWith("--max-")),
      ...(isSource ? ["--conditions=sheaf-source"] : []),
    ],
    serialization: "advanced",
    detached: true,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}
