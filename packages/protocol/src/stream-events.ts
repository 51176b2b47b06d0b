/** The events of a streamed response. Clauses: docs/formats/documents.md. */
import type { ChatResponse } from "./chat.ts";
import {
  approvalRequest,
  type ApprovalRequestData,
  documentId,
  documentType,
  type AddedMessage,
  addedMessage,
  hookReport,
  type HookReport,
  instant,
  milliseconds,
  mode,
  responseMetadata,
  type ResponseMetadata,
  toolCallResult,
  type ToolCallResult,
  usage,
  type Usage,
} from "./response-parts.ts";
import * as s from "./schema.ts";

const count = s.integer({ minimum: 0 });

/** Metadata so far: later values replace earlier ones, field by field (N46). */
export type PartialMetadata = Readonly<Record<string, unknown>>;

const partialMetadata: s.Schema<PartialMetadata> = s.record(s.anything());

const responseStart = s.object({
  id: s.string(),
  conversationId: s.string(),
  model: s.string(),
  mode,
  /** Start of the response in RFC 3339 with `Z` (N7). */
  created: instant,
  status: s.literal("streaming"),
  /** Version `Major.Minor` (X14) and the address of the event schema (X10). */
  protocol: s.object({ version: s.string({ pattern: "^\\d+\\.\\d+$" }), schema: s.string() }),
  /** Milliseconds between heartbeats (X5). */
  heartbeat_ms: milliseconds,
});

/** Ext: first event (N49). */
export interface ResponseStartData extends s.ValueOf<typeof responseStart> {}

/** Schema of a response's start that readers accept: fields about the stream itself may be missing. */
export const readableStart: s.JsonSchema = {
  ...responseStart,
  required: ["id", "conversationId", "model", "mode", "created"],
};

const documentStart = s.object({
  id: documentId,
  type: documentType,
  sequence: s.integer({ minimum: 1 }),
  /** Ext: metadata that is known so far (N46). */
  metadata: s.optional(partialMetadata),
});

/** Start of a document (R15, N46). */
export interface DocumentStartData extends s.ValueOf<typeof documentStart> {}

const contentDelta = s.object({ documentId, delta: s.string() });

/** A piece of a document's content (R15). */
export interface ContentDeltaData extends s.ValueOf<typeof contentDelta> {}

const toolCallStart = s.object({ documentId, toolName: s.string(), toolCallId: s.string() });

/** Start of a tool call (R16, N45). */
export interface ToolCallStartData extends s.ValueOf<typeof toolCallStart> {}

/** Ext: a piece of the arguments' JSON text (X6). */
export interface ArgumentsDeltaData extends s.ValueOf<typeof contentDelta> {}

const toolCallArguments = s.object({ documentId, arguments: s.record(s.anything()) });

/** Complete arguments of a tool call (R16). */
export interface ToolCallArgumentsData extends s.ValueOf<typeof toolCallArguments> {}

const outputDelta = s.object({ documentId, stream: s.choice(["stdout", "stderr"]), delta: s.string() });

/** Ext: live output (X6). */
export interface OutputDeltaData extends s.ValueOf<typeof outputDelta> {}

const toolResult = s.object({ documentId, result: s.named<ToolCallResult>(toolCallResult) });

/** Result of a tool call (R16). */
export interface ToolResultData extends s.ValueOf<typeof toolResult> {}

const documentEnd = s.object({
  documentId,
  /** Whole content; present iff it's a string (N47). Above 1 MiB the two fields below replace it (N55). */
  finalContent: s.optional(s.string()),
  /** Ext: SHA-256 of the content, hex (N55). */
  finalContentSha256: s.optional(s.string()),
  /** Ext: length of the content. UTF-16 units (N55). */
  finalContentLength: s.optional(count),
  /** Ext: complete and final metadata (N46). */
  metadata: s.optional(partialMetadata),
});

/** End of a document (R15, N46, N47). */
export interface DocumentEndData extends s.ValueOf<typeof documentEnd> {}

const reasoningDelta = s.object({ delta: s.string() });

/** Ext, only on request (N14). */
export interface ReasoningDeltaData extends s.ValueOf<typeof reasoningDelta> {}

/** Makes the schema of a snapshot. The caller chooses the response's schema: most readers accept a loose one. */
export function snapshotData(response: s.Schema<ChatResponse>) {
  return s.object({ response });
}

/** Ext: the whole state, which replaces everything (X3). */
export interface SnapshotData extends s.ValueOf<ReturnType<typeof snapshotData>> {}

const approvalResolved = s.object({ approvalId: s.string(), optionId: s.string(), by: s.string() });

/** Ext: the answer to an approval (X8). */
export interface ApprovalResolvedData extends s.ValueOf<typeof approvalResolved> {}

const providerWait = s.object({
  /** Reason for the wait: RATE_LIMITED, OVERLOADED, NETWORK or another code of C20. */
  code: s.string(),
  /** Time of the next try, RFC 3339 with `Z`. */
  until: instant,
  /** Number of tries so far. */
  tries: count,
});

/** Ext: Sheaf repeats the model request later (X5, R-10). */
export interface ProviderWaitData extends s.ValueOf<typeof providerWait> {}

const done = s.object({
  usage: s.named<Usage>(usage),
  /** Ext: id of the response. */
  id: s.optional(s.string()),
  /** Ext: final status of the response. */
  status: s.optional(s.choice(["completed", "error"])),
  /** Ext: final metadata of the response. */
  metadata: s.optional(s.named<ResponseMetadata>(responseMetadata)),
});

/** Last event (R14, N50). */
export interface DoneData extends s.ValueOf<typeof done> {}

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
  /** Ext: the run of a hook (N106). */
  readonly hook_result: HookReport;
  /** Ext: a message that the user added (C240). */
  readonly user_message: AddedMessage;
  readonly done: DoneData;
}

export type StreamEventName = keyof StreamEventPayloads;

/** One event before it has an id. */
export type StreamEventBody = {
  [Name in StreamEventName]: { readonly event: Name; readonly data: StreamEventPayloads[Name] };
}[StreamEventName];

/** One event in the envelope of all transports (N43, X15). `id` is at least 1 and strictly increases (X1). */
export type StreamEvent = StreamEventBody & { readonly id: number };

/** Schema of each payload. A response in a payload may be any object. */
export const payloadSchemas: { readonly [Name in StreamEventName]: s.Schema<StreamEventPayloads[Name]> } = {
  response_start: responseStart,
  document_start: documentStart,
  content_delta: contentDelta,
  tool_call_start: toolCallStart,
  arguments_delta: contentDelta,
  tool_call_arguments: toolCallArguments,
  output_delta: outputDelta,
  tool_result: toolResult,
  document_end: documentEnd,
  reasoning_delta: reasoningDelta,
  snapshot: snapshotData(s.object({}) as s.Schema as s.Schema<ChatResponse>),
  approval_request: approvalRequest,
  approval_resolved: approvalResolved,
  provider_wait: providerWait,
  hook_result: hookReport,
  user_message: addedMessage,
  done,
};
