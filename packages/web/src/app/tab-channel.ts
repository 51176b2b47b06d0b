/** Messages between the tabs of this page. */
import { listen } from "../elements/listen.ts";

export interface TabChannel<Message> {
  /** To every other tab, never to this one. */
  readonly tell: (message: Message) => void;
  /** Returns the function that ends listening. */
  readonly listen: (listener: (message: Message) => void) => () => void;
}

/** @param read makes a message of what arrived; undefined if it is none, for instance of another version of the page */
export function createTabChannel<Message>(
  name: string,
  read: (data: unknown) => Message | undefined,
): TabChannel<Message> {
  const channel = new BroadcastChannel(name);
  // For a window, the second argument would be the target origin; a channel has only one origin.
  const send: (message: Message) => void = channel.postMessage.bind(channel);
  return {
    tell: send,
    listen: (listener) =>
      listen(channel, ["message"], ({ data }: MessageEvent<unknown>) => {
        const message = read(data);
        if (message !== undefined) listener(message);
      }),
  };
}
