/** Starts a thread of Sheaf. The only place that does, so that no thread loads a file that a command may have changed. */
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
