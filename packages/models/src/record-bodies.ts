/** Stores the bytes of a provider's answers, each in a separate file, to debug a decoder (C164). */
import { closeSync, existsSync, openSync, statSync, writeSync } from "node:fs";
import { SheafError } from "@sheaf/base/errors";
import type { BodyTap, Model } from "./provider.ts";

/**
 * Returns the model with a recorder. It writes each answer to the first of `file`, `file.2`, `file.3` … that does not
 * exist. It creates the first answer's file at once, so that a bad name fails before the run. `abort` ends a run whose
 * answer cannot be written.
 * @throws SheafError USAGE or STORAGE_FULL if that file cannot be created.
 */
export function recordBodies(model: Model, file: string, abort: (reason: SheafError) => void): Model {
  let count = 0;
  const openNext = (): number => {
    let name: string;
    do {
      count += 1;
      name = count === 1 ? file : `${file}.${count}`;
    } while (existsSync(name));
    return openSync(name, "wx", 0o600);
  };
  let next: number | undefined;
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) throw new Error("not a file");
    next = openNext();
  } catch (error) {
    throw toFault(file, error);
  }

  /** Creates a tap that writes each answer to a request: a try that broke off has a separate file. */
  const createFileTap = (outer: BodyTap | undefined): BodyTap & { close(): void } => {
    let descriptor: number | undefined;
    const close = (): void => {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    };
    const orAbort = (write: () => void): void => {
      try {
        write();
      } catch (error) {
        close();
        abort(toFault(file, error));
      }
    };
    return {
      begin(answer) {
        outer?.begin(answer);
        close();
        orAbort(() => {
          descriptor = next ?? openNext();
          next = undefined;
        });
      },
      push(bytes) {
        outer?.push(bytes);
        const open = descriptor;
        if (open === undefined) return;
        orAbort(() => {
          for (let at = 0; at < bytes.length;) at += writeSync(open, bytes, at);
        });
      },
      close,
    };
  };

  const wrap = (inner: Model): Model => ({
    ...inner,
    ...(inner.forRun && { forRun: () => wrap(inner.forRun!()) }),
    async *stream(request, signal) {
      const tap = createFileTap(request.tap);
      try {
        yield* inner.stream({ ...request, tap }, signal);
      } finally {
        tap.close();
      }
    },
  });
  return wrap(model);
}

function toFault(file: string, cause: unknown): SheafError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const isFull = code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG";
  const advice = isFull ? "free some space" : "name another file";
  const problem = `--record-body cannot write to ${JSON.stringify(file)} (${code ?? message}): ${advice}`;
  return new SheafError(isFull ? "STORAGE_FULL" : "USAGE", problem, { cause, ...(isFull && { source: "storage" }) });
}
