/** One response at a time in a conversation, in this process: a later one takes over, or gets CONVERSATION_BUSY. */
import { SheafError } from "@sheaf/base/errors";
import { createBusyError } from "@sheaf/store/store";

/** The way to treat a message while another response of the conversation runs. */
export type WhenBusy = "reject" | "cancel";

/** A response that another one can replace. */
interface LaneHolder {
  abort(reason: SheafError): void;
}

export interface ConversationLanes {
  /**
   * Resolves when the conversation is free; call the result to free it again. "cancel" ends the response in the lane.
   * If two callers wait with it, the later one stays.
   * @throws SheafError CONVERSATION_BUSY, CANCELLED when another message replaced it, or the signal's reason when it is
   * aborted while waiting.
   */
  enter(conversationId: string, whenBusy: WhenBusy, signal: AbortSignal): Promise<() => void>;
  /** The response in the lane, so that it can be cancelled. */
  setCurrent(conversationId: string, holder: LaneHolder): void;
}

interface Waiting {
  readonly enter: () => void;
  readonly giveUp: (reason: Error) => void;
}

interface Lane {
  holder: LaneHolder | undefined;
  /** Takes over. */
  next: Waiting | undefined;
}

export function createConversationLanes(): ConversationLanes {
  const lanes = new Map<string, Lane>();

  const leave = (conversationId: string, lane: Lane): void => {
    const { next } = lane;
    lane.holder = undefined;
    lane.next = undefined;
    if (next) next.enter();
    else lanes.delete(conversationId);
  };

  const createRelease = (conversationId: string, lane: Lane): (() => void) => {
    let isReleased = false;
    return () => {
      if (!isReleased) leave(conversationId, lane);
      isReleased = true;
    };
  };

  const wait = async (lane: Lane, signal: AbortSignal): Promise<void> => {
    const { promise, resolve: enter, reject: giveUp } = Promise.withResolvers<void>();
    const waiting: Waiting = { enter, giveUp };
    const abort = (): void => {
      if (lane.next === waiting) lane.next = undefined;
      giveUp(signal.reason);
    };
    signal.addEventListener("abort", abort);
    lane.next = waiting;
    await promise.finally(() => signal.removeEventListener("abort", abort));
  };

  return {
    async enter(conversationId, whenBusy, signal) {
      const lane = lanes.get(conversationId);
      if (!lane) {
        const own: Lane = { holder: undefined, next: undefined };
        lanes.set(conversationId, own);
        return createRelease(conversationId, own);
      }
      if (whenBusy === "reject") throw createBusyError(conversationId);
      signal.throwIfAborted();
      lane.holder?.abort(createTakeoverError());
      lane.next?.giveUp(createTakeoverError());
      await wait(lane, signal);
      return createRelease(conversationId, lane);
    },
    setCurrent(conversationId, holder) {
      const lane = lanes.get(conversationId);
      if (!lane) return;
      lane.holder = holder;
      // Another message came in the meantime.
      if (lane.next) holder.abort(createTakeoverError());
    },
  };
}

function createTakeoverError(): SheafError {
  return new SheafError("CANCELLED", "cancelled, since another message came", { source: "user" });
}
