/** What stores in SQL have alike: rows of conversations, and how a whole log is cut into rows. */
import type { RunEvent } from "@sheaf/protocol";
import type { ConversationRecord, ConversationSettings, SharedStore } from "./store.ts";

/** The methods of the store that need no lease. */
export type ConversationRows = Pick<
  SharedStore,
  | "revertResponses"
  | "getResponse"
  | "listResponses"
  | "getConversation"
  | "listConversations"
  | "listOpenResponses"
  | "findRequest"
  | "changeConversation"
  | "addConversation"
  | "listTexts"
  | "countConversations"
  | "readUsage"
  | "addUsage"
>;

export type UsageColumns = readonly [promptTokens: number, completionTokens: number, costUsd: number | null];

export interface ConversationRow extends Omit<ConversationRecord, "settings" | "usage" | "openResponseId"> {
  /** JSON. */
  readonly settings: string;
  /** Sums of its responses. */
  readonly usage: UsageColumns;
  readonly openResponseId: string | null;
}

export function toConversationRecord({ settings, usage, openResponseId, ...row }: ConversationRow): ConversationRecord {
  const [promptTokens, completionTokens, costUsd] = usage;
  return {
    ...row,
    settings: JSON.parse(settings) as ConversationSettings,
    usage: { promptTokens, completionTokens, ...(costUsd !== null && { costUsd }) },
    ...(openResponseId !== null && { openResponseId }),
  };
}

/** Events per row, when a log is stored whole. */
const groupLength = 500;

export function* groupEvents(events: readonly RunEvent[]): Generator<readonly RunEvent[], void, undefined> {
  for (let start = 0; start < events.length; start += groupLength) yield events.slice(start, start + groupLength);
}
