/** Events about all conversations of an owner: the differences between two looks at the list in the store (C230). */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConversationChangeKind, ConversationSummary, ConversationUpdate, UserEvent } from "@sheaf/protocol";
import { toJsonLine } from "@sheaf/protocol/encode";
import { untilAborted } from "@sheaf/base/until-aborted";
import type { SharedStore } from "@sheaf/store/store";
import { encodePlace, readSummary, type ReadOpenApprovals } from "./conversation-summary.ts";
import type { EventSink } from "./event-sink.ts";
import { createApprovalReader } from "./log-reader.ts";
import type { ServerContext } from "./server-context.ts";

/** Number of conversations in a look: pinned ones first, then the newest. */
const MAX_CONVERSATIONS = 200;

/** Number of events that a feed keeps. A reader who missed more gets a snapshot. */
const MAX_EVENTS = 1000;

/** Wait after a notice, so that one look finds several changes. Milliseconds. */
const GATHER_MS = 50;

/** Time between looks without a notice: in a cluster, whose processes send notices, and with SQLite. Milliseconds. */
const NOTICED_MS = 5000;
const POLL_MS = 1000;

/** Lifetime of a feed without readers. Milliseconds. */
const KEEP_MS = 60_000;

type FeedPorts = Pick<ServerContext, "live" | "settings" | "trees" | "storeOf" | "onDefect">;

/** Creates one feed for each owner, which serves all streams of that owner. */
export function createConversationFeeds(findPorts: () => FeedPorts) {
  const feeds = new Map<string, ConversationFeed>();
  return {
    /** The feed of an owner, once it has looked at the store. @throws SheafError STORAGE_… */
    async open(owner: string): Promise<ConversationFeed> {
      const ports = findPorts();
      const feed = feeds.get(owner) ?? new ConversationFeed(ports.storeOf(owner), ports);
      feeds.set(owner, feed);
      const forget = (): void => {
        if (feeds.get(owner) === feed) feeds.delete(owner);
      };
      await feed.start(forget).catch((error: unknown) => {
        forget();
        throw error;
      });
      return feed;
    },
    close(): void {
      for (const feed of feeds.values()) feed.close();
      feeds.clear();
    },
  };
}

export type ConversationFeeds = ReturnType<typeof createConversationFeeds>;

interface KnownConversation {
  readonly summary: ConversationSummary;
  /** The summary as text, to compare it. */
  readonly text: string;
}

class ConversationFeed {
  /** Prefix of this feed's ids. Another server, or a later feed, has another prefix. */
  readonly #name = randomUUID().slice(0, 8);
  readonly #store: SharedStore;
  readonly #ports: FeedPorts;
  readonly #readers = new Set<EventSink>();
  readonly #approvals = new Map<string, ReturnType<typeof createApprovalReader>>();
  /** Known conversations in the order of the list. */
  #known: ReadonlyMap<string, KnownConversation> = new Map();
  #next: string | undefined;
  #frames: string[] = [];
  #lastId = 0;
  /** Resolves with the next event. */
  #news = Promise.withResolvers<void>();
  #started: Promise<void> | undefined;
  #change = new AbortController();
  #emptySince = performance.now();
  #isClosed = false;

  constructor(store: SharedStore, ports: FeedPorts) {
    this.#store = store;
    this.#ports = ports;
  }

  /** Reads the list, then looks for changes until the feed was without readers for a while. */
  start(onEnd: () => void): Promise<void> {
    this.#started ??= this.#look().then(() => void this.#follow().finally(onEnd));
    return this.#started;
  }

