/** A reader that waits with its response: its stream is open, and nothing has begun. */
import { createFailedRun } from "../run/run-failure.ts";
import { SheafError, toSheafError } from "../base/errors.ts";
import type { EventSink } from "./event-sink.ts";
import type { QueuedResponse } from "./queued-responses.ts";
import type { ReaderView } from "./reader-view.ts";

interface WaitingReader {
  readonly sink: EventSink;
  readonly view: ReaderView;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Told of errors that must not happen. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * True once the response has begun; false when the reader is gone. What cannot begin is told as a response that failed
 * (N52): it has no other place, since the head of the answer is sent, and nothing is stored.
 */
export async function awaitStart(queued: QueuedResponse, reader: WaitingReader): Promise<boolean> {
  const { sink, view, now, onDefect } = reader;
  const gone = Promise.withResolvers<void>();
  sink.closed.addEventListener("abort", () => gone.resolve());
  try {
    await Promise.race([queued.begun, gone.promise]);
    return !sink.isClosed;
  } catch (error) {
    const known = toSheafError(error);
    if (known.code === "INTERNAL") onDefect(error);
    // What is unexpected is told to the log only.
    const told = known.code === "INTERNAL" ? new SheafError("INTERNAL", "the server failed: its log says why") : known;
    for (const event of createFailedRun(queued.start, told, now())) sink.send(view.push(event));
    sink.end();
    return false;
  }
}
