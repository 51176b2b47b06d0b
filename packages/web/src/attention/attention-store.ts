/** Which conversations run, wait, or have something new. This browser remembers it, so that a run that ends while no tab is open is new when somebody returns. */
import { createStore, type ReadableStore } from "@sheaf/client/chat";
import type { ChatResponse } from "@sheaf/protocol";
import { type News, type NewsKind, newsKinds, toEndNews } from "./news.ts";

export interface AttentionState {
  /** Id of the response that runs, by conversation. */
  readonly running: ReadonlyMap<string, string>;
  /** Conversations in which a call waits for a decision. */
  readonly waiting: ReadonlySet<string>;
  /** What nobody has looked at yet, by conversation. */
  readonly news: ReadonlyMap<string, NewsKind>;
}

/** What the list says about a conversation (X35). */
interface ObservedConversation {
  readonly id: string;
  readonly runningResponseId?: string | undefined;
  readonly approvals?: readonly { readonly approvalId: string }[] | undefined;
}

export interface AttentionStore extends ReadableStore<AttentionState> {
  /** Takes what the list of conversations says; those that it does not name stay as they are. */
  readonly observe: (conversations: readonly ObservedConversation[]) => void;
  /** Takes the newest response of the conversation that is shown. */
  readonly follow: (conversationId: string, response: ChatResponse) => void;
  /** Somebody looks at the conversation. */
  readonly see: (conversationId: string) => void;
  /** The conversation is gone. */
  readonly forget: (conversationId: string) => void;
  /** Takes what another tab stored. */
  readonly reload: () => void;
  /** Of the user who signs out nothing stays. */
  readonly clear: () => void;
}

export interface AttentionPorts {
  readonly storage: Storage | undefined;
  readonly readResponse: (responseId: string) => Promise<ChatResponse>;
  /** Returns whether somebody sees it right now. */
  readonly report: (news: News) => boolean;
}

export const attentionStorageName = "sheaf-attention";
/** More than anybody has open. */
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
    // A conversation that was deleted, or a server that cannot be reached, is no news.
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

/** The newest last; the oldest goes if there are too many. */
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

/** What is damaged or unknown is left out. */
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
    // Storage is full or forbidden: it lasts for this visit.
  }
}
