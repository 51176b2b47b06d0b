/** Guards for documents, responses and events that come from outside. They look at structure only. */
import type { ChatResponse } from "./chat.ts";
import { chatResponse, document } from "./response-shape.ts";
import type { Document } from "./documents.ts";
import { createEventShape } from "./event-shape.ts";
import { mode } from "./response-part-shapes.ts";
import type { StreamEvent } from "./stream-events.ts";

const streamEvent = createEventShape({ response: chatResponse, mode });

/**
 * Whether `value` has the structure of a document (R3 to R13). Unknown fields are fine, and so is a type that this
 * version does not know, as long as the fields of R3 are right (N13). An open document may lack metadata that is not
 * known yet (N3).
 */
export function isDocument(value: unknown): value is Document {
  return document(value) === undefined;
}

/** Whether `value` has the structure of a response (R2), its documents too. */
export function isChatResponse(value: unknown): value is ChatResponse {
  return chatResponse(value) === undefined;
}

/** Whether `value` is an event in its envelope (N43, X15). Unknown events need an object as payload (X14). */
export function isStreamEvent(value: unknown): value is StreamEvent {
  return streamEvent(value) === undefined;
}

/** Where and why `value` is no document, for instance `metadata.startLine: expected an integer`; undefined if it is one. */
export function explainDocument(value: unknown): string | undefined {
  return toExplanation(document(value));
}

/** Where and why `value` is no response; undefined if it is one. */
export function explainChatResponse(value: unknown): string | undefined {
  return toExplanation(chatResponse(value));
}

/** Where and why `value` is no stream event; undefined if it is one. */
export function explainStreamEvent(value: unknown): string | undefined {
  return toExplanation(streamEvent(value));
}

function toExplanation(problem: string | undefined): string | undefined {
  return problem?.replace(/^[.:] ?/, "");
}
