/** One response at a time in a conversation, in this process: those who come later are refused, wait, or take over. */
import { SheafError } from "../errors.ts";
import { createBusyError } from "../storage/busy-error.ts";

/** What to do while another response of the conversation runs (`whenBusy`). */
export type WhenBusy = "reject" | "queue" | "cancel";

/** Messages that may wait for one conversation. */
const MAX_WAITING = 16;

/** What can be taken over. */
interface LaneHolder {
  abort(reason: SheafError): void;
}

export interface ConversationLanes {
  /**
   * Resolves when the conversation is free; call the result to free it again. `onWait` is called when it is not yet.
   * @throws SheafError CONVERSATION_BUSY; the reason of the signal when it is aborted while waiting.
   */
  enter(conversationId: string, whenBusy: WhenBusy, signal: AbortSignal, onWait?: () => void): Promise<() => void>;
  /** Who is in the lane, so that it can be told to go. */
  setCurrent(conversationId: string, holder: LaneHolder): void;
  isBusy(conversationId: string): boolean;
}

interface Lane {
  holder: LaneHolder | undefined;
  readonly waiting: (() => void)[];
}

/** All lanes are free. */
export function createConversationLanes(): ConversationLanes {
  const lanes = new Map<string, Lane>();

  const leave = (conversationId: string): void => {
    const lane = lanes.get(conversationId);
    if (!lane) return;
    lane.holder = undefined;
    const next = lane.waiting.shift();
    if (next) next();
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

  const wait = (lane: Lane, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = (): void => {
        const index = lane.waiting.indexOf(enter);
        if (index !== -1) lane.waiting.splice(index, 1);
        reject(signal.reason as Error);
      };
      if (signal.aborted) return reject(signal.reason as Error);
      signal.addEventListener("abort", giveUp, { once: true });
      lane.waiting.push(enter);
    });

  return {
    async enter(conversationId, whenBusy, signal, onWait) {
      const lane = lanes.get(conversationId);
      if (!lane) {
        lanes.set(conversationId, { holder: undefined, waiting: [] });
        return createRelease(conversationId);
      }
      if (whenBusy === "reject" || lane.waiting.length >= MAX_WAITING) throw createBusyError(conversationId);
      if (whenBusy === "cancel") lane.holder?.abort(createTakeoverError());
      onWait?.();
      await wait(lane, signal);
      return createRelease(conversationId);
    },
    setCurrent(conversationId, holder) {
      const lane = lanes.get(conversationId);
      if (lane) lane.holder = holder;
    },
    isBusy: (conversationId) => lanes.has(conversationId),
  };
}

function createTakeoverError(): SheafError {
  return new SheafError("CANCELLED", "cancelled, since another message came", { source: "user" });
}
