/** The documents of a response while its events come in. */
import type { Document } from "./documents.ts";
import { type JsonObject, toJsonObject } from "./json-object.ts";

export interface DocumentList {
  /** Takes one event; false when it changes no document, names no open one or holds what cannot be. */
  apply(event: string, data: JsonObject): boolean;
  /** The documents as values. Unchanged ones are the same objects as at the last read; so is the list if none changed. */
  read(): readonly Document[];
  lastType(): string | undefined;
}

/** Starts with the documents of a snapshot, if given. */
export function createDocumentList(documents: readonly JsonObject[] = []): DocumentList {
  return new Documents(documents);
}

/** A document as its events make it, which may be foreign: whoever needs certainty asks isDocument. */
interface Draft {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  content: string | null;
  readonly metadata: JsonObject;
  /** There as long as it is open (N3). */
  readonly status?: "in_progress";
}

/** Types whose content is a string from the start (N11). */
const textual: ReadonlySet<string> = new Set([
  "text",
  "code_reference",
  "code_block",
  "plan",
  "clarification",
  "error",
]);

/** Types whose content is always null (N11), and where their live output goes. */
const contentless: ReadonlyMap<string, string | undefined> = new Map([
  ["terminal_command", "output"],
  ["tool_call", "draftOutput"],
  ["todo_update", undefined],
]);

/** An event puts a new value in the place of the old, which somebody may have read. */
class Documents implements DocumentList {
  readonly #places = new Map<unknown, number>();
  readonly #drafts: Draft[] = [];
  /** The last one that was made, as long as nobody has read it: it may be changed. */
  #unread: Draft | undefined;
  /** As it was read last; undefined when it has changed since. */
  #view: readonly Document[] | undefined;

  constructor(documents: readonly JsonObject[]) {
    for (const document of documents) this.#add(document, document["status"], document["content"]);
  }

  lastType(): string | undefined {
    return this.#drafts.at(-1)?.type;
  }

  read(): readonly Document[] {
    this.#unread = undefined;
    return (this.#view ??= this.#drafts.slice() as unknown as Document[]);
  }

  apply(event: string, data: JsonObject): boolean {
    if (event === "document_start") return this.#add(data, "in_progress");
    const place = this.#places.get(data["documentId"]) ?? -1;
    const draft = this.#drafts[place];
    const changed = draft?.status === undefined ? undefined : changes.get(event)?.(draft, data, draft === this.#unread);
    if (changed === undefined) return false;
    this.#drafts[place] = changed;
    this.#unread = changed;
    this.#view = undefined;
    return true;
  }

  #add({ id, type, sequence, metadata }: JsonObject, status: unknown, content?: unknown): boolean {
    if (typeof id !== "string" || typeof type !== "string" || typeof sequence !== "number") return false;
    if (this.#places.has(id)) return false;
    this.#places.set(id, this.#drafts.length);
    this.#view = undefined;
    const first = textual.has(type) ? "" : null;
    this.#drafts.push({
      id,
      type,
      sequence,
      content: typeof content === "string" ? content : first,
      metadata: { ...toJsonObject(metadata) },
      ...(status === "in_progress" ? { status } : {}),
    });
    return true;
  }
}

type Change = (draft: Draft, data: JsonObject, isUnread: boolean) => Draft | undefined;

/** What each event makes of an open document; undefined when it cannot. */
const changes: ReadonlyMap<string, Change> = new Map<string, Change>([
  ["content_delta", addContent],
  ["output_delta", addOutput],
  ["tool_call_start", (draft, { toolName, toolCallId }) => setFields(draft, { toolName, toolCallId })],
  ["tool_call_arguments", (draft, data) => setFields(draft, { arguments: data["arguments"] })],
  ["tool_result", (draft, { result }) => setFields(draft, { result })],
  ["document_end", endDraft],
]);

function addContent(draft: Draft, { delta }: JsonObject, isUnread: boolean): Draft | undefined {
  if (typeof delta !== "string" || contentless.has(draft.type)) return undefined;
  const content = (draft.content ?? "") + delta;
  if (!isUnread) return { ...draft, content };
  // Nearly every event is such a delta: it should cost no object.
  draft.content = content;
  return draft;
}

function addOutput(draft: Draft, { delta }: JsonObject): Draft | undefined {
  const field = contentless.get(draft.type);
  if (typeof delta !== "string" || field === undefined) return undefined;
  const before = draft.metadata[field];
  return setFields(draft, { [field]: typeof before === "string" ? before + delta : delta });
}

/** Spread defines own fields, so a `__proto__` of foreign JSON stays a field (S-71). */
function setFields(draft: Draft, fields: JsonObject): Draft | undefined {
  for (const name in fields) if (fields[name] === undefined) return undefined;
  return { ...draft, metadata: { ...draft.metadata, ...fields } };
}

/** N46, N47. Without `finalContent` the joined deltas count (N55). */
function endDraft(draft: Draft, { finalContent, metadata }: JsonObject): Draft {
  const { status: _, ...ended } = draft;
  const content = typeof finalContent === "string" && !contentless.has(draft.type) ? finalContent : draft.content;
  return { ...ended, content, metadata: { ...draft.metadata, ...toJsonObject(metadata) } };
}
