/** Building blocks of a chat: conversations as states that a user interface shows. */
export { createChats } from "./chats.ts";
export type { ChatsOptions, ChatsState, ChatsStore } from "./chats.ts";
export { createConversation } from "./conversation.ts";
export type {
  ConversationChoice,
  ConversationOptions,
  ConversationStore,
  MessageDefaults,
  ConflictChoice,
  EditOptions,
  RevertOutcome,
} from "./conversation-store.ts";
export type { Reasoning } from "./conversation-reasoning.ts";
export type { ConversationSettings, ConversationState, OutgoingMessage, Turn } from "./conversation-state.ts";
export type { MessageFile, SentFile } from "./encode-file.ts";
export type { Schedule } from "./schedule-frame.ts";
export { describeDocument } from "./describe-document.ts";
export type { PlainDocument } from "./describe-document.ts";
export { keepInAddress } from "./keep-in-address.ts";
export { createStore } from "./store.ts";
export type { ReadableStore, WritableStore } from "./store.ts";
