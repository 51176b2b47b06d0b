/** Conversations that run, wait, or have news, also about runs that ended while no tab was open. */
import { createStore, type ReadableStore } from "@sheaf/client/chat";
import type { ChatResponse } from "@sheaf/protocol";
import { type News, type NewsKind, newsKinds, toEndNews } from "./news.ts";

export interface AttentionState {
  /** Id of the response that runs, by conversation. */
  readonly running: ReadonlyMap<string, string>;
  /** Conversations in which a call waits for a decision. */
  readonly waiting: ReadonlySet<string>;
  /** Kind of the news that the user hasn't looked at yet, by conversation. */
  readonly news: ReadonlyMap<string, NewsKind>;
}

/** The part of a listed conversation that matters here (X35). */
interface ObservedConversation {
  readonly id: string;
  readonly runningResponseId?: string | undefined;
  readonly approvals?: readonly { readonly approvalId: string }[] | undefined;
}

export interface AttentionStore extends ReadableStore<AttentionState> {
  /** Updates the listed conversations from the server's list; the others stay unchanged. */
  readonly observe: (conversations: readonly ObservedConversation[]) => void;
  /** Updates the visible conversation from its newest response. */
  readonly follow: (conversationId: string, response: ChatResponse) => void;
  /** Removes the conversation's news, because the user looks at it. */
  readonly see: (conversationId: string) => void;
  /** Removes every trace of a deleted conversation. */
  readonly forget: (conversationId: string) => void;
  /** Reads the state that another tab stored. */
  readonly reload: () => void;
  /** Deletes everything, because the user signs out. */
  readonly clear: () => void;
}

export interface AttentionPorts {
  readonly storage: Storage | undefined;
  readonly readResponse: (responseId: string) => Promise<ChatResponse>;
  /** Returns true if the user sees the news right now. */
  readonly report: (news: News) => boolean;
}

export const attentionStorageName = "sheaf-attention";
/** The most conversations to remember: more than a user has open. */
const mostEntries = 100;

export function createAttentionStore({ storage, readResponse, report }: AttentionPorts): AttentionStore {
  const store = createStore<AttentionState>({ ...readStored(storage), waiting: new Set() });
  const change = (next: Partial<AttentionState>): void => {
    store.set({ ...store.getSnapshot(), ...next });
    if (next.running !== undefined || next.news !== undefined) writeStored(storage, store.getSnapshot());
  };
  const take = (news: News | undefined): void => {
    if (news === undefined || report(news)) return;
    const { conversationId, kind } = news;
    change({ news: withEntry(store.getSnapshot().news, conversationId, kind) });
  };
  const remove = (conversationId: string, kinds: readonly NewsKind[] = newsKinds): void => {
    const kind = store.getSnapshot().news.get(conversationId);
    if (kind !== undefined && kinds.includes(kind))
      change({ news: withoutEntry(store.getSnapshot().news, conversationId) });
  };
  const setRunning = (id: string, responseId: string, approvals: readonly string[]): void => {
    const { running, waiting } = store.getSnapshot();
    if (running.get(id) !== responseId) change({ running: withEntry(running, id, responseId) });
    if (waiting.has(id) !== approvals.length > 0) change({ waiting: withMember(waiting, id, approvals.length > 0) });
    if (approvals.length === 0) remove(id, ["approval"]);
    for (const approval of approvals) take({ key: approval, conversationId: id, kind: "approval" });
  };
  const setEnded = (id: string): void => {
    const { running, waiting } = store.getSnapshot();
    if (running.has(id)) change({ running: withoutEntry(running, id) });
    if (waiting.has(id)) change({ waiting: withMember(waiting, id, false) });
    remove(id, ["approval"]);
  };
  const askHowItEnded = async (id: string, responseId: string): Promise<void> => {
    // A deleted conversation or an unreachable server makes no news.
    const response = await readResponse(responseId).catch(() => undefined);
    if (response !== undefined) take(toEndNews(id, response));
  };

  return {
    ...store,
    observe(conversations) {
      for (const { id, runningResponseId, approvals = [] } of conversations) {
        const known = store.getSnapshot().running.get(id);
        if (runningResponseId !== undefined) setRunning(id, runningResponseId, toIds(approvals));
        if (known === undefined || known === runningResponseId) continue;
        if (runningResponseId === undefined) setEnded(id);
        void askHowItEnded(id, known);
      }
    },
    follow(id, response) {
      if (response.id === "") return;
      const isKnown = store.getSnapshot().running.get(id) === response.id;
      if (response.status === "streaming") {
        setRunning(id, response.id, toIds(response.approvals ?? []));
      } else if (isKnown) {
        setEnded(id);
        take(toEndNews(id, response));
      }
    },
    see: (id) => remove(id),
    forget(id) {
      setEnded(id);
      remove(id);
    },
    reload: () => store.set({ ...store.getSnapshot(), ...readStored(storage) }),
    clear() {
      store.set({ running: new Map(), waiting: new Set(), news: new Map() });
      storage?.removeItem(attentionStorageName);
    },
  };
}

function toIds(approvals: readonly { readonly approvalId: string }[]): readonly string[] {
  return approvals.map(({ approvalId }) => approvalId);
}

/** Returns the map with the entry at its end, without the oldest entries above the limit. */
function withEntry<Value>(map: ReadonlyMap<string, Value>, key: string, value: Value): ReadonlyMap<string, Value> {
  const entries = [...map].filter(([known]) => known !== key);
  return new Map([...entries, [key, value] as const].slice(-mostEntries));
}

function withoutEntry<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  return new Map([...map].filter(([known]) => known !== key));
}

function withMember(set: ReadonlySet<string>, member: string, isIn: boolean): ReadonlySet<string> {
  const others = [...set].filter((known) => known !== member);
  return new Set(isIn ? [...others, member] : others);
}

/** Reads the stored state, without its damaged or unknown entries. */
function readStored(storage: Storage | undefined): Pick<AttentionState, "running" | "news"> {
  try {
    const stored: unknown = JSON.parse(storage?.getItem(attentionStorageName) ?? "{}");
    const { running, news } = (stored ?? {}) as Readonly<Record<string, unknown>>;
    const isKind = (value: string): value is NewsKind => newsKinds.some((kind) => kind === value);
    return {
      running: new Map(readEntries(running)),
      news: new Map(readEntries(news).filter((entry): entry is [string, NewsKind] => isKind(entry[1]))),
    };
  } catch {
    return { running: new Map(), news: new Map() };
  }
}

function readEntries(value: unknown): [string, string][] {
  if (!Array.isArray(value)) return [];
  const isEntry = (entry: unknown): entry is [string, string] =>
    Array.isArray(entry) && entry.length === 2 && entry.every((part) => typeof part === "string");
  return value.filter(isEntry).slice(-mostEntries);
}

function writeStored(storage: Storage | undefined, { running, news }: AttentionState): void {
  try {
    storage?.setItem(attentionStorageName, JSON.stringify({ running: [...running], news: [...news] }));
  } catch {
    // Storage is full or forbidden: the state lasts for this visit.
  }
}
