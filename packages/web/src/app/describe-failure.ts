/** Describes why a request failed and what to do. */
import { SheafApiError } from "@sheaf/client";
import type { Messages } from "../messages/english.ts";

export function describeFailure(error: unknown, messages: Messages): string {
  if (!(error instanceof SheafApiError)) return messages.unreachable;
  const { errorCode, message } = error;
  if (errorCode === "CONVERSATION_BUSY") return messages.busy;
  return Object.hasOwn(messages.advice, errorCode)
    ? `${message} ${messages.advice[errorCode]!}`
    : messages.requestFailed(message);
}
