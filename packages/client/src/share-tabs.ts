/** One stream for all tabs of a browser: the tab with a lock reads it, and passes each event on to the others. */

interface SharedReader<Event> {
  /** Reads the stream until the signal ends it. Only the tab with the lock calls it. */
  readonly read: (onEvent: (event: Event) => void, signal: AbortSignal) => Promise<void>;
  /** Takes an event, whichever tab read it. */
  readonly onEvent: (event: Event) => void;
  /** The first event for a tab that has just opened; undefined: this tab has none yet. */
  readonly toFirst: () => Event | undefined;
}

type TabMessage<Event> =
  | { readonly type: "hello"; readonly from: string }
  /** `to`: only for this tab. */
  | { readonly type: "event"; readonly event: Event; readonly to?: string };

/** Without Web Locks (plain HTTP) or `name`, each tab reads a stream of its own. Rejects as `read` does. */
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
  const tell: (message: TabMessage<Event>) => void = channel.postMessage.bind(channel);
  channel.addEventListener("message", ({ data }: MessageEvent<TabMessage<Event>>) => {
    if (data.type === "event") {
      if (!isReading && (data.to ?? tabId) === tabId) onEvent(data.event);
    } else if (isReading) {
      const event = toFirst();
      if (event !== undefined) tell({ type: "event", event, to: data.from });
    }
  });
  signal.addEventListener("abort", () => channel.close());
  tell({ type: "hello", from: tabId });
  await locks.request(name, { signal }, async () => {
    isReading = true;
    await read((event) => {
      onEvent(event);
      tell({ type: "event", event });
    }, signal);
  });
}
