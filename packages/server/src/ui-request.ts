/** Turns the body that the AI SDK's transport sends into a message, or into answers to questions (X22, X23). */
import { hash } from "node:crypto";
import type { ApprovalRequest, ChatRequest, RunEvent } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import { chatSettings } from "@sheaf/protocol/schemas";
import type { ApprovalDecision } from "@sheaf/agent/tools/approval";
import { readDataAddress } from "./data-address.ts";
import { HttpError } from "./http-error.ts";
import { type LargeBody, maxBody } from "./json-body.ts";

const approval = s.object({
  id: s.string(),
  approved: s.optional(s.boolean()),
  reason: s.optional(s.string({ maxLength: 100_000 })),
});

const uiPart = s.object({
  type: s.string(),
  text: s.optional(s.string()),
  url: s.optional(s.string()),
  filename: s.optional(s.string()),
  approval: s.optional(approval),
});

const uiMessage = s.object({
  id: s.string({ maxLength: 200 }),
  role: s.choice(["user", "assistant"]),
  parts: s.list<s.ValueOf<typeof uiPart>>(uiPart),
});

/** The fields of an AI SDK message that Sheaf uses. */
export interface UiMessage extends s.ValueOf<typeof uiMessage> {}

/** The body of `DefaultChatTransport`, with settings next to it. */
export const uiRequest = s.extend(chatSettings, {
  /** The id of the chat. */
  id: s.string({ minLength: 1, maxLength: 200 }),
  messages: s.list<UiMessage>(uiMessage, { minItems: 1 }),
  trigger: s.optional(s.choice(["submit-message", "regenerate-message"])),
  /** The message that the user sends again, or replaces. */
  messageId: s.optional(s.string({ maxLength: 200 })),
});

/** The client sends the whole chat each time, and Sheaf uses its last message. */
export const largeUiRequest: LargeBody<s.ValueOf<typeof uiRequest>> = {
  largest: 15 * 1024 * 1024,
  dropsNull: true,
  measureFree: () => Infinity,
};

/** Derives the conversation's id from owner and chat, so the server needn't store which chat has which conversation. */
export function toChatConversation(owner: string, chatId: string): string {
  if (chatId.startsWith("conv_")) return chatId;
  const hex = hash("sha256", JSON.stringify([owner, chatId]), "hex");
  // A UUID of version 8, whose bits are its maker's own (RFC 9562).
  return `conv_${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18, 30)}`;
}

/** @throws HttpError USAGE with the name of the field, PAYLOAD_TOO_LARGE. */
export function toUserMessage({ parts }: UiMessage): Pick<ChatRequest, "message" | "attachments"> {
  const texts = parts.flatMap(({ type, text }) => (type === "text" && text?.trim() ? [text] : []));
  const attachments = parts.flatMap(({ type, url = "", filename }) =>
    type === "file" ? [readDataAddress(url, filename, "messages")] : [],
  );
  const message = texts.join("\n\n");
  if (message.length > maxBody) {
    throw new HttpError("PAYLOAD_TOO_LARGE", `the last message is longer than ${maxBody} characters: send less`);
  }
  if (message !== "" || attachments.length > 0) return { message, attachments };
  throw new HttpError("USAGE", "the body is not valid at messages: the last message has neither text nor files");
}

/** The answers in an assistant message, by the id of their question. @throws HttpError USAGE if there's none. */
export function toDecisions(
  { parts }: UiMessage,
  events: readonly RunEvent[],
  by: string,
): ReadonlyMap<string, ApprovalDecision> {
  const decisions = new Map<string, ApprovalDecision>();
  for (const event of events) {
    if (event.type !== "approval_request") continue;
    const answer = parts.find((part) => part.approval?.id === event.approvalId)?.approval;
    if (answer?.approved === undefined) continue;
    const { reason: message } = answer;
    decisions.set(event.approvalId, { optionId: toOptionId(event, answer.approved), by, ...(message && { message }) });
  }
  if (decisions.size > 0) return decisions;
  throw new HttpError(
    "USAGE",
    "the body is not valid at messages: the last message answers no question: send one of the user",
  );
}

function toOptionId({ options }: ApprovalRequest, isApproved: boolean): string {
  const kind = isApproved ? "allow_once" : "reject_once";
  return options.find((option) => option.kind === kind)?.id ?? "";
}
