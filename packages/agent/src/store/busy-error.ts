/** A conversation has one writer at a time. */
import { SheafError } from "../base/errors.ts";

/** Another writer has the conversation. */
export function createBusyError(conversationId: string): SheafError {
  return new SheafError(
    "CONVERSATION_BUSY",
    `another response of ${conversationId} is being written: wait for its end, or cancel it`,
    { source: "storage" },
  );
}

/** Another writer took the response over. */
export function createLostError(responseId: string): SheafError {
  return new SheafError(
    "CONVERSATION_BUSY",
    `another process took ${responseId} over, since this one said nothing for a while: look at what it wrote`,
    { source: "storage" },
  );
}
