/** Notifies other tabs of this page that a conversation changed. */

export interface TabChannel {
  readonly tell: (conversationId: string) => void;
  /** Returns the function that ends listening. */
  readonly listen: (listener: (conversationId: string) => void) => () => void;
}

export function createTabChannel(): TabChannel {
  const channel = new BroadcastChannel("sheaf");
  // For a window, the second argument would be the target origin; a channel has only one origin.
  const send: (message: string) => void = channel.postMessage.bind(channel);
  return {
    tell: send,
    listen(listener) {
      const hear = ({ data }: MessageEvent<unknown>): void => {
        if (typeof data === "string") listener(data);
      };
      channel.addEventListener("message", hear);
      return () => channel.removeEventListener("message", hear);
    },
  };
}
