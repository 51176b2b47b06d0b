/** Waits for the start of a response whose reader already has an open stream. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "hono";
import { SheafError } from "@sheaf/base/errors";
import { untilAborted } from "@sheaf/base/until-aborted";
import { createFailedRun } from "@sheaf/agent/run/run-failure";
import type { EventSink } from "./event-sink.ts";
import { askPatiently } from "./ask-patiently.ts";
import { toClientError } from "./http-error.ts";
import { waitForBegin, type QueuedResponse } from "./queued-responses.ts";
import type { ReaderView } from "./reader-view.ts";
import type { ServerContext, ServerEnvironment } from "./server-context.ts";
import type { SharedStore, Store } from "@sheaf/store/store";

interface WaitingReader {
  /** The view of the response's owner. */
  readonly store: SharedStore;
  readonly sink: EventSink;
  readonly view: ReaderView;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called for errors that must not happen. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * Resolves with the id of the started response, or of the response that the message joined; undefined if the reader
 * left. A failed start becomes a failed response in the stream (N52): the head of the answer has been sent already.
 */
export async function awaitStart(queued: QueuedResponse, reader: WaitingReader): Promise<string | undefined> {
  const { store, sink, view, now, onDefect } = reader;
  try {
    const begun = await waitForBegin(store, queued.responseId, sink.closed);
    return sink.isClosed ? undefined : begun;
  } catch (error) {
    if (sink.isClosed) return undefined;
    const { told, isForLog } = toClientError(error);
    if (isForLog) onDefect(error);
    for (const event of createFailedRun(queued.start, told, now())) sink.send(view.push(event));
    sink.end();
    return undefined;
  }
}

/** Pause before Sheaf reads a log again that it could not read. Milliseconds. */
const RETRY_MS = 1000;

/** @throws the signal's reason if it aborts first. */
export async function waitForEnd(
  responseId: string,
  store: Store,
  { runner, tails }: Pick<ServerContext, "runner" | "tails">,
  signal: AbortSignal,
): Promise<void> {
  const isOpen = async (): Promise<boolean> =>
    (await askPatiently(() => store.getResponse(responseId), signal))?.ended === false;
  await runner.find(responseId)?.ended;
  while (await isOpen()) {
    const tail = tails.open(responseId, store);
    await untilAborted(tail.reach(Infinity), signal).finally(() => tail.leave());
    if (await isOpen()) await sleep(RETRY_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** Aborted when the client goes away before its answer is complete. */
export function watchClient(context: Context<ServerEnvironment>): AbortSignal {
  const controller = new AbortController();
  const { outgoing } = context.env;
  const leave = (): void => {
    if (!outgoing.writableFinished) controller.abort(createLeftError());
  };
  if (outgoing.destroyed) leave();
  else outgoing.on("close", leave);
  return controller.signal;
}

export function createLeftError(): SheafError {
  return new SheafError("CANCELLED", "the client went away", { source: "user" });
}
