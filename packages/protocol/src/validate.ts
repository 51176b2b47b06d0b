/** Guards for documents, responses and events that come from outside. They look at structure only. */
import type { ChatResponse } from "./chat.ts";
import { chatResponse, document } from "./response-shape.ts";
import type { Document } from "./documents.ts";
import { payloadPatterns } from "./event-patterns.ts";
import { isJsonObject } from "./json-object.ts";
import { mode } from "./response-part-patterns.ts";
import { type Shape, toShape } from "./shape.ts";
import type { StreamEvent } from "./stream-events.ts";

const envelope = toShape({ id: "place", event: "text", data: "object" });
const payloadShapes: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ...[...payloadPatterns].map(([event, pattern]) => [event, toShape(pattern)] as const),
  // Looked at more closely than a reader does.
  ["response_start", toShape({ ...payloadPatterns.get("response_start"), mode })],
  ["snapshot", toShape({ response: chatResponse })],
]);

/** The envelope, and the payload of the events that this version knows (X14). */
function streamEvent(value: unknown): string | undefined {
  const problem = envelope(value);
  if (problem !== undefined || !isJsonObject(value)) return problem;
  const found = payloadShapes.get(value["event"])?.(value["data"]);
  return found === undefined ? undefined : `.data${found}`;
}

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
