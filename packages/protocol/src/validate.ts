/** Guards for untrusted documents, responses and events. They check structure only. */
import { type ChatResponse, responseSnapshot } from "./chat.ts";
import { formatProblem, listProblems, placeWithin, type Problem } from "./check-value.ts";
import { type Document, documentSchemas } from "./documents.ts";
import { isJsonObject } from "./json-object.ts";
import * as s from "./schema.ts";
import { payloadSchemas, readableStart, type StreamEvent } from "./stream-events.ts";

/** Fields of every document, whatever its type (R3). */
const anyDocument = s.object({
  id: s.string(),
  type: s.string(),
  sequence: s.integer({ minimum: 1 }),
  content: s.nullable(s.string()),
  metadata: s.object({}),
  status: s.optional(s.literal("in_progress")),
});
const completeDocuments: ReadonlyMap<unknown, s.JsonSchema> = new Map(Object.entries(documentSchemas));
/** Schemas of open documents, which may lack metadata (N3). */
const openDocuments: ReadonlyMap<unknown, s.JsonSchema> = new Map(
  Object.entries(documentSchemas).map(([type, { properties, ...schema }]) => [
    type,
    { ...schema, properties: { ...properties, metadata: { ...properties.metadata, required: [] } } },
  ]),
);
const anyResponse = responseSnapshot(s.anything());
const envelope = s.object({ id: s.integer({ minimum: 1 }), event: s.string(), data: s.object({}) });
const payloads: ReadonlyMap<unknown, s.JsonSchema> = new Map(
  Object.entries({ ...payloadSchemas, response_start: readableStart }),
);

/**
 * True if `value` has the structure of a document (R3 to R13). Unknown fields are valid, and unknown types too if they
 * have the fields of R3 (N13). An open document may lack metadata that isn't known yet (N3).
 */
export function isDocument(value: unknown): value is Document {
  return findDocumentProblem(value) === undefined;
}

/** True if `value` and its documents have the structure of a response (R2). */
export function isChatResponse(value: unknown): value is ChatResponse {
  return findResponseProblem(value) === undefined;
}

/** True if `value` is an event in its envelope (N43, X15). Unknown events need an object as payload (X14). */
export function isStreamEvent(value: unknown): value is StreamEvent {
  return findEventProblem(value) === undefined;
}

/** Returns a document's problem, as `metadata.startLine: expected an integer`; undefined if it's valid. */
export function explainDocument(value: unknown): string | undefined {
  return toExplanation(findDocumentProblem(value));
}

/** Returns a response's problem with its place; undefined if it's valid. */
export function explainChatResponse(value: unknown): string | undefined {
  return toExplanation(findResponseProblem(value));
}

/** Returns a stream event's problem with its place; undefined if it's valid. */
export function explainStreamEvent(value: unknown): string | undefined {
  return toExplanation(findEventProblem(value));
}

function toExplanation(problem: Problem | undefined): string | undefined {
  return problem && formatProblem(problem);
}

function findProblem(schema: s.JsonSchema, value: unknown): Problem | undefined {
  return listProblems(schema, value, true)[0];
}

function within(path: Problem["path"], problem: Problem | undefined): Problem | undefined {
  return problem && placeWithin(path, [problem])[0];
}

/** Checks R3, and R4 to R13 by type. */
function findDocumentProblem(value: unknown): Problem | undefined {
  const problem = findProblem(anyDocument, value);
  if (problem || !isJsonObject(value)) return problem;
  const { type, status, metadata } = value;
  const isOpen = status === "in_progress";
  const found = findProblem((isOpen ? openDocuments : completeDocuments).get(type) ?? {}, value);
  return found ?? (type === "file_edit" && !isOpen ? findDiffProblem(metadata) : undefined);
}

/** Checks that an edit has its diff, unless the file is binary or too large for one (N31, N34). */
function findDiffProblem(metadata: unknown): Problem | undefined {
  if (!isJsonObject(metadata) || metadata["operation"] !== "edit" || isJsonObject(metadata["diff"])) return undefined;
  const isExcused = ["truncated", "patchUrl", "binary"].some((name) => Object.hasOwn(metadata, name));
  return isExcused ? undefined : { path: ["metadata", "diff"], reason: "missing", schema: {}, value: undefined };
}

/** Checks R2, and that the position of a document is its sequence (N10). */
function findResponseProblem(value: unknown): Problem | undefined {
  const problem = findProblem(anyResponse, value);
  if (problem || !isJsonObject(value) || !Array.isArray(value["documents"])) return problem;
  for (const [index, document] of value["documents"].entries()) {
    const position = s.refine(s.anything(), String(index + 1), (sequence) => sequence === index + 1);
    const found = findDocumentProblem(document) ?? findProblem(s.object({ sequence: position }), document);
    if (found) return within(["documents", index], found);
  }
  return undefined;
}

/** Checks the envelope, and the payload of known events (X14). */
function findEventProblem(value: unknown): Problem | undefined {
  const problem = findProblem(envelope, value);
  if (problem || !isJsonObject(value)) return problem;
  const { event, data } = value;
  const found = within(["data"], findProblem(payloads.get(event) ?? {}, data));
  if (found || event !== "snapshot" || !isJsonObject(data)) return found;
  return within(["data", "response"], findResponseProblem(data["response"]));
}
