/** Follows a response for one reader: the log after its position, then live events; no gap, no double (X2, X3). */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ChatResponse, RunEvent } from "@sheaf/protocol";
import { encodeSse } from "@sheaf/protocol/encode";
import type { Live } from "@sheaf/agent/run/conversations/response-runner";
import type { Store } from "@sheaf/store/store";
import type { EventSink, Frames } from "./event-sink.ts";
import { createLogReader, readState, type LogReader } from "./log-reader.ts";
import { createReaderView, type ReaderView, type ViewOptions } from "./reader-view.ts";
import type { ResponseChannel, WireOptions } from "./response-channel.ts";
import type { SharedTails, Tail } from "./shared-tails.ts";

/** Largest payload of one event (N55), less the fields around it. UTF-16 units of JSON. */
const MAX_SNAPSHOT = 250 * 1024;

/** Length of the frames that are collected before a write. UTF-16 units. */
const WRITE_LENGTH = 64 * 1024;

/** Time after which a stuck reader loses its view of the log. The view is made again once it reads. Milliseconds. */
const PATIENCE_MS = 2000;

/** The response that a reader follows, and the position where it starts. */
export interface FollowOptions extends ViewOptions {
  readonly responseId: string;
  /** True to start with the whole state as one event (X3); only in the form of documents. */
  readonly snapshot: boolean;
}

export interface FollowPorts {
  /** The store as the owner of the response sees it. */
  readonly store: Store;
  readonly live: Live<ResponseChannel>;
  /** The logs of responses that run at other servers. */
  readonly tails: SharedTails;
  readonly wire: WireOptions;
}

/** Sends the events to the sink, then ends it. Resolves when the stream is over or the reader is gone. */
export async function followResponse(sink: EventSink, options: FollowOptions, ports: FollowPorts): Promise<void> {
  for (let rest: FollowOptions | undefined = options; rest && !sink.isClosed;) {
    rest = await followFor(sink, rest, ports);
    if (rest) await sink.drain();
  }
}

/** Follows until the stream is over. If the reader is stuck for a while, returns the position to continue from. */
async function followFor(
  sink: EventSink,
  options: FollowOptions,
  ports: FollowPorts,
): Promise<FollowOptions | undefined> {
  const { responseId, form } = options;
  const { store, live, tails, wire } = ports;
  const reader = createLogReader(store, responseId);
  const view = createReaderView(options, wire);
  let joined: ResponseChannel | undefined;
  if (options.snapshot && form === "documents") {
    const channel = live.find(responseId);
    if (channel && channel.lastSeq > 0 && sendSnapshot(sink, channel.snapshot)) {
      joined = channel;
      view.after = 0;
    } else {
      const { open } = await readState(store, responseId, wire);
      if (open && sendSnapshot(sink, open)) view.after = open.metadata.lastEventId ?? 0;
    }
  }
  let tail: Tail | undefined;
  let hasAll = false;
  try {
    for (;;) {
      // A full reader has left the channel, and continues with the log.
      if (joined && (await joinChannel(sink, joined, reader, { ...options, view }))) return undefined;
      joined = undefined;
      while (!(await sendLog(sink, reader, view)) || sink.isClosed) {
        await sink.drain(PATIENCE_MS);
        if (sink.isClosed) return undefined;
        if (sink.isFull) return { ...options, snapshot: false, after: view.after };
      }
      const isEnd = reader.hasEnded || view.isOver;
      if (isEnd) sink.end();
      else if (hasAll) sink.cut();
      if (isEnd || hasAll) return undefined;
      const channel = live.find(responseId) ?? tail?.channel;
      // No event can arrive between this line and the join.
      if (channel?.lastSeq === reader.lastSeq) joined = channel;
      // The store has events that the channel sends in a moment, or the store has caught up with the channel.
      else if (channel && channel !== tail?.channel) await nextTurn();
      else {
        tail ??= tails.open(responseId, store);
        // Either the store has the rest now, or this store gets no more events.
        hasAll = !(await tail.reach(reader.lastSeq));
      }
    }
  } finally {
    tail?.leave();
  }
}

/** Sends the events that are stored now. Returns false if the reader must read first. */
async function sendLog(sink: EventSink, reader: LogReader, view: ReaderView): Promise<boolean> {
  while (!sink.isFull && !sink.isClosed) {
    const page = await reader.read();
    if (!page) return true;
    reader.moveTo(await sendPage(sink, page, view));
  }
  return false;
}

/** Sends events until the sink is full. Returns the last event sent, after which to read the log again. */
async function sendPage(sink: EventSink, page: readonly RunEvent[], view: ReaderView): Promise<RunEvent> {
  let frames = "";
  let last = page[0]!;
  for (const event of page) {
    last = event;
    frames += view.push(event);
    if (frames.length <= WRITE_LENGTH) continue;
    sink.send(frames);
    frames = "";
    // The socket reports in the next turn how much it took.
    if (sink.isFull) await nextTurn();
    if (sink.isFull) break;
  }
  sink.send(frames);
  return last;
}

/** Sends the whole state as the first event. Returns false if the state is too large for one event. */
function sendSnapshot(sink: EventSink, response: ChatResponse): boolean {
  const id = response.metadata.lastEventId ?? 0;
  const frame = encodeSse({ id, event: "snapshot", data: { response } });
  if (frame.length > MAX_SNAPSHOT) return false;
  sink.send(frame);
  return true;
}

/** Returns true if the stream is over, and false if the reader left the channel because its sink is full. */
async function joinChannel(
  sink: EventSink,
  channel: ResponseChannel,
  log: LogReader,
  { includesReasoning, view }: FollowOptions & { readonly view: ReaderView },
): Promise<boolean> {
  const left = Promise.withResolvers<boolean>();
  const leave = (): void => left.resolve(true);
  let hasEnded = false;
  let sentId = channel.lastId;
  const reader = {
    includesReasoning,
    take(frames: Frames | undefined, events: readonly RunEvent[]) {
      if (sink.isFull) {
        channel.leave(reader);
        return left.resolve(false);
      }
      sentId = channel.lastId;
      if (view.isShared) sink.send(frames ?? "");
      else {
        sink.send(events.map((event) => view.push(event)).join(""));
        log.moveTo(events.at(-1)!);
      }
      hasEnded = events.at(-1)?.type === "run_end" || (view.isOver ?? false);
      if (hasEnded) sink.end();
    },
    end() {
      // The reader connects again, because the stream breaks off before its last event (N51).
      if (!hasEnded) sink.cut();
      leave();
    },
  };
  channel.join(reader);
  sink.closed.addEventListener("abort", leave);
  const isOver = await left.promise;
  if (view.isShared) view.after = sentId;
  channel.leave(reader);
  sink.closed.removeEventListener("abort", leave);
  return isOver;
}
