/** The stored log of a response, page by page: what every late reader begins with. */
import { createReducer, toSnapshot, type ChatResponse, type RunEvent } from "@sheaf/protocol";
import type { Store } from "../store/store.ts";
import { createWireAssembler, type WireOptions } from "./response-channel.ts";

/** Events of the log that are read at a time. */
const PAGE = 2000;

export interface LogReader {
  /** Number of the last event that was read. */
  readonly lastSeq: number;
  /** `run_end` was read. */
  readonly hasEnded: boolean;
  /** The next page; undefined when the log holds no more now. */
  read(): Promise<readonly RunEvent[] | undefined>;
}

/** Begins at the first event. */
export function createLogReader(store: Store, responseId: string): LogReader {
  let last: RunEvent | undefined;
  return {
    get lastSeq() {
      return last?.seq ?? 0;
    },
    get hasEnded() {
      return last?.type === "run_end";
    },
    async read() {
      const events = await store.readEvents(responseId, last?.seq, PAGE);
      last = events.at(-1) ?? last;
      return events.length === 0 ? undefined : events;
    },
  };
}

/** The response as it is stored now (N3, N53); undefined when nothing of it is stored. */
export async function readResponse(
  store: Store,
  responseId: string,
  wire: WireOptions,
): Promise<ChatResponse | undefined> {
  return (await readState(store, responseId, wire)).response;
}

/** What a log adds up to. */
export interface StoredState {
  /** Undefined: nothing is stored. */
  readonly response: ChatResponse | undefined;
  /** The same before its last event `done`, as a reader must see it that `done` is still to come for (X3). */
  readonly open: ChatResponse | undefined;
  /** Id of the last event; 0: there is none. */
  readonly lastId: number;
}

/** Reads the whole log. */
export async function readState(store: Store, responseId: string, wire: WireOptions): Promise<StoredState> {
  const reader = createLogReader(store, responseId);
  const assembler = createWireAssembler(wire);
  const reducer = createReducer();
  let open: ChatResponse | undefined;
  for (let page = await reader.read(); page; page = await reader.read()) {
    for (const event of page) {
      for (const streamEvent of assembler.push(event)) {
        if (streamEvent.event === "done") open = toSnapshot(reducer);
        reducer.push(streamEvent);
      }
    }
  }
  const response = reader.lastSeq === 0 ? undefined : toSnapshot(reducer);
  return { response, open: open ?? response, lastId: reducer.lastEventId };
}
