/** The events of a streamed response. Clauses: docs/formats/documents.md. */
import type { ApprovalRequestData, ChatResponse, Mode, ResponseMetadata, Usage } from "./chat.ts";
import type { DocumentType, ToolCallResult } from "./documents.ts";

/** Metadata so far: later values replace earlier ones, field by field (N46). */
export type PartialMetadata = Readonly<Record<string, unknown>>;

/** Ext: first event (N49). */
export interface ResponseStartData {
  readonly id: string;
  readonly conversationId: string;
  readonly model: string;
  readonly mode: Mode;
  /** RFC 3339 with `Z` (N7). */
  readonly created: string;
  readonly status: "streaming";
  /** Version `Major.Minor` (X14) and the address of the event schema (X10). */
  readonly protocol: { readonly version: string; readonly schema: string };
  /** Milliseconds between heartbeats (X5). */
  readonly heartbeat_ms: number;
}

/** R15, N46. */
export interface DocumentStartData {
  readonly id: string;
  readonly type: DocumentType;
  readonly sequence: number;
  /** Ext: what is known at this moment (N46). */
  readonly metadata?: PartialMetadata;
}

/** R15. */
export interface ContentDeltaData {
  readonly documentId: string;
  readonly delta: string;
}

/** R16, N45. */
export interface ToolCallStartData {
  readonly documentId: string;
  readonly toolName: string;
  readonly toolCallId: string;
}

/** Ext: a piece of the arguments' JSON text (X6). */
export interface ArgumentsDeltaData {
  readonly documentId: string;
  readonly delta: string;
}

/** R16. */
export interface ToolCallArgumentsData {
  readonly documentId: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Ext: live output (X6). */
export interface OutputDeltaData {
  readonly documentId: string;
  readonly stream: "stdout" | "stderr";
  readonly delta: string;
}

/** R16. */
export interface ToolResultData {
  readonly documentId: string;
  readonly result: ToolCallResult;
}

/** R15, N46, N47. */
export interface DocumentEndData {
  readonly documentId: string;
  /** Present iff content is a string (N47); above 1 MiB the two fields below replace it (N55). */
  readonly finalContent?: string;
  /** Ext: hex (N55). */
  readonly finalContentSha256?: string;
  /** Ext: UTF-16 units (N55). */
  readonly finalContentLength?: number;
  /** Ext: complete and final (N46). */
  readonly metadata?: PartialMetadata;
}

/** Ext, only on request (N14). */
export interface ReasoningDeltaData {
  readonly delta: string;
}

/** Ext: the whole state; replaces everything (X3). */
export interface SnapshotData {
  readonly response: ChatResponse;
}

/** Ext (X8). */
export interface ApprovalResolvedData {
  readonly approvalId: string;
  readonly optionId: string;
  readonly by: string;
}

/** Ext: the model request is repeated later (X5, R-10). */
export interface ProviderWaitData {
  /** Why: RATE_LIMITED, OVERLOADED, NETWORK or another code of C20. */
  readonly code: string;
  /** When it is repeated, RFC 3339 with `Z`. */
  readonly until: string;
  /** Number of tries so far. */
  readonly tries: number;
}

/** Last event (R14, N50). */
export interface DoneData {
  /** Ext. */
  readonly id?: string;
  /** Ext. */
  readonly status?: "completed" | "error";
  readonly usage: Usage;
  /** Ext. */
  readonly metadata?: ResponseMetadata;
}

/** Payload by event name (R14, N43). */
export interface StreamEventPayloads {
  readonly response_start: ResponseStartData;
  readonly document_start: DocumentStartData;
  readonly content_delta: ContentDeltaData;
  readonly tool_call_start: ToolCallStartData;
  readonly arguments_delta: ArgumentsDeltaData;
  readonly tool_call_arguments: ToolCallArgumentsData;
  readonly output_delta: OutputDeltaData;
  readonly tool_result: ToolResultData;
  readonly document_end: DocumentEndData;
  readonly reasoning_delta: ReasoningDeltaData;
  readonly snapshot: SnapshotData;
  readonly approval_request: ApprovalRequestData;
  readonly approval_resolved: ApprovalResolvedData;
  readonly provider_wait: ProviderWaitData;
  readonly done: DoneData;
}

export type StreamEventName = keyof StreamEventPayloads;

/** One event before it has an id. */
export type StreamEventBody = {
  [Name in StreamEventName]: { readonly event: Name; readonly data: StreamEventPayloads[Name] };
}[StreamEventName];

/** One event in the envelope that all transports share (N43, X15). `id` is at least 1 and strictly increases (X1). */
export type StreamEvent = StreamEventBody & { readonly id: number };

/** The seven events that a base client knows (R14). */
export const baseEventNames = [
  "document_start",
  "content_delta",
  "tool_call_start",
  "tool_call_arguments",
  "tool_result",
  "document_end",
  "done",
] as const satisfies readonly StreamEventName[];

/** Version of this protocol, `Major.Minor` (X14). */
export const protocolVersion = "1.0";
