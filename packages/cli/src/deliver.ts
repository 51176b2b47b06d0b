/** Brings the events of a run to stdout in a format, and takes the run's end from the log. */
import { readNotices, type Notice, type RunEnd, type RunEvent, type RunStart } from "@sheaf/protocol";
import type { EventMask } from "@sheaf/agent/output/event-mask";
import type { Projection } from "@sheaf/agent/output/projection";
import { toBareId } from "@sheaf/agent/output/result-line";
import type { LineOutput } from "./standard-output.ts";

/** Milliseconds above which a wait is for a quota. */
const longestRetryMs = 60_000;

/** Results of a delivery. */
export interface Delivery {
  /** Bare id of the session, set at the start of the first turn: from then on it can be resumed. */
  session: string | undefined;
  /** Last event of the log, as soon as it has arrived. */
  end: RunEnd | undefined;
  /** Reason why stdout accepts no more output. */
  outputError: NodeJS.ErrnoException | undefined;
}

/** Options for printing events. */
export interface DeliveryOptions {
  readonly projection: Projection;
  readonly output: LineOutput;
  /** Masks secrets (S-257); undefined for a program at both ends. */
  readonly mask: EventMask | undefined;
  /** Called with each group as readers see it, before Sheaf prints any of it. */
  readonly onEvents?: ((events: readonly RunEvent[]) => void) | undefined;
  /** Called with the run's first event. */
  readonly onStart?: ((start: RunStart) => void) | undefined;
  /** Called with a notice about a turn (C36); `isForAll`: another model answered it (C59), or the run ended with it (C71). */
  readonly onNotice?: ((notice: Notice, isForAll: boolean) => void) | undefined;
  /** Called at the start of a wait for a quota, with its end (RFC 3339). */
  readonly onQuotaWait?: ((until: string) => void) | undefined;
  /** Called once, when stdout accepts no more output. */
  readonly onOutputError?: ((error: NodeJS.ErrnoException) => void) | undefined;
  /** Interval of `--heartbeat` lines during silence in milliseconds, and the source of their time (C26). */
  readonly heartbeat?: { readonly everyMs: number; readonly now: () => number } | undefined;
}

/** Prints every event. After stdout has closed, it reads the rest unprinted, so that the run's log is complete. */
export async function deliverEvents(
  groups: AsyncIterable<readonly RunEvent[]>,
  options: DeliveryOptions,
): Promise<Delivery> {
  const { projection, output, mask } = options;
  const delivery: Delivery = { session: undefined, end: undefined, outputError: undefined };
  const fail = (error: unknown): void => {
    delivery.outputError ??= error as NodeJS.ErrnoException;
    options.onOutputError?.(delivery.outputError);
  };
  let conversationId = "";
  let isWaiting = false;
  const heart = createHeart(options, fail);
  for await (const events of groups) {
    const shown = mask ? events.flatMap(mask) : events;
    options.onEvents?.(shown);
    for (const event of shown) {
      if (event.type === "run_start") {
        ({ conversationId } = event);
        options.onStart?.(event);
      }
      if (event.type === "turn_start") delivery.session = toBareId(conversationId);
      if (event.type === "turn_end" || event.type === "run_end") {
        const isForAll = event.type === "run_end" || event.model !== undefined;
        for (const notice of readNotices(event)) options.onNotice?.(notice, isForAll);
      }
      if (event.type === "provider_wait" && !isWaiting && Date.parse(event.until) - event.time > longestRetryMs) {
        options.onQuotaWait?.(event.until);
      }
      isWaiting = event.type === "provider_wait";
      if (event.type === "run_end") delivery.end = event;
      if (delivery.outputError) continue;
      const lines = projection.push(event);
      if (lines.length === 0) continue;
      if (heart.isBeating) await heart.pause();
      const pending = writeLines(lines, output, fail);
      if (pending) await pending;
    }
    if (!heart.isBeating && !delivery.end && !delivery.outputError) heart.beat();
  }
  await heart.pause();
  return delivery;
}

/** Returns a promise only for a slow reader: a tick for each line would cost more than the line. */
function writeLines(
  lines: readonly string[],
  output: LineOutput,
  fail: (error: unknown) => void,
): Promise<void> | undefined {
  try {
    for (const [index, line] of lines.entries()) {
      const pending = output.write(line);
      if (pending) return pending.then(() => writeLines(lines.slice(index + 1), output, fail), fail);
    }
  } catch (error) {
    fail(error);
  }
  return undefined;
}

/** Beats during silence. `pause` waits for a beat in progress, so that no other line divides it. */
function createHeart({ projection, output, heartbeat }: DeliveryOptions, fail: (error: unknown) => void) {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    try {
      await output.write(projection.formatHeartbeat!(heartbeat!.now()));
      beat();
    } catch (error) {
      fail(error);
    }
  };
  const beat = (): void => {
    if (!heartbeat || !projection.formatHeartbeat) return;
    timer = setTimeout(() => {
      writing = write();
    }, heartbeat.everyMs);
  };
  return {
    get isBeating() {
      return timer !== undefined;
    },
    beat,
    async pause() {
      clearTimeout(timer);
      // A beat in progress sets the timer again at its end.
      await writing;
      clearTimeout(timer);
      timer = undefined;
      writing = undefined;
    },
  };
}
