/** The documents of a response while its events come in. */
import type { Document } from "./documents.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import type { StreamEventName } from "./stream-events.ts";

const documentEventNames = [
  "document_start",
  "content_delta",
  "output_delta",
  "tool_call_start",
  "tool_call_arguments",
  "tool_result",
  "document_end",
] as const satisfies readonly StreamEventName[];

/** Events that change one document. */
export type DocumentEventName = (typeof documentEventNames)[number];

const documentEvents: ReadonlySet<string> = new Set(documentEventNames);

export function isDocumentEvent(name: string): name is DocumentEventName {
  return documentEvents.has(name);
}

export interface DocumentList {
  /** Takes one event; false when it names no open document or holds what cannot be. */
  apply(name: DocumentEventName, data: JsonObject): boolean;
  /** The documents as values. Unchanged ones are the same objects as at the last read. */
  read(): readonly Document[];
  lastType(): string | undefined;
}

/** Starts with the documents of a snapshot, if given. */
export function createDocumentList(documents: readonly JsonObject[] = []): DocumentList {
  return new Documents(documents);
}

interface Draft {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  content: string | null;
  metadata: Record<string, unknown>;
  open: boolean;
  /** Place in the list. */
  readonly index: number;
  /** Since the last read. */
  hasChanged: boolean;
}

/** Types whose content is always null (N11). */
const contentless: ReadonlySet<string> = new Set(["tool_call", "terminal_command", "todo_update"]);

/** Types whose content is a string from the start (N11). */
const textual: ReadonlySet<string> = new Set([
  "text",
  "code_reference",
  "code_block",
  "plan",
  "clarification",
  "error",
]);

/** Where live output goes. */
const outputFields: ReadonlyMap<string, string> = new Map([
  ["terminal_command", "output"],
  ["tool_call", "draftOutput"],
]);

class Documents implements DocumentList {
  readonly #byId = new Map<unknown, Draft>();
  /** What the last read gave. */
  #values: readonly Document[] = [];
  #changed: Draft[] = [];
  #last: Draft | undefined;

  constructor(documents: readonly JsonObject[]) {
    for (const document of documents) {
      const draft = this.#add(document);
      if (draft === undefined) continue;
      if (typeof document["content"] === "string") draft.content = document["content"];
      draft.open = document["status"] === "in_progress";
    }
  }

  lastType(): string | undefined {
    return this.#last?.type;
  }

  /** One copy of the list, and of each document that changed: a read stays cheap with thousands of documents. */
  read(): readonly Document[] {
    if (this.#changed.length === 0) return this.#values;
    const values = this.#values.slice();
    for (const draft of this.#changed) {
      values[draft.index] = toDocument(draft);
      draft.hasChanged = false;
    }
    this.#values = values;
    this.#changed = [];
    return values;
  }

  apply(name: DocumentEventName, data: JsonObject): boolean {
    if (name === "document_start") return this.#add(data) !== undefined;
    const draft = this.#byId.get(data["documentId"]);
    if (draft === undefined || !draft.open || !changes[name](draft, data)) return false;
    this.#mark(draft);
    return true;
  }

  #mark(draft: Draft): void {
    if (draft.hasChanged) return;
    draft.hasChanged = true;
    this.#changed.push(draft);
  }

  #add(data: JsonObject): Draft | undefined {
    const { id, type, sequence, metadata } = data;
    if (typeof id !== "string" || typeof type !== "string" || typeof sequence !== "number") return undefined;
    if (this.#byId.has(id)) return undefined;
    const content = textual.has(type) ? "" : null;
    const draft: Draft = {
      id,
      type,
      sequence,
      content,
      metadata: isJsonObject(metadata) ? { ...metadata } : {},
      open: true,
      index: this.#byId.size,
      hasChanged: false,
    };
    this.#byId.set(id, draft);
    this.#last = draft;
    this.#mark(draft);
    return draft;
  }
}

/** Spread defines own fields, so a `__proto__` of foreign JSON stays a field (S-71). */
function toDocument(draft: Draft): Document {
  const { id, type, sequence, content, metadata } = draft;
  const document = { id, type, sequence, content, metadata: { ...metadata } };
  // Foreign events make what they make: whoever needs certainty asks isDocument.
  return (draft.open ? { ...document, status: "in_progress" } : document) as unknown as Document;
}

/** What each event does to an open document; false when it cannot. */
const changes: Readonly<
  Record<Exclude<DocumentEventName, "document_start">, (draft: Draft, data: JsonObject) => boolean>
> = {
  content_delta: (draft, data) => addContent(draft, data["delta"]),
  output_delta: (draft, data) => addOutput(draft, data["delta"]),
  tool_call_start: (draft, data) => setFields(draft, { toolName: data["toolName"], toolCallId: data["toolCallId"] }),
  tool_call_arguments: (draft, data) => setFields(draft, { arguments: data["arguments"] }),
  tool_result: (draft, data) => setFields(draft, { result: data["result"] }),
  document_end: endDraft,
};

function addContent(draft: Draft, delta: unknown): boolean {
  if (typeof delta !== "string" || contentless.has(draft.type)) return false;
  draft.content = (draft.content ?? "") + delta;
  return true;
}

function addOutput(draft: Draft, delta: unknown): boolean {
  const field = outputFields.get(draft.type);
  if (typeof delta !== "string" || field === undefined) return false;
  const before = draft.metadata[field];
  draft.metadata[field] = typeof before === "string" ? before + delta : delta;
  return true;
}

function setFields(draft: Draft, fields: JsonObject): boolean {
  for (const name in fields) if (fields[name] === undefined) return false;
  draft.metadata = { ...draft.metadata, ...fields };
  return true;
}

/** N46, N47. Without `finalContent` the joined deltas count (N55). */
function endDraft(draft: Draft, data: JsonObject): boolean {
  const { finalContent, metadata } = data;
  if (typeof finalContent === "string" && !contentless.has(draft.type)) draft.content = finalContent;
  if (isJsonObject(metadata)) draft.metadata = { ...draft.metadata, ...metadata };
  draft.open = false;
  return true;
}
