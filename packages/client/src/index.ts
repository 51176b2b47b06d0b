/** Client of the Chat API: fetch and web streams, in browsers, Node and workers. */
export type {
  ApprovalAnswer,
  AttachmentInfo,
  AttachmentList,
  ChatRequest,
  ChatResponse,
  Conversation,
  ChangeRevert,
  ConversationChange,
  ConversationChanges,
  ConversationComparison,
  FileBlame,
  ConversationPage,
  ConversationSummary,
  ConversationTurn,
  Document,
  HookReport,
  WaitingMessage,
  WaitingOrder,
  ModelInfo,
  OpenApproval,
  PublishResult,
  RevertResult,
  WorkspaceFile,
  SearchMatch,
  WorkspaceCommandList,
  WorkspaceFileList,
  WorkspaceList,
  StreamEvent,
} from "@sheaf/protocol";
export { createClient } from "./client.ts";
export type {
  ChatOptions,
  ClientOptions,
  FollowOptions,
  ListOptions,
  ReadFileOptions,
  RequestOptions,
  RevertOptions,
  SheafClient,
} from "./client.ts";
export type { NumberedUserEvent, UserEventOptions } from "./user-events.ts";
export type { MessageFile } from "./encode-file.ts";
export { ConnectionError, SheafApiError, StreamBrokenError } from "./errors.ts";
export type { ApiErrorFields } from "./errors.ts";
export type { ReconnectOptions } from "./reconnect.ts";
export { createResponseStore } from "./response-store.ts";
export type { ResponseState, ResponseStore, ResponseStoreOptions } from "./response-store.ts";
export type { ConnectionState, ResponseStream, StreamOptions, Update } from "./response-stream.ts";
