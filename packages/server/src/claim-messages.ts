/** Starts the messages that wait in the store, including messages from other servers. */
import type { RunStart } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { ClaimedMessage } from "@sheaf/store/cluster";
import { isBusyError, type RequestKey, type SharedStore } from "@sheaf/store/store";
import { HttpError, toErrorAnswer } from "./http-error.ts";
import type { WholeRequest } from "./stored-attachments.ts";

/** Interval between looks at the store, in addition to notices. Milliseconds. */
const LOOK_MS = 2000;

/** The data with which any server can start a stored response. */
export interface StoredRequest {
  readonly body: WholeRequest;
  readonly newConversationId: string;
  readonly request: RequestKey | undefined;
  /** Fields of the response's first event. */
  readonly start: Omit<RunStart, "type">;
}

interface ClaimPorts {
  readonly store: SharedStore;
  /** Responses that one owner may have at the same time. */
  readonly maxRunning: number;
  /** Starts a response. Resolves once it has started. */
  readonly begin: (message: ClaimedMessage, stored: StoredRequest) => Promise<unknown>;
  readonly onFailure: (error: unknown) => void;
}

/** Starts waiting messages from now on, whenever one may start. */
export function startClaiming({ store, maxRunning, begin, onFailure }: ClaimPorts) {
  const { waiting } = store;
  const starting = new Set<string>();
  let isClosed = false;
  let isLooking = false;
  let mustLookAgain = false;
  let hasFailed = false;

  const beginMessage = async (message: ClaimedMessage): Promise<void> => {
    const { responseId, text } = message;
    starting.add(responseId);
    try {
      await begin(message, JSON.parse(text) as StoredRequest);
    } catch (error) {
      if (isClosed || mayBeginLater(error)) return await waiting.giveBack(responseId);
      const { errorCode: code, message: problem, details } = toErrorAnswer(error).body.error;
      await waiting.fail(responseId, JSON.stringify({ code, message: problem, details }));
      if (code === "INTERNAL") throw error;
    } finally {
      starting.delete(responseId);
    }
  };

  /** Ends early if the store didn't take the failure of a message: that message may be the next one again. */
  const claimAll = async (): Promise<void> => {
    hasFailed = false;
    for (;;) {
      const message = isClosed || hasFailed ? undefined : await waiting.claim(maxRunning, [...starting]);
      if (!message) return;
      beginMessage(message).catch((error: unknown) => {
        hasFailed = true;
        onFailure(error);
      });
    }
  };

  const look = async (): Promise<void> => {
    mustLookAgain = isLooking;
    if (isLooking || isClosed) return;
    isLooking = true;
    try {
      do {
        mustLookAgain = false;
        await claimAll();
      } while (mustLookAgain as boolean);
    } finally {
      isLooking = false;
    }
  };
  const wake = (): void => void look().catch(onFailure);
  const timer = setInterval(wake, LOOK_MS);
  timer.unref();
  const endWatch = waiting.watch(wake);
  return {
    /** Looks for waiting messages now. */
    wake,
    close(): void {
      isClosed = true;
      clearInterval(timer);
      endWatch();
    },
  };
}

/** True if a later start may succeed: a conversation or an owner is busy, the server closes, or the store is away. */
function mayBeginLater(error: unknown): boolean {
  if (error instanceof HttpError) return error.code === "LIMIT_REACHED";
  return isBusyError(error) || (error instanceof SheafError && ["OVERLOADED", "STORAGE_LOCKED"].includes(error.code));
}
