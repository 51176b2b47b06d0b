/** The port between a running response and its subscribers, and its implementation within one process. Nothing here is durable: the store is the truth. */
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

/** Makes a channel for each run that begins. */
export function createInProcessLive<Channel extends LiveChannel>(
  createChannel: (responseId: string) => Channel,
): Live<Channel> {
  const channels = new Map<string, Channel>();
  return {
    open(responseId) {
      const channel = createChannel(responseId);
      channels.set(responseId, channel);
      return channel;
    },
    find: (responseId) => channels.get(responseId),
    close(responseId) {
      const channel = channels.get(responseId);
      channels.delete(responseId);
      channel?.close();
    },
    get size() {
      return channels.size;
    },
  };
}
