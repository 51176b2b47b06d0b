/** One reader of one response: first the log after its position, then what comes live; no gap, no double (X2, X3). */
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

/** Frames that are collected before a write. UTF-16 units. */
const WRITE_LENGTH = 64 * 1024;

/** What a reader asks for. */
export interface FollowOptions extends ViewOptions {
  readonly responseId: string;
  /** Begin with the whole state as one event (X3); in the form of documents only. */
  readonly snapshot: boolean;
}

export interface FollowPorts {
  /** Of the owner of the response. */
  readonly store: Store;
  readonly live: Live<ResponseChannel>;
  /** Of responses that do not run here. */
  readonly tails: SharedTails;
  readonly wire: WireOptions;
}

/** Sends the events to the sink, and ends it after the last one. Resolves when the stream is over or the reader is gone. */
export async function followResponse(sink: EventSink, options: FollowOptions, ports: FollowPorts): Promise<void> {
  const { responseId, form } = options;
  const { store, live, tails, wire } = ports;
  let { after } = options;
  if (options.snapshot && form === "documents") {
    const channel = live.find(responseId);
    if (channel && channel.lastSeq > 0 && sendSnapshot(sink, channel.snapshot)) {
      return joinChannel(sink, channel, createReaderView({ ...options, after: 0 }, wire), options);
    }
    const { open } = await readState(store, responseId, wire);
    if (open && sendSnapshot(sink, open)) after = open.metadata.lastEventId ?? 0;
  }
  const reader = createLogReader(store, responseId);
  const view = createReaderView({ ...options, after }, wire);
  let tail: Tail | undefined;
  try {
    for (;;) {
      await sendLog(sink, reader, view);
      if (sink.isClosed) return;
      if (reader.hasEnded || view.isOver) return sink.end();
      const channel = live.find(responseId) ?? tail?.channel;
      // Nothing can come between this line and joining.
      if (channel?.lastSeq === reader.lastSeq) return await joinChannel(sink, channel, view, options);
      // What is stored is sent in a moment, or what was sent was stored meanwhile.
      if (channel && channel !== tail?.channel) await nextTurn();
      else {
        tail ??= tails.open(responseId, store);
        if (await tail.reach(reader.lastSeq)) continue;
        // Either the rest is stored now, or nothing more comes from this store.
        await sendLog(sink, reader, view);
        return reader.hasEnded || view.isOver ? sink.end() : sink.cut();
      }
    }
  } finally {
    tail?.leave();
  }
}

/** Sends what is stored now, as fast as the reader takes it. */
async function sendLog(sink: EventSink, reader: LogReader, view: ReaderView): Promise<void> {
  let frames = "";
  for (let page = await reader.read(); page && !sink.isClosed; page = await reader.read()) {
    for (const event of page) {
      frames += view.push(event);
      if (frames.length <= WRITE_LENGTH) continue;
      sink.send(frames);
      frames = "";
      await sink.drain();
    }
  }
  sink.send(frames);
  await sink.drain();
}

/** The whole state as the first event; false when it is too large for one, so that the log itself must be sent. */
function sendSnapshot(sink: EventSink, response: ChatResponse): boolean {
  const id = response.metadata.lastEventId ?? 0;
  const frame = encodeSse({ id, event: "snapshot", data: { response } });
  if (frame.length > MAX_SNAPSHOT) return false;
  sink.send(frame);
  return true;
}

/** Resolves when the stream is over. */
async function joinChannel(
  sink: EventSink,
  channel: ResponseChannel,
  view: ReaderView,
  { includesReasoning }: FollowOptions,
): Promise<void> {
  const over = Promise.withResolvers<void>();
  let hasEnded = false;
  const reader = {
    includesReasoning,
    take(frames: Frames | undefined, events: readonly RunEvent[]) {
      sink.send(view.isShared ? (frames ?? "") : events.map((event) => view.push(event)).join(""));
      hasEnded = events.at(-1)?.type === "run_end" || (view.isOver ?? false);
      if (hasEnded) sink.end();
    },
    end() {
      // Without its last event the stream is broken, and the reader asks again (N51).
      if (!hasEnded) sink.cut();
      over.resolve();
    },
  };
  channel.join(reader);
  sink.closed.addEventListener("abort", () => {
    channel.leave(reader);
    over.resolve();
  });
  return over.promise;
}
