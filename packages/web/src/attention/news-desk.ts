/** Makes sure that only one of all open tabs announces a piece of news: the tabs agree which one. */
import type { TabChannel } from "../app/tab-channel.ts";
import type { News } from "./news.ts";

/** A message between tabs about a piece of news. */
export type DeskMessage =
  /** A tab offers to announce the news; the offer that sorts first wins. */
  | { readonly type: "offer"; readonly key: string; readonly rank: string }
  /** A tab announced the news, or the user looks at the page. */
  | { readonly type: "told"; readonly key: string }
  /** The user looks at the news' conversation. */
  | { readonly type: "seen"; readonly key: string };

export interface DeskPorts {
  readonly channel: TabChannel<DeskMessage>;
  /** Id of this tab, which sorts it among all tabs. */
  readonly tabId: string;
  /** True if this tab shows the conversation. */
  readonly isShown: (conversationId: string) => boolean;
  /** True if the user looks at this tab. */
  readonly isWatched: () => boolean;
  readonly tell: (news: News) => void;
  /** Called when the user saw the conversation in another tab. */
  readonly onSeen: (news: News) => void;
  readonly wait: (milliseconds: number, then: () => void) => void;
}

export interface NewsDesk {
  /** Returns true if the user sees the news right now, here or in another tab. */
  readonly report: (news: News) => boolean;
  readonly close: () => void;
}

/** Milliseconds in which other tabs make their offers. */
const offerTime = 400;
/** Number of pieces of news that a tab remembers: enough that no tab announces a forgotten piece again. */
const mostKnown = 1000;

/** Sets a value, and forgets the oldest one. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  if (map.size > mostKnown) map.delete(map.keys().next().value!);
}

export function createNewsDesk(ports: DeskPorts): NewsDesk {
  const { channel, tabId } = ports;
  const reported = new Map<string, News>();
  const settled = new Map<string, "told" | "seen">();
  /** Best offer of another tab, by key. */
  const offers = new Map<string, string>();

  const settle = (type: "told" | "seen", key: string): void => {
    if (settled.get(key) !== "seen") remember(settled, key, type);
    channel.tell({ type, key });
  };
  const decide = (news: News, rank: string): void => {
    const other = offers.get(news.key);
    if (settled.has(news.key) || (other !== undefined && other < rank)) return;
    settle("told", news.key);
    ports.tell(news);
  };
  const stop = channel.listen((message) => {
    const { type, key } = message;
    const known = settled.get(key);
    if (type === "offer") {
      // The other tab learnt of it late.
      if (known !== undefined) channel.tell({ type: known, key });
      else if (message.rank < (offers.get(key) ?? "~")) remember(offers, key, message.rank);
      return;
    }
    if (known !== "seen") remember(settled, key, type);
    const news = reported.get(key);
    if (type === "seen" && news !== undefined) ports.onSeen(news);
  });

  return {
    report(news) {
      const { key, conversationId } = news;
      const isShown = ports.isShown(conversationId);
      const isWatched = ports.isWatched();
      if (reported.has(key)) return settled.get(key) === "seen";
      remember(reported, key, news);
      if (isWatched) settle(isShown ? "seen" : "told", key);
      else if (!settled.has(key)) {
        const rank = `${isShown ? 0 : 1} ${tabId}`;
        channel.tell({ type: "offer", key, rank });
        ports.wait(offerTime, () => decide(news, rank));
      }
      return settled.get(key) === "seen";
    },
    close: stop,
  };
}

/** Reads a message of another tab; undefined if the data isn't a valid one. */
export function readDeskMessage(data: unknown): DeskMessage | undefined {
  const { type, key, rank } = (data ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof key !== "string") return undefined;
  if (type === "offer" && typeof rank === "string") return { type, key, rank };
  return type === "told" || type === "seen" ? { type, key } : undefined;
}
