/** The reducer, which turns the events of a response into documents, as clients do (section 3 of the contract). */
import type { ChatResponse } from "./chat.ts";
import { DocumentList } from "./document-list.ts";
import { isJsonObject, type JsonObject, toJsonObject } from "./json-object.ts";
import { payloadFields } from "./payload-fields.ts";
import type { AddedMessage, ApprovalRequestData, HookReport } from "./response-parts.ts";
import type { StreamEvent } from "./stream-events.ts";

export interface Reducer {
  /** Takes one event from any source. Never throws, even for invalid events. */
  push(event: StreamEvent): void;
  /**
   * The response so far. It is a value: later events don't change it.
   * A read copies the list and each document that changed since the last read. Other documents, and an unchanged
   * response, stay the same objects.
   */
  readonly response: ChatResponse;
  /** Highest id so far, including snapshots; 0 before the first event (X1, X3). */
  readonly lastEventId: number;
  /** Number of unknown events and payload fields, and of events for documents that aren't open (N1, X14). */
  readonly ignored: number;
}

/** Creates a reducer. The cost of a delta doesn't depend on the length of the answer. */
export function createReducer(): Reducer {
  return new ResponseReducer();
}

/** Returns the response that a stream, or its start, adds up to (N53). */
export function reduce(events: Iterable<StreamEvent>): ChatResponse {
  const reducer = createReducer();
  for (const event of events) reducer.push(event);
  return reducer.response;
}

/**
 * Returns the body of a GET at this moment (N3). While the response streams, `metadata.lastEventId` is the event after
 * which a client can attach. An ended response stays unchanged.
 */
export function toSnapshot(reducer: Pick<Reducer, "response" | "lastEventId">): ChatResponse {
  const { response, lastEventId } = reducer;
  if (response.status !== "streaming") return response;
  return { ...response, metadata: { ...response.metadata, lastEventId } };
}

type Head = Omit<ChatResponse, "documents" | "approvals">;

const emptyHead: Head = {
  id: "",
  conversationId: "",
  model: "",
  mode: "agent",
  created: "",
  status: "streaming",
  usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
  metadata: { duration_ms: 0, toolCallCount: 0, turnCount: 0 },
};

const knownFields: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(payloadFields));

class ResponseReducer implements Reducer {
  lastEventId = 0;
  ignored = 0;
  #head: Head = emptyHead;
  #documents = new DocumentList();
  #approvals: readonly ApprovalRequestData[] = [];
  #view: ChatResponse | undefined;

  get response(): ChatResponse {
    this.#view ??= this.#read();
    return this.#view;
  }

  push({ id, event, data }: StreamEvent): void {
    if (id <= this.lastEventId) return;
    if (Number.isSafeInteger(id)) this.lastEventId = id;
    const fields = knownFields.get(event);
    if (fields === undefined || !isJsonObject(data) || this.#head.status !== "streaming") {
      this.ignored += 1;
      return;
    }
    for (const field in data) if (!fields.includes(field)) this.ignored += 1;
    if (this.#apply(event, data, fields)) this.#view = undefined;
    else this.ignored += 1;
  }

  #read(): ChatResponse {
    const { usage, metadata, ...head } = this.#head;
    const response: ChatResponse = { ...head, documents: this.#documents.read(), usage, metadata };
    return { ...response, ...(this.#approvals.length > 0 && { approvals: this.#approvals }) };
  }

  /** Takes an event; returns false if it is invalid. */
  #apply(event: string, data: JsonObject, fields: readonly string[]): boolean {
    switch (event) {
      case "reasoning_delta":
      case "arguments_delta":
      case "provider_wait":
        return true;
      case "response_start":
        this.#head = { ...emptyHead, ...identity(data) };
        this.#documents = new DocumentList();
        this.#approvals = [];
        return true;
      case "snapshot":
        return this.#replace(data["response"]);
      case "approval_request":
        if (!isApproval(data)) return false;
        this.#approvals = [...this.#approvals, data];
        return true;
      case "hook_result":
        if (typeof data["event"] !== "string") return false;
        this.#head = { ...this.#head, hooks: [...(this.#head.hooks ?? []), data as unknown as HookReport] };
        return true;
      case "user_message":
        if (typeof data["message"] !== "string") return false;
        this.#head = { ...this.#head, messages: [...(this.#head.messages ?? []), data as unknown as AddedMessage] };
        return true;
      case "approval_resolved":
        this.#approvals = this.#approvals.filter(({ approvalId }) => approvalId !== data["approvalId"]);
        return true;
      case "done":
        this.#end(data);
        return true;
      default:
        return this.#documents.apply(event, data, fields);
    }
  }

  /** Replaces the response by a snapshot (X3). */
  #replace(response: unknown): boolean {
    if (!isJsonObject(response) || !Array.isArray(response["documents"])) return false;
    const { lastEventId, ...metadata } = toJsonObject(response["metadata"]);
    if (typeof lastEventId === "number" && lastEventId > this.lastEventId) this.lastEventId = lastEventId;
    const { hooks, messages } = response;
    const head: Head = {
      ...emptyHead,
      ...(Array.isArray(hooks) && { hooks: hooks.filter(isJsonObject) as never[] }),
      ...(Array.isArray(messages) && { messages: messages.filter(isJsonObject) as never[] }),
    };
    this.#head = mergeHead(head, { ...response, metadata }, toEndStatus(response["status"]) ?? "streaming");
    this.#documents = new DocumentList(response["documents"].filter(isJsonObject));
    const approvals: unknown[] = Array.isArray(response["approvals"]) ? response["approvals"] : [];
    this.#approvals = approvals.filter(isApproval);
    return true;
  }

  /** Ends the response (N50). A base stream has no status: then the last document determines it (N2). */
  #end(data: JsonObject): void {
    const status =
      toEndStatus(data["status"]) ?? (this.#documents.read().at(-1)?.type === "error" ? "error" : "completed");
    this.#head = mergeHead(this.#head, data, status);
    this.#approvals = [];
  }
}

function mergeHead(head: Head, data: JsonObject, status: Head["status"]): Head {
  return {
    ...head,
    ...identity(data),
    status,
    usage: { ...head.usage, ...toJsonObject(data["usage"]) },
    metadata: { ...head.metadata, ...toJsonObject(data["metadata"]) },
  };
}

/** Returns the fields that identify a response, as far as present. */
function identity(data: JsonObject): Partial<Head> {
  const found: Record<string, unknown> = {};
  for (const field of ["id", "conversationId", "model", "mode", "created"]) {
    if (typeof data[field] === "string") found[field] = data[field];
  }
  return found;
}

function toEndStatus(value: unknown): "completed" | "error" | undefined {
  return value === "completed" || value === "error" ? value : undefined;
}

function isApproval(value: unknown): value is ApprovalRequestData {
  return isJsonObject(value) && typeof value["approvalId"] === "string" && typeof value["documentId"] === "string";
}
