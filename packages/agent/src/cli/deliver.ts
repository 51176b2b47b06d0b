/** Brings the events of a run to stdout in a format, and learns from the log how the run ended. */
import type { RunEnd, RunEvent } from "@sheaf/protocol";
import type { Projection } from "../output/projection.ts";
import type { LineOutput } from "./standard-output.ts";

/** What happened to the output. */
export interface Delivery {
  /** There once the log has its last event. */
  end: RunEnd | undefined;
  /** Why stdout took no more. */
  outputError: NodeJS.ErrnoException | undefined;
}

/** How events are printed. */
export interface DeliveryOptions {
  readonly projection: Projection;
  readonly output: LineOutput;
  /** Told once, when stdout takes no more. */
  readonly onOutputError?: (error: NodeJS.ErrnoException) => void;
  /** `--heartbeat`: a line after every so many milliseconds of silence, with the time that `now` gives (C26). */
  readonly heartbeat?: { readonly everyMs: number; readonly now: () => number } | undefined;
}

/** Prints every event. When stdout closes, the rest of the run is read unprinted, so that its log is complete. */
export async function deliverEvents(
  groups: AsyncIterable<readonly RunEvent[]>,
  options: DeliveryOptions,
): Promise<Delivery> {
  const { projection, output } = options;
  const delivery: Delivery = { end: undefined, outputError: undefined };
  const fail = (error: unknown): void => {
    delivery.outputError ??= error as NodeJS.ErrnoException;
    options.onOutputError?.(delivery.outputError);
  };
  const heart = createHeart(options, fail);
  const print = async (event: RunEvent): Promise<void> => {
    try {
      for (const line of projection.push(event)) {
        const pending = output.write(line);
        if (pending) await pending;
      }
    } catch (error) {
      fail(error);
    }
  };
  for await (const events of groups) {
    await heart.pause();
    for (const event of events) {
      if (event.type === "run_end") delivery.end = event;
      if (!delivery.outputError) await print(event);
    }
    if (!delivery.end && !delivery.outputError) heart.beat();
  }
  await heart.pause();
  return delivery;
}

/** Beats while nobody prints. `pause` waits for the beat that is on its way, so that no line is cut by another. */
function createHeart(
  { projection, output, heartbeat }: DeliveryOptions,
  fail: (error: unknown) => void,
): { readonly beat: () => void; readonly pause: () => Promise<void> | undefined } {
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
    beat,
    pause() {
      clearTimeout(timer);
      const last = writing?.then(() => clearTimeout(timer));
      writing = undefined;
      return last;
    },
  };
}
