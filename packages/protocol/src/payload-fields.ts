/** The fields that each payload may have: all that the reducer needs of the schemas, in a tenth of their size. */
import type { StreamEventName, StreamEventPayloads } from "./stream-events.ts";

/** Known fields by event name; every other field in a payload is unknown (N1). */
export const payloadFields: {
  readonly [Name in StreamEventName]: readonly (keyof StreamEventPayloads[Name] & string)[];
} = {
  response_start: ["id", "conversationId", "model", "mode", "created", "status", "protocol", "heartbeat_ms"],
  document_start: ["id", "type", "sequence", "metadata"],
  content_delta: ["documentId", "delta"],
  tool_call_start: ["documentId", "toolName", "toolCallId"],
  arguments_delta: ["documentId", "delta"],
  tool_call_arguments: ["documentId", "arguments"],
  output_delta: ["documentId", "stream", "delta"],
  tool_result: ["documentId", "result"],
  document_end: ["documentId", "finalContent", "finalContentSha256", "finalContentLength", "metadata"],
  reasoning_delta: ["delta"],
  snapshot: ["response"],
  approval_request: [
    "approvalId",
    "documentId",
    "title",
    "description",
    "reason",
    "agent",
    "subject",
    "options",
    "expiresAt",
    "answeredIn",
  ],
  approval_resolved: ["approvalId", "optionId", "by"],
  provider_wait: ["code", "until", "tries"],
  hook_result: [
    "event",
    "origin",
    "status",
    "exitCode",
    "decision",
    "reason",
    "arguments",
    "informed",
    "documentId",
    "after",
  ],
  user_message: ["message", "messageId", "attachments", "after"],
  done: ["usage", "id", "status", "metadata"],
};
