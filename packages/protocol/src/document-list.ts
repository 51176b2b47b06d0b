/** Builds the documents of a response while its events arrive. */
import type { Document } from "./documents.ts";
import { type JsonObject, toJsonObject } from "./json-object.ts";

/** A document that events built, which may be invalid: to be certain, use `isDocument`. */
interface Draft {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  content: string | null;
  readonly metadata: JsonObject;
  /** Present while the document is open (N3). */
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

/** Types whose content is always null (N11), with the field of their live output. */
const contentless: ReadonlyMap<string, string | undefined> = new Map([
  ["terminal_command", "output"],
  ["tool_call", "draftOutput"],
  ["todo_update", undefined],
]);

/** Documents as values: an event replaces the value, since a reader may have the old one. */
export class DocumentList {
  /** Places of the documents by id. */
  readonly #places = new Map<unknown, number>();
  readonly #drafts: Draft[] = [];
  /** The newest value while it is unread: events may still change it. */
  #unread: Draft | undefined;
  /** The list at the last read; undefined if it has changed since. */
  #view: readonly Document[] | undefined;

  /** Starts with the documents of a snapshot, if given. */
  constructor(documents: readonly JsonObject[] = []) {
    for (const document of documents) this.#add(document);
  }

  /** Returns the documents as values. Unchanged documents, and an unchanged list, are the same objects as last time. */
  read(): readonly Document[] {
    this.#unread = undefined;
    this.#view ??= this.#drafts.slice() as unknown as Document[];
    return this.#view;
  }

  /**
   * Takes one event with its possible fields. Returns false if the event changes no document, belongs to none that is
   * open, or is invalid.
   */
  apply(event: string, data: JsonObject, fields: readonly string[]): boolean {
    if (event === "document_start") return this.#add({ ...data, content: undefined, status: "in_progress" });
    const place = this.#places.get(data["documentId"]) ?? -1;
    const draft = this.#drafts[place];
    if (draft?.status === undefined) return false;
    const changed = toChanged(draft, event, data, fields, draft === this.#unread);
    if (changed === undefined) return false;
    this.#drafts[place] = changed;
    this.#unread = changed;
    this.#view = undefined;
    return true;
  }

  #add({ id, type, sequence, content, metadata, status }: JsonObject): boolean {
    if (typeof id !== "string" || typeof type !== "string" || typeof sequence !== "number") return false;
    if (this.#places.has(id)) return false;
    const first = textual.has(type) ? "" : null;
    this.#places.set(id, this.#drafts.length);
    this.#drafts.push({
      id,
      type,
      sequence,
      content: typeof content === "string" ? content : first,
      metadata: { ...toJsonObject(metadata) },
      ...(status === "in_progress" && { status }),
    });
    this.#view = undefined;
    return true;
  }
}

/** Returns an open document after an event; undefined if the event is invalid. */
function toChanged(
  draft: Draft,
  event: string,
  data: JsonObject,
  fields: readonly string[],
  isUnread: boolean,
): Draft | undefined {
  const { type, metadata } = draft;
  const { delta, finalContent } = data;
  switch (event) {
    case "content_delta": {
      if (typeof delta !== "string" || contentless.has(type)) return undefined;
      const content = (draft.content ?? "") + delta;
      if (!isUnread) return { ...draft, content };
      // Nearly every event is such a delta, so it should allocate no object.
      draft.content = content;
      return draft;
    }
    case "output_delta": {
      const field = contentless.get(type);
      if (typeof delta !== "string" || field === undefined) return undefined;
      const before = metadata[field];
      return { ...draft, metadata: { ...metadata, [field]: typeof before === "string" ? before + delta : delta } };
    }
    case "document_end": {
      // The joined deltas are the content if `finalContent` is missing (N46, N47, N55).
      const { status: _, ...ended } = draft;
      const content = typeof finalContent === "string" && !contentless.has(type) ? finalContent : draft.content;
      return { ...ended, content, metadata: { ...metadata, ...toJsonObject(data["metadata"]) } };
    }
    default: {
      // The other fields of tool call events are metadata, under the same names (R16).
      const known = fields.slice(1).map((field) => [field, data[field]] as const);
      if (known.some(([, value]) => value === undefined)) return undefined;
      return { ...draft, metadata: { ...metadata, ...Object.fromEntries(known) } };
    }
  }
}
