/** The port between conversations and storage. One contract suite runs against every implementation. */
import type { AttachmentType, Effort, Mode, RunEvent } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { Cluster, ClusterTerms, WaitingMessages } from "./cluster.ts";

/** The owner of everything that the command line stores. */
export const localOwner = "local";

/** File name of a private store in memory, which is lost when it is closed. */
export const memoryFile = ":memory:";

/** True if a store is a PostgreSQL database, and not a file. */
export function isPostgresAddress(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

/** Restrictions that a caller set on its conversation: deny rules, and the choice of tools (C69). */
export interface Restrictions {
  readonly deny?: readonly string[] | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly excludedTools?: readonly string[] | undefined;
}

/** Settings of a conversation's next message, unless that message sets others (X25). */
export interface ConversationSettings extends Restrictions {
  readonly mode?: Mode | undefined;
  /** Name of the model, as the caller wrote it. */
  readonly model?: string | undefined;
  readonly effort?: Effort | undefined;
}

/** Usage of the ended responses of a conversation, including reverted ones (X35). */
interface ConversationUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** US dollars of the requests with a known price; undefined: no request has one. */
  readonly costUsd?: number | undefined;
}

export interface ConversationRecord {
  /** Id of the conversation: `conv_<uuid>`. */
  readonly id: string;
  /** Absolute root of the workspace. */
  readonly workspace: string;
  /** First prompt, shortened. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Settings of the newest message, or later changes; empty if they were never stored. */
  readonly settings: ConversationSettings;
  /** True if the user pinned the conversation to the top of the list. */
  readonly pinned: boolean;
  /** Sums of the responses' digests (`digestLog`). */
  readonly usage: ConversationUsage;
  /** The newest response that has not ended. */
  readonly openResponseId?: string | undefined;
  /** The last response of the shown branch. */
  readonly lastResponseId?: string | undefined;
}

/** Changes of a conversation. */
interface ConversationPatch {
  readonly title?: string | undefined;
  /** All settings, which replace the old ones. */
  readonly settings?: ConversationSettings | undefined;
  readonly pinned?: boolean | undefined;
}

/** The texts of a response, for searches (X36). */
export interface ResponseTexts {
  readonly responseId: string;
  /** The user's message. */
  readonly message: string;
  /** The answer by `digestLog`; "" while the response runs. */
  readonly answer: string;
}

export interface ResponseRecord {
  /** Id of the response: `chat_<uuid>`. */
  readonly id: string;
  readonly conversationId: string;
  /** Place in the conversation, from 1. */
  readonly position: number;
  readonly createdAt: number;
  /** Number of the last stored event; 0 before the first. */
  readonly lastSeq: number;
  /** True if `run_end` is stored. */
  readonly ended: boolean;
  /** True if the response is on a hidden branch: stored, but no part of the history. */
  readonly reverted: boolean;
  /** Position of the response before it, 0 for the first; null if an earlier Sheaf stored it without that position. */
  readonly parent: number | null;
}

/** The data of a response to create. */
export interface NewResponse {
  readonly id: string;
  readonly conversationId: string;
  readonly workspace: string;
  /** Title of the conversation, if it is new. */
  readonly title: string;
  readonly createdAt: number;
  /** New settings of the conversation; undefined: it keeps its settings. */
  readonly settings?: ConversationSettings | undefined;
  /** The client's request, so that Sheaf answers it once (X9). */
  readonly request?: RequestKey | undefined;
  /** Terms for other processes. Undefined: the message didn't wait, and no other process may continue the response. */
  readonly cluster?: ClusterTerms | undefined;
}

/** A request that the client may send again (X9). */
export interface RequestKey {
  /** Key that the client chose. */
  readonly key: string;
  /** Hash of the request's content. */
  readonly digest: string;
}

/** A request that has its response (X9). */
export interface RequestRecord extends RequestKey {
  readonly responseId: string;
  readonly conversationId: string;
}

/** A conversation that is stored as a whole, with ended logs. */
export interface CompleteConversation extends Omit<
  ConversationRecord,
  "pinned" | "usage" | "openResponseId" | "lastResponseId"
> {
  readonly responses: readonly {
    readonly id: string;
    readonly createdAt: number;
    readonly events: readonly RunEvent[];
  }[];
}

/** Usage of an owner (S-55). */
export interface OwnerUsage {
  /** Number of model requests. */
  readonly turns: number;
  readonly costUsd: number;
}

/** A response that has not ended. */
export interface OpenResponse {
  readonly id: string;
  readonly owner: string;
}

/** State of a renewed lease: `cancel` if the writer should stop, `lost` if another process took over. */
export type LeaseState = "kept" | "cancel" | "lost";

/**
 * `grouped` events survive the death of this process, `synced` events also the death of the machine.
 * Ends of messages and documents, and tool results, are synced.
 */
