/** Starts threads and processes of Sheaf. The only place that does, so that none loads a file that a command may have changed. */
import { type ChildProcess, fork } from "node:child_process";
import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts the file `name` beside the module with the URL `from`: in the bundle a compiled file of the same folder, in the
 * sources TypeScript. NODE_OPTIONS can name files to load, so the environment of the thread is empty (S-224).
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
 * Starts the file `name` like `startThread`, as a process: what its disk holds holds no other one. Messages keep their
 * order. Signals of the terminal do not reach it, and it ends once this process is gone.
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
