/** The logs that this process writes now. */
import { SheafError } from "@sheaf/base/errors";
import type { EncodedEvents } from "./encode-events.ts";

/** A response that this process writes: its row, and the number of its last event. */
export interface OpenLog {
  readonly key: number;
  readonly owner: string;
  lastSeq: number;
}

/** Creates a table of open logs. */
export function createOpenLogs<Log extends OpenLog>() {
  const logs = new Map<string, Log>();
  const get = (responseId: string, owner: string): Log | undefined => {
    const log = logs.get(responseId);
    return log?.owner === owner ? log : undefined;
  };
  return {
    add: (responseId: string, log: Log): void => void logs.set(responseId, log),
    /** @throws SheafError INTERNAL for a response that this process doesn't write. */
    find(responseId: string, owner: string): Log {
      const log = get(responseId, owner);
      if (log) return log;
      const message = `response ${responseId} is not stored, or another process writes it`;
      throw new SheafError("INTERNAL", message, { source: "storage" });
    },
    /** Returns the log that is now closed here. */
    remove(responseId: string, owner: string): Log | undefined {
      const log = get(responseId, owner);
      if (log) logs.delete(responseId);
      return log;
    },
    list: (): readonly Log[] => [...logs.values()],
    get size() {
      return logs.size;
    },
  };
}

/** @throws SheafError INTERNAL for events that leave a gap. */
export function checkNext(responseId: string, { lastSeq }: OpenLog, events: EncodedEvents): void {
  if (events.firstSeq === lastSeq + 1 && events.lastSeq === lastSeq + events.count) return;
  const message = `events ${events.firstSeq} to ${events.lastSeq} of ${responseId} do not follow event ${lastSeq}`;
  throw new SheafError("INTERNAL", message, { source: "storage" });
}