export type Durability = "grouped" | "synced";

/** Selects and orders conversations for a list. */
interface ConversationQuery {
  readonly limit: number;
  readonly workspace?: string | undefined;
  /** Excludes this conversation and those before it in the list. */
  readonly after?: (Pick<ConversationRecord, "id" | "updatedAt"> & { readonly pinned?: boolean }) | undefined;
  /** True to list pinned conversations before all others. */
  readonly pinnedFirst?: boolean | undefined;
  /** Text that the title, or a message or answer that isn't reverted, must contain, ignoring case. */
  readonly search?: string | undefined;
}

/** A file that messages may use (X46); it belongs to its owner, not to a conversation. */
export interface AttachmentRecord {
  /** Id of the file: `att_<uuid>`. */
  readonly id: string;
  readonly name: string;
  readonly mediaType: AttachmentType;
  /** Size of the file. Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** Limits of one owner's files. */
export interface AttachmentLimits {
  readonly count: number;
  readonly bytes: number;
}

/** Rows that one owner sees, and that need no lease. */
export interface StoredRows {
  /** Shows the branch that ends at this position; 0: an empty history. */
  showBranch(conversationId: string, lastPosition: number): Promise<void>;
  getResponse(responseId: string): Promise<ResponseRecord | undefined>;
  /** Lists responses in the order of their position, including reverted ones. */
  listResponses(conversationId: string): Promise<readonly ResponseRecord[]>;
  getConversation(conversationId: string): Promise<ConversationRecord | undefined>;
  /** Lists conversations, newest first; with `pinnedFirst`, the pinned ones newest first, then the others. */
  listConversations(query: ConversationQuery): Promise<readonly ConversationRecord[]>;
  /** Returns the response to a request (X9). */
  findRequest(key: string): Promise<RequestRecord | undefined>;
  /** Returns false if the conversation doesn't exist. */
  changeConversation(conversationId: string, patch: ConversationPatch): Promise<boolean>;
  /** Stores a conversation as a whole or not at all. @throws SheafError USAGE for an id that is in use. */
  addConversation(conversation: CompleteConversation): Promise<void>;
  /** Lists the texts of responses that aren't reverted, in order. */
  listTexts(conversationId: string): Promise<readonly ResponseTexts[]>;
  /**
   * Lists responses of all owners without an end. Leaves out responses with a living writer if one statement can, so
   * that a look for lost ones has the same cost however many run.
   */
  listOpenResponses(): Promise<readonly OpenResponse[]>;
  countConversations(): Promise<number>;
  /** Reads the owner's usage on a day, such as `2026-02-23`. */
  readUsage(day: string): Promise<OwnerUsage>;
  addUsage(day: string, usage: OwnerUsage): Promise<void>;
  /** Returns false if the file would exceed the limits, even if other processes add files at the same moment. */
  addAttachment(record: AttachmentRecord, bytes: Uint8Array, limits: AttachmentLimits): Promise<boolean>;
  getAttachment(id: string): Promise<AttachmentRecord | undefined>;
  /** Lists the files, oldest first. */
  listAttachments(): Promise<readonly AttachmentRecord[]>;
  readAttachment(id: string): Promise<Uint8Array | undefined>;
  /** Returns false if the file doesn't exist. */
  deleteAttachment(id: string): Promise<boolean>;
  /** Deletes old files of all owners. */
  deleteAttachmentsBefore(time: number): Promise<void>;
}

/**
 * Durable conversations, responses and their logs, from the view of one owner, who can't reach any other owner's
 * (S-53).
 * A conversation has one writer at a time, across all processes: the holder of its lease. A lease ends with its
 * response, with its process, or when it isn't renewed in time. Each lease has a higher number than the last, and a
 * writer with an old number can no longer write. Failures are `SheafError`s with a STORAGE_ code.
 */
export interface Store extends StoredRows {
  /** True if an append takes a while, and large ones hardly longer. Then gather events into groups. */
  readonly gathersWrites: boolean;
  /**
   * Opens a response at the end of its conversation, makes the conversation if it is new, and takes the lease.
   * @throws SheafError CONVERSATION_BUSY if another writer has it, or if its request was answered meanwhile; CANCELLED
   * if its message was claimed and no longer waits. RunningLimitError.
   */
  createResponse(response: NewResponse): Promise<ResponseRecord>;
  /**
   * Takes the lease of a response without an end and a writer, so that this process can end it.
   * Returns false if it has ended, has a writer, doesn't exist, or may be continued by another process.
   */
  claimResponse(responseId: string): Promise<boolean>;
  /**
   * Ends the writing of a response that this process created or claimed. A response without an end can be claimed: by
   * this process at once, by others after the death of this one.
   */
  leaveResponse(responseId: string): Promise<void>;
  /** Renews the lease of a response; call it every few seconds. */
  keepLease(responseId: string): Promise<LeaseState>;
  /** Asks the writer of a response to stop, wherever it runs. */
  requestCancel(responseId: string): Promise<void>;
  /**
   * Calls back when another process has added to a response, or asks its writer something, until you call the result.
   * Calls can be missing or superfluous, and a store without a cluster never calls, so look at intervals.
   */
  watchResponse(responseId: string, onChange: () => void): () => void;
  /**
   * Calls back when the list of this owner may look different: after a start, an approval, an end or a change, or when
   * a message waits. As with `watchResponse`, calls can be missing or superfluous.
   */
  watchConversations(onChange: () => void): () => void;
  /** The other processes; undefined if none can start, continue or answer for this one. */
  readonly cluster: Cluster | undefined;
  /**
   * Adds events to the log of a response that this process created or claimed, all or none. `seq` continues without a
   * gap. `run_end` releases the lease, and stores the log's digest (`digestLog`).
   * @throws SheafError CONVERSATION_BUSY if another writer took over; STORAGE_FULL, STORAGE_LOCKED, STORAGE_CORRUPT;
   * INTERNAL for a gap.
   */
  appendEvents(responseId: string, events: readonly RunEvent[], durability: Durability): Promise<void>;
  /** Returns events with `seq` above `after`, in order; about `limit` of them, and at least one if there is one. */
  readEvents(responseId: string, after?: number, limit?: number): Promise<readonly RunEvent[]>;
  /**
   * Takes the lease of a conversation for an action other than a response; the result releases it.
   * Returns undefined if the conversation doesn't exist. @throws SheafError CONVERSATION_BUSY.
   */
  lockConversation(conversationId: string): Promise<(() => Promise<void>) | undefined>;
  close(): Promise<void>;
}

/** A store with the additional functions that a server needs. */
export interface SharedStore extends Store {
  readonly waiting: WaitingMessages;
  /** Returns the same store as another owner sees it; closing one view closes all. */
  forOwner(owner: string): SharedStore;
  /** Resolves if the store can be read and written now. @throws SheafError STORAGE_… */
  checkReady(): Promise<void>;
  /** Returns false if the conversation doesn't exist. @throws SheafError CONVERSATION_BUSY. */
  deleteConversation(conversationId: string): Promise<boolean>;
  /**
   * Deletes conversations of all owners whose last message is older than a time (milliseconds since 1970), at most the
   * oldest `limit`. Spares pinned ones, running ones, and those for which a message waits. Returns their ids.
   */
  deleteOldConversations(before: number, limit: number): Promise<readonly string[]>;
}

/** Returns the newest response of a conversation that isn't reverted. */
export async function findNewestResponse(
  store: Pick<Store, "listResponses">,
  conversationId: string,
): Promise<ResponseRecord | undefined> {
  return (await store.listResponses(conversationId)).findLast(({ reverted }) => !reverted);
}

/** The owner has as many responses as allowed, in all processes. */
export class RunningLimitError extends SheafError {
  constructor() {
    super("OVERLOADED", "too many responses run at the same time: wait until one has ended", { source: "storage" });
  }
}

/** The error if another writer has the lease of the conversation. */
export function createBusyError(conversationId: string): SheafError {
  const message = `another response of ${conversationId} is being written: wait for its end, or cancel it`;
  return new SheafError("CONVERSATION_BUSY", message, { source: "storage" });
}

/** True if a response could not start because another one is being written; a later try may succeed. */
export function isBusyError(error: unknown): boolean {
  return error instanceof SheafError && error.code === "CONVERSATION_BUSY" && error.source === "storage";
}

/** The error if another owner, or another conversation, has the id. */
export function createTakenError(id: string): SheafError {
  return new SheafError("USAGE", `the id ${id} is taken: choose another one`, { source: "storage" });
}

const HAND_OVER = "hand-over";

/** The error of a response that another process may continue, once this process has stopped its work on it. */
export function createHandOverError(responseId: string): SheafError {
  const message = `the server stops, and another process continues ${responseId}: load the response again`;
  return new SheafError("CONVERSATION_BUSY", message, { source: "storage", details: HAND_OVER });
}

/** True for the error of `createHandOverError`. Other processes wait until the response has ended here. */
export function isHandOver(error: unknown): boolean {
  return error instanceof SheafError && error.code === "CONVERSATION_BUSY" && error.details === HAND_OVER;
}

/** The error if another writer took the response over. */
export function createLostError(responseId: string): SheafError {
  const message = `another process took over ${responseId}, since this one did not respond for a while: load the response again`;
  return new SheafError("CONVERSATION_BUSY", message, { source: "storage" });
}
