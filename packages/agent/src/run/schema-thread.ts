/** Applies users' JSON Schemas in a thread with a time limit: a pattern in such untrusted text may never end (S-89). */
import { once } from "node:events";
import { startThread } from "@sheaf/base/start-thread";

/** Time that one value may take, and the compiling of a schema. Milliseconds. */
const LIMIT_MS = 2000;

/** Memory of the thread. MiB. */
const LIMIT_MB = 256;

/** Longest part of a pattern in a message. Bytes. */
const SHOWN_BYTES = 200;

export interface SchemaRequest {
  /** JSON. */
  readonly schema: string;
  /** The value; undefined: only compile the schema. */
  readonly value?: readonly [unknown] | undefined;
}

/** Result of a schema for a value. */
export type SchemaVerdict =
  | { readonly kind: "fits" }
  /** `faults` describes the value's faults in one line that a model can act on. */
  | { readonly kind: "misfit"; readonly faults: string }
  /** The schema's own fault: `the schema <problem>`. */
  | { readonly kind: "unusable"; readonly problem: string };

/** The thread of one run. It starts when it is first needed, and again after a value made it end. */
export interface SchemaThread {
  /** Never rejects. An abort of the run ends the wait at once. */
  apply(request: SchemaRequest): Promise<SchemaVerdict>;
  close(): void;
}

/** A thread that has not started yet. `signal` is the run's. */
export function createSchemaThread(signal: AbortSignal): SchemaThread {
  const pattern = new Uint8Array(new SharedArrayBuffer(SHOWN_BYTES));
  let worker: ReturnType<typeof startThread> | undefined;
  let before: Promise<unknown> = Promise.resolve();

  const close = (): void => {
    void worker?.terminate();
    worker = undefined;
  };

  const ask = async (request: SchemaRequest): Promise<SchemaVerdict> => {
    let limit: AbortSignal | undefined;
    try {
      signal.throwIfAborted();
      if (!worker) {
        const started = await startWorker(pattern.buffer, signal);
        // Another one may have replaced it by then.
        started.once("exit", () => (worker = worker === started ? undefined : worker));
        worker = started;
      }
      worker.ref();
      worker.postMessage(request, []);
      limit = AbortSignal.timeout(LIMIT_MS);
      const [verdict] = (await once(worker, "message", { signal: AbortSignal.any([signal, limit]) })) as [
        SchemaVerdict,
      ];
      worker.unref();
      return verdict;
    } catch (error) {
      const shown = new TextDecoder().decode(pattern.slice()).replace(/\0+$/, "");
      close();
      pattern.fill(0);
      if (signal.aborted) return { kind: "unusable", problem: "was not applied: the run has ended" };
      if (limit?.aborted) return { kind: "unusable", problem: formatLate(shown) };
      return toFailure(error);
    }
  };

  return {
    apply(request) {
      const verdict = before.then(() => ask(request));
      before = verdict;
      return verdict;
    },
    close,
  };
}

/** Resolves once the thread takes requests, so that the time limit excludes its start. */
async function startWorker(pattern: SharedArrayBuffer, signal: AbortSignal): Promise<ReturnType<typeof startThread>> {
  const worker = startThread(import.meta.url, "schema-worker", {
    workerData: pattern,
    resourceLimits: { maxOldGenerationSizeMb: LIMIT_MB },
  });
  // An error ends the thread and rejects what waits for it.
  worker.on("error", () => undefined);
  try {
    await once(worker, "message", { signal });
    return worker;
  } catch (error) {
    void worker.terminate();
    throw error;
  }
}

function formatLate(pattern: string): string {
  const limit = `takes longer than ${LIMIT_MS / 1000} s to apply`;
  return pattern === "" ? `${limit}: simplify it` : `${limit}, in the pattern ${JSON.stringify(pattern)}: simplify it`;
}

function toFailure(error: unknown): SchemaVerdict {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ERR_WORKER_OUT_OF_MEMORY") {
    return { kind: "unusable", problem: `needs more than ${LIMIT_MB} MiB of memory: make it smaller` };
  }
  // The value could not be passed to the thread.
  if (error instanceof RangeError) return { kind: "misfit", faults: "the value is nested too deeply" };
  return { kind: "unusable", problem: `cannot be applied: ${message}` };
}
