/** Reads the stored log of a response page by page, as every late reader must. */
import { createReducer, toSnapshot, type ApprovalRequest, type ChatResponse, type RunEvent } from "@sheaf/protocol";
import type { Store } from "@sheaf/store/store";
import type { ServerContext } from "./server-context.ts";
import { createWireAssembler, type WireOptions } from "./response-channel.ts";

/** Events in one page. */
const PAGE = 2000;

/** Creates a reader that starts at the first event, or after the event that it last moved to. */
export function createLogReader(store: Store, responseId: string) {
  let last: Pick<RunEvent, "seq" | "type"> | undefined;
  let pageAfter = 0;
  let limit = PAGE;
  return {
    /** Number of the last event that was read. */
    get lastSeq(): number {
      return last?.seq ?? 0;
    },
    /** True if the reader has read `run_end`. */
    get hasEnded(): boolean {
      return last?.type === "run_end";
    },
    /** Moves back within the last page, and reads shorter pages for a while; or moves to a newer event. */
    moveTo({ seq, type }: RunEvent): void {
      if (last && seq < last.seq) limit = Math.max(seq - pageAfter, 1);
      last = { seq, type };
    },
    /** Returns the next page, or undefined if the log has no more events now. */
    async read(): Promise<readonly RunEvent[] | undefined> {
      pageAfter = last?.seq ?? 0;
      const events = await store.readEvents(responseId, pageAfter, limit);
      limit = Math.min(limit * 2, PAGE);
      const end = events.at(-1);
      if (end) last = { seq: end.seq, type: end.type };
      return end && events;
    },
  };
}

export type LogReader = ReturnType<typeof createLogReader>;

/** Reads the approvals of a response from its log. Each look reads only the new events. */
export function createApprovalReader(store: Store, responseId: string) {
  const log = createLogReader(store, responseId);
  const requests = new Map<string, ApprovalRequest>();
  const open = new Set<string>();
  const look = async (): Promise<void> => {
    for (let page = await log.read(); page; page = await log.read()) {
      for (const logged of page) {
        // A subagent can ask, just as the run itself can.
        const event = logged.type === "agent_event" ? logged.event : logged;
        if (event.type === "approval_request") {
          requests.set(event.approvalId, event);
          open.add(event.approvalId);
        } else if (event.type === "approval_resolved") open.delete(event.approvalId);
        if (logged.type === "run_end") open.clear();
      }
    }
  };
  return {
    async readOpen(): Promise<readonly ApprovalRequest[]> {
      await look();
      return [...open].map((id) => requests.get(id)!);
    },
    /** Returns undefined if the log has no such request. */
    async find(
      approvalId: string,
    ): Promise<{ readonly request: ApprovalRequest; readonly isOpen: boolean } | undefined> {
      await look();
      const request = requests.get(approvalId);
      return request && { request, isOpen: open.has(approvalId) };
    },
  };
}

/** Reads the response as the store has it now (N3, N53). Returns undefined if the store has no event of it. */
export async function readResponse(
  store: Store,
  responseId: string,
  wire: WireOptions,
): Promise<ChatResponse | undefined> {
  return (await readState(store, responseId, wire)).response;
}

/** Returns the response as its readers see it now if it runs here, else as the store has it. */
export async function readCurrentResponse(
  store: Store,
  responseId: string,
  { live, settings }: Pick<ServerContext, "live" | "settings">,
): Promise<ChatResponse | undefined> {
  const channel = live.find(responseId);
  return channel && channel.lastSeq > 0 ? channel.snapshot : readResponse(store, responseId, settings.wire);
}

/** The response that a log adds up to. */
export interface StoredState {
  /** The response; undefined if the store has no event. */
  readonly response: ChatResponse | undefined;
  /** The response before its last event `done`, for readers who haven't got `done` yet (X3). */
  readonly open: ChatResponse | undefined;
  /** Id of the last event; 0: no event. */
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
