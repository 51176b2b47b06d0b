/** One stream for all tabs: the tab with a lock reads it, and passes each event on to the others. */

interface SharedReader<Event> {
  /** Reads the stream until the signal ends it. Only the tab with the lock calls it. */
  readonly read: (onEvent: (event: Event) => void, signal: AbortSignal) => Promise<void>;
  /** Takes an event from any tab. */
  readonly onEvent: (event: Event) => void;
  /** The first event for a new tab. Undefined: this tab is still waiting for its snapshot. */
  readonly toFirst: () => Event | undefined;
}

type TabMessage<Event> =
  | { readonly type: "hello"; readonly from: string }
  /** Message of another tab that starts reading. */
  | { readonly type: "reading" }
  /** An event; with `to`, only for that tab. */
  | { readonly type: "event"; readonly event: Event; readonly to?: string };

/** Shares one stream among tabs. Without `name` or Web Locks (plain HTTP), each reads its own. Rejects as `read`. */
export async function readTogether<Event>(
  name: string | undefined,
  { read, onEvent, toFirst }: SharedReader<Event>,
  signal: AbortSignal,
): Promise<void> {
  const { locks } = (globalThis.navigator ?? {}) as Partial<Navigator>;
  if (name === undefined || !locks || !("BroadcastChannel" in globalThis)) return read(onEvent, signal);
  const channel = new BroadcastChannel(name);
  const tabId = `${Math.random()}`;
  let isReading = false;
  /** True once a tab has answered the hello, which is lost if no tab reads at that moment. */
  let isServed = false;
  const tell: (message: TabMessage<Event>) => void = channel.postMessage.bind(channel);
  channel.addEventListener("message", ({ data }: MessageEvent<TabMessage<Event>>) => {
    if (data.type === "event") {
      if (isReading || (data.to ?? tabId) !== tabId) return;
      isServed ||= data.to !== undefined;
      onEvent(data.event);
    } else if (data.type === "reading") {
      if (!isServed) tell({ type: "hello", from: tabId });
    } else if (isReading) {
      const event = toFirst();
      if (event !== undefined) tell({ type: "event", event, to: data.from });
    }
  });
  signal.addEventListener("abort", () => channel.close());
  tell({ type: "hello", from: tabId });
  await locks.request(name, { signal }, async () => {
    isReading = true;
    isServed = true;
    tell({ type: "reading" });
    try {
      await read((event) => {
        onEvent(event);
        tell({ type: "event", event });
      }, signal);
    } finally {
      isReading = false;
    }
  });
}
