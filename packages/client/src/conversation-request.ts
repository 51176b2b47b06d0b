/** The requests that change a conversation. */
import type { ApprovalAnswer, ChatRequest, ConversationChange } from "@sheaf/protocol";
import type { SheafClient } from "./client.ts";
import type { ConversationSettings, ConversationState, OutgoingMessage, Turn } from "./conversation-state.ts";
import type { ConversationOptions } from "./conversation-store.ts";
import { type MessageFile, toEntry } from "./encode-file.ts";
import { SheafApiError } from "./errors.ts";

/** The place of an edited message. */
export interface MessagePlace extends Pick<ChatRequest, "onConflict"> {
  /** Index of the turn that it replaces. */
  readonly at: number;
}

export type PlacedMessage = OutgoingMessage & Pick<ChatRequest, "parentResponseId" | "onConflict">;

/** @throws the error of an attachment that cannot be read */
export async function toChatRequest(
  { id, workspace, settings: { mode, model, effort } }: ConversationState,
  { request, reasoning }: Pick<ConversationOptions, "request" | "reasoning">,
  { answers, attachments, ...placed }: PlacedMessage,
): Promise<Omit<ChatRequest, "stream">> {
  return {
    approvals: "ask",
    ...request,
    ...(reasoning && { accept: { ...request?.accept, reasoning: true } }),
    ...placed,
    mode,
    ...(id !== undefined && { conversationId: id }),
    ...(id === undefined && workspace !== undefined && { workspace }),
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    ...(answers && { answers }),
    ...(attachments && { attachments: await Promise.all(attachments.map(toEntry)) }),
  };
}

/** Turns settings into a change. A stored conversation always has a mode and a model: they can't be removed. */
export function toSettingsChange(change: Partial<ConversationSettings>): ConversationChange {
  const { mode, model, effort } = change;
  return {
    ...(mode !== undefined && { mode }),
    ...(model !== undefined && { model }),
    ...("effort" in change && { effort: effort ?? null }),
  };
}

/** Adds the files of a message, and reads those without bytes from the server (X48). */
export async function readFiles(client: SheafClient, turn: Turn, files: MessageFile[]): Promise<void> {
  for (const { name, blob } of turn.attachments ?? []) {
    files.push({ name, blob: blob ?? (await client.readAttachment(turn.response.id, files.length + 1)) });
  }
}

/** Returns false if the call had its answer already, by a second click or in another window. */
export async function decideOnce(client: SheafClient, ...call: Decision): Promise<boolean> {
  try {
    await client.resolveApproval(...call);
    return true;
  } catch (cause) {
    if (cause instanceof SheafApiError && cause.errorCode === "APPROVAL_RESOLVED") return false;
    throw cause;
  }
}

type Decision = readonly [responseId: string, approvalId: string, answer: ApprovalAnswer];
