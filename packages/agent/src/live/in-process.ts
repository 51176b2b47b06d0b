/** Readers and runs in one process. */
import type { Live, LiveChannel } from "./live.ts";

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
