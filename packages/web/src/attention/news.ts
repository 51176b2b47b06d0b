/** News about a conversation for a user who waits. */
import type { ChatResponse } from "@sheaf/protocol";

export const newsKinds = ["ended", "asks", "failed", "approval"] as const;
export type NewsKind = (typeof newsKinds)[number];

export interface News {
  /** Key of the event, equal in every tab. */
  readonly key: string;
  readonly conversationId: string;
  readonly kind: NewsKind;
}

/** Returns news about the end of a response; undefined while it runs, and if the user stopped it. */
export function toEndNews(conversationId: string, { id, status, metadata }: ChatResponse): News | undefined {
  if (status === "streaming" || metadata.finishReason === "cancelled") return undefined;
  const isAsking = metadata.finishReason === "clarification";
  return { key: `${id} end`, conversationId, kind: isAsking ? "asks" : status === "error" ? "failed" : "ended" };
}
