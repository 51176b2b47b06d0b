/** One response at a time in a conversation, in this process: later ones are refused, wait, or take over. */
import { SheafError } from "@sheaf/base/errors";
import { createFullError, MAX_WAITING } from "@sheaf/store/cluster";
import { createBusyError } from "@sheaf/store/store";

/** What to do while another response of the conversation runs (`whenBusy`). */
export type WhenBusy = "reject" | "queue" | "cancel";

/** A response that another one can replace. */
interface LaneHolder {
  abort(reason: SheafError): void;
}

export interface ConversationLanes {
  /**
   * Resolves when the conversation is free; call the result to free it again. Calls `onWait` if it has to wait.
   * "cancel" ends the response in the lane and goes ahead of all that wait; of two that wait with it, the later one stays.
   * @throws SheafError CONVERSATION_BUSY; CANCELLED when another message replaced it; the signal's reason when it is
   * aborted while waiting.
   */
  enter(conversationId: string, whenBusy: WhenBusy, signal: AbortSignal, onWait?: () => void): Promise<() => void>;
  /** The response in the lane, so that it can be cancelled. */
  setCurrent(conversationId: string, holder: LaneHolder): void;
}

interface Waiting {
  readonly whenBusy: WhenBusy;
  readonly enter: () => void;
  readonly giveUp: (reason: Error) => void;
}

interface Lane {
  holder: LaneHolder | undefined;
  /** In the order in which they will enter. */
  readonly waiting: Waiting[];
}

export function createConversationLanes(): ConversationLanes {
  const lanes = new Map<string, Lane>();

  const leave = (conversationId: string): void => {
    const lane = lanes.get(conversationId);
    if (!lane) return;
    lane.holder = undefined;
    const next = lane.waiting.shift();
    if (next) next.enter();
    else lanes.delete(conversationId);
  };

  const createRelease = (conversationId: string): (() => void) => {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      leave(conversationId);
    };
  };

  const wait = (lane: Lane, whenBusy: WhenBusy, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const abort = (): void => waiting.giveUp(signal.reason as Error);
      const waiting: Waiting = {
        whenBusy,
        enter: () => {
          signal.removeEventListener("abort", abort);
          resolve();
        },
        giveUp: (reason) => {
          signal.removeEventListener("abort", abort);
          const index = lane.waiting.indexOf(waiting);
          if (index !== -1) lane.waiting.splice(index, 1);
          reject(reason);
        },
      };
      if (signal.aborted) return reject(signal.reason as Error);
      signal.addEventListener("abort", abort);
      if (whenBusy === "cancel") lane.waiting.unshift(waiting);
      else lane.waiting.push(waiting);
    });

  const takeOver = (lane: Lane): void => {
    lane.holder?.abort(createTakeoverError());
    const [first] = lane.waiting;
    if (first?.whenBusy === "cancel") first.giveUp(createTakeoverError());
  };

  return {
    async enter(conversationId, whenBusy, signal, onWait) {
      const lane = lanes.get(conversationId);
      if (!lane) {
        lanes.set(conversationId, { holder: undefined, waiting: [] });
        return createRelease(conversationId);
      }
      if (whenBusy === "reject") throw createBusyError(conversationId);
      if (whenBusy === "cancel") takeOver(lane);
      else if (lane.waiting.length >= MAX_WAITING) throw createFullError(conversationId);
      onWait?.();
      await wait(lane, whenBusy, signal);
      return createRelease(conversationId);
    },
    setCurrent(conversationId, holder) {
      const lane = lanes.get(conversationId);
      if (!lane) return;
      lane.holder = holder;
      // One that came in the meantime.
      if (lane.waiting[0]?.whenBusy === "cancel") holder.abort(createTakeoverError());
    },
  };
}

function createTakeoverError(): SheafError {
  return new SheafError("CANCELLED", "cancelled, since another message came", { source: "user" });
}
