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

/**
 * Prints every event. When stdout closes, `onOutputError` is told once, and the rest of the run is read unprinted,
 * so that its log is complete.
 */
export async function deliverEvents(
  groups: AsyncIterable<readonly RunEvent[]>,
  projection: Projection,
  output: LineOutput,
  onOutputError: (error: NodeJS.ErrnoException) => void,
): Promise<Delivery> {
  const delivery: Delivery = { end: undefined, outputError: undefined };
  for await (const events of groups) {
    for (const event of events) {
      if (event.type === "run_end") delivery.end = event;
      if (delivery.outputError) continue;
      try {
        for (const line of projection.push(event)) {
          const pending = output.write(line);
          if (pending) await pending;
        }
      } catch (error) {
        delivery.outputError = error as NodeJS.ErrnoException;
        onOutputError(delivery.outputError);
      }
    }
  }
  return delivery;
}
