/** Messages between the tabs of this page. */
import { listen } from "../elements/listen.ts";

export interface TabChannel<Message> {
  /** Sends to every other tab, but not to this one. */
  readonly tell: (message: Message) => void;
  /** Returns a function that ends listening. */
  readonly listen: (listener: (message: Message) => void) => () => void;
}

/** @param read checks arrived data; undefined if it isn't a message, such as data of another version of the page */
export function createTabChannel<Message>(
  name: string,
  read: (data: unknown) => Message | undefined,
): TabChannel<Message> {
  const channel = new BroadcastChannel(name);
  // A window's second argument is the target origin; a channel has only one origin, and no such argument.
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