  /** Sends the missing events or a snapshot, then every event until the reader is gone. */
  async send(sink: EventSink, lastEventId: string): Promise<void> {
    const [name, number = ""] = lastEventId.split(".");
    let position = name === this.#name && /^\d{1,15}$/.test(number) ? Number(number) : -1;
    this.#readers.add(sink);
    // A feed without readers does not look.
    this.#change.abort();
    while (!sink.isClosed && !this.#isClosed) {
      const missed = this.#lastId - position;
      if (position < 0 || missed < 0 || missed > this.#frames.length) {
        sink.send(this.#toFrame({ event: "snapshot", data: this.#toPage() }));
      } else sink.send(this.#frames.slice(this.#frames.length - missed).join(""));
      position = this.#lastId;
      const news = this.#news.promise;
      await sink.drain();
      await untilAborted(news, sink.closed).catch(() => undefined);
    }
    this.#readers.delete(sink);
    this.#emptySince = performance.now();
    sink.cut();
  }

  close(): void {
    this.#isClosed = true;
    this.#change.abort();
    this.#news.resolve();
  }

  async #follow(): Promise<void> {
    const stopWatching = this.#store.watchConversations(() => this.#change.abort());
    const restMs = this.#store.cluster ? NOTICED_MS : POLL_MS;
    const wait = (milliseconds: number, signal?: AbortSignal): Promise<unknown> =>
      sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
    while (!this.#isClosed && (this.#readers.size > 0 || performance.now() - this.#emptySince < KEEP_MS)) {
      await wait(restMs, this.#change.signal);
      await wait(GATHER_MS);
      // A change that comes while it looks is found by the next look.
      this.#change = new AbortController();
      // Readers stay as they are until the store answers.
      if (!this.#isClosed && this.#readers.size > 0) await this.#look().catch(this.#ports.onDefect);
    }
    stopWatching();
    this.close();
  }

  /** Reads the list, and sends what differs. */
  async #look(): Promise<void> {
    const isFirst = this.#started === undefined;
    const before = this.#known;
    const records = await this.#store.listConversations({ limit: MAX_CONVERSATIONS + 1, pinnedFirst: true });
    const page = records.slice(0, MAX_CONVERSATIONS);
    const shown = new Set(page.map(({ id }) => id));
    const deleted: string[] = [];
    // An older conversation stays known while it runs, and until readers know that its pin is gone.
    for (const [id, { summary }] of before) {
      if (shown.has(id)) continue;
      const record = await this.#store.getConversation(id);
      if (!record) deleted.push(id);
      else if (record.openResponseId ?? summary.runningResponseId ?? (summary.pinned && !record.pinned))
        page.push(record);
    }
    const known = new Map<string, KnownConversation>();
    const running = new Set(page.map(({ openResponseId }) => openResponseId));
    for (const id of this.#approvals.keys()) if (!running.has(id)) this.#approvals.delete(id);
    for (const record of page) {
      const old = before.get(record.id);
      const { openResponseId } = record;
      const isNew = openResponseId !== undefined && openResponseId !== old?.summary.runningResponseId;
      // Readers can't find a response before its first event, and a notice follows that event.
      if (!isFirst && isNew && (await this.#store.getResponse(openResponseId))?.lastSeq === 0) {
        if (old) known.set(record.id, old);
        continue;
      }
      const summary = await readSummary(this.#store, record, this.#ports, this.#readOpen);
      known.set(record.id, { summary, text: JSON.stringify(summary) });
    }
    const oldest = [...before.values()].findLast(({ summary }) => !summary.pinned)?.summary.updated ?? "";
    const updates: ConversationUpdate[] = [];
    for (const [id, { summary, text }] of known) {
      const old = before.get(id);
      // A newer conversation was deleted, so this old one is among the newest again.
      const isOlder = !old && this.#next !== undefined && summary.updated <= oldest && !summary.pinned;
      if (!isFirst && old?.text !== text && !isOlder) updates.push(await this.#toUpdate(old?.summary, summary));
    }
    this.#known = known;
    this.#next = records.length > MAX_CONVERSATIONS ? encodePlace(records[MAX_CONVERSATIONS - 1]!) : undefined;
    for (const conversationId of deleted) this.#add({ event: "conversation_deleted", data: { conversationId } });
    for (const data of updates) this.#add({ event: "conversation", data });
  }

  readonly #readOpen: ReadOpenApprovals = (responseId) => {
    const reader = this.#approvals.get(responseId) ?? createApprovalReader(this.#store, responseId);
    this.#approvals.set(responseId, reader);
    return reader.readOpen();
  };

  async #toUpdate(old: ConversationSummary | undefined, now: ConversationSummary): Promise<ConversationUpdate> {
    const isNew = old?.lastResponseId !== now.lastResponseId && old?.updated !== now.updated;
    const endedId = old?.runningResponseId ?? (isNew ? now.lastResponseId : undefined);
    const ended = endedId === now.runningResponseId ? undefined : await this.#readEnd(endedId);
    const changes = [...listChanges(old, now), ...(ended ? (["response_ended"] as const) : [])];
    if (ended?.finishReason === "clarification") changes.push("question_waiting");
    return {
      changes: changes.length > 0 ? changes : ["conversation_changed"],
      conversation: now,
      ...(ended && { ended }),
    };
  }

  async #readEnd(responseId = ""): Promise<ConversationUpdate["ended"]> {
    const { ended, lastSeq } = (await this.#store.getResponse(responseId)) ?? { ended: false, lastSeq: 0 };
    const [end] = ended ? await this.#store.readEvents(responseId, lastSeq - 1, 1) : [];
    if (end?.type !== "run_end") return undefined;
    return { responseId, status: end.error ? "error" : "completed", finishReason: end.reason };
  }

  #toPage() {
    const conversations = [...this.#known.values()].map(({ summary }) => summary);
    return { conversations, ...(this.#next !== undefined && { next: this.#next }) };
  }

  #toFrame({ event, data }: UserEvent): string {
    return `id: ${this.#name}.${this.#lastId}\nevent: ${event}\ndata: ${toJsonLine(data)}\n\n`;
  }

  #add(event: UserEvent): void {
    this.#lastId += 1;
    this.#frames = [...this.#frames.slice(-MAX_EVENTS + 1), this.#toFrame(event)];
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}

/** Lists the changes, except the end of a response. */
function listChanges(old: ConversationSummary | undefined, now: ConversationSummary): ConversationChangeKind[] {
  const toIds = ({ approvals = [] }: Partial<ConversationSummary> = {}): readonly string[] =>
    approvals.map(({ approvalId }) => approvalId);
  const toOwn = ({ title, pinned, mode, model, effort }: Partial<ConversationSummary> = {}): string =>
    JSON.stringify([title, pinned, mode, model, effort]);
  const [before, after] = [toIds(old), toIds(now)];
  const happened: Partial<Record<ConversationChangeKind, boolean>> = {
    response_started: now.runningResponseId !== undefined && old?.runningResponseId !== now.runningResponseId,
    approval_decided: before.some((id) => !after.includes(id)),
    approval_waiting: after.some((id) => !before.includes(id)),
    conversation_changed: old !== undefined && toOwn(old) !== toOwn(now),
  };
  return (Object.keys(happened) as ConversationChangeKind[]).filter((kind) => happened[kind]);
}
