/** The port between a running response and those who hear it. Nothing here is durable: the store is the truth. */
import type { RunEvent } from "@sheaf/protocol";

/** Takes the events of one running response, group by group, each after it is stored. */
export interface LiveChannel {
  push(events: readonly RunEvent[]): void;
  /** The run is over, or this process no longer has it: nothing comes any more. */
  close(): void;
}

/** The responses that run here, each with its channel. */
export interface Live<Channel extends LiveChannel = LiveChannel> {
  /** Called once, before the first event of a run is stored. */
  open(responseId: string): Channel;
  /** Undefined: the response does not run here. */
  find(responseId: string): Channel | undefined;
  /** Closes the channel and forgets it. */
  close(responseId: string): void;
  /** Responses that run here. */
  readonly size: number;
}
