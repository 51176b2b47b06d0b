/** The port between conversations and storage. One contract suite runs against every implementation. */
import type { AttachmentType, Effort, Mode, RunEvent } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { Cluster, ClusterTerms, WaitingMessages } from "./cluster.ts";

/** The owner of everything that the command line stores. */
export const localOwner = "local";

/** Instead of a file name: a private store in memory, which is lost when it is closed. */
export const memoryFile = ":memory:";

/** True if a store is a PostgreSQL database, and not a file. */
export function isPostgresAddress(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

/** What a caller took from its conversation: deny rules, and the choice of tools (C69). */
export interface Restrictions {
  readonly deny?: readonly string[] | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly excludedTools?: readonly string[] | undefined;
}

/** What the next message of a conversation goes on with, unless it says otherwise (X25). */
export interface ConversationSettings extends Restrictions {
  readonly mode?: Mode | undefined;
  /** As the caller named it. */
  readonly model?: string | undefined;
  readonly effort?: Effort | undefined;
}

/** What the responses of a conversation used that have ended, reverted ones too (X35). */
interface ConversationUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** US dollars, of the requests whose price is known; undefined: of none. */
  readonly costUsd?: number | undefined;
}

/** A row of conversations. */
export interface ConversationRecord {
  /** `conv_<uuid>`. */
  readonly id: string;
  /** Absolute root of the workspace. */
  readonly workspace: string;
  /** First prompt, shortened. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Of its newest message, or as changed since; empty if they were never stored. */
  readonly settings: ConversationSettings;
  /** The user keeps it at the top of the list. */
  readonly pinned: boolean;
  /** Sums of `digestLog`. */
  readonly usage: ConversationUsage;
  /** Its newest response that has not ended. */
  readonly openResponseId?: string | undefined;
  /** The last response of its shown branch. */
  readonly lastResponseId?: string | undefined;
}

/** What may be changed of a conversation. */
interface ConversationPatch {
  readonly title?: string | undefined;
  /** All of them. */
  readonly settings?: ConversationSettings | undefined;
  readonly pinned?: boolean | undefined;
}

/** What was said in a response, for searches (X36). */
export interface ResponseTexts {
  readonly responseId: string;
  /** Of the user. */
  readonly message: string;
  /** Of `digestLog`; "" while the response runs. */
  readonly answer: string;
}

/** A row of responses. */
export interface ResponseRecord {
  /** `chat_<uuid>`. */
  readonly id: string;
  readonly conversationId: string;
  /** Place in the conversation, from 1. */
  readonly position: number;
  readonly createdAt: number;
  /** Number of the last stored event; 0 if none is. */
  readonly lastSeq: number;
  /** True if `run_end` is stored. */
  readonly ended: boolean;
  /** On another branch than the shown one: kept, but no part of the history. */
  readonly reverted: boolean;
  /** Place of the response before it, 0 for the first; null: an earlier Sheaf, which noted none, stored it. */
  readonly parent: number | null;
}

/** A response that begins. */
export interface NewResponse {
  readonly id: string;
  readonly conversationId: string;
  readonly workspace: string;
  /** Of the conversation, if it is new. */
  readonly title: string;
  readonly createdAt: number;
  /** Become those of the conversation; undefined: it keeps its own. */
  readonly settings?: ConversationSettings | undefined;
  /** The request that asked for it, so that it is answered once (X9). */
  readonly request?: RequestKey | undefined;
  /** Undefined: it did not wait, and nobody else continues it. A store without a cluster continues none. */
  readonly cluster?: ClusterTerms | undefined;
}

/** A request that may come again (X9). */
export interface RequestKey {
  /** Chosen by the client. */
  readonly key: string;
  /** Of what was asked. */
  readonly digest: string;
}

/** A request that was answered (X9). */
export interface RequestRecord extends RequestKey {
  readonly responseId: string;
  readonly conversationId: string;
}

/** A conversation that is stored whole, with logs that have ended. */
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

/** What an owner used (S-55). */
export interface OwnerUsage {
  /** Model requests. */
  readonly turns: number;
  readonly costUsd: number;
}

/** A response that has not ended. */
export interface OpenResponse {
  readonly id: string;
  readonly owner: string;
}

/** State of a renewed lease: `cancel` when the writer should stop, `lost` when another one took over. */
export type LeaseState = "kept" | "cancel" | "lost";

/**
 * `grouped`: survives the death of this process. `synced`: survives the death of the machine too.
 * Ends of messages and documents, and tool results, are synced.
 */
export type Durability = "grouped" | "synced";

/** Which conversations to list. */
interface ConversationQuery {
  readonly limit: number;
  readonly workspace?: string | undefined;
  /** Only conversations after this one in the list. */
  readonly after?: (Pick<ConversationRecord, "id" | "updatedAt"> & { readonly pinned?: boolean }) | undefined;
  /** Pinned ones before all others. */
  readonly pinnedFirst?: boolean | undefined;
  /** Only those whose title, or whose messages or answers that are not reverted, contain this text, ignoring case. */
  readonly search?: string | undefined;
}

/** A file that messages may name (X46); it belongs to its owner, and to no conversation. */
export interface AttachmentRecord {
  /** `att_<uuid>`. */
  readonly id: string;
  readonly name: string;
  readonly mediaType: AttachmentType;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** What one owner may have of them. */
export interface AttachmentLimits {
  readonly count: number;
  readonly bytes: number;
}

/** Rows that one owner sees, and that need no lease. */
export interface StoredRows {
  /** Makes the history of a conversation the responses that lead to this position; 0: none. */
  showBranch(conversationId: string, lastPosition: number): Promise<void>;
  getResponse(responseId: string): Promise<ResponseRecord | undefined>;
  /** In order of their position; reverted ones too. */
  listResponses(conversationId: string): Promise<readonly ResponseRecord[]>;
  getConversation(conversationId: string): Promise<ConversationRecord | undefined>;
  /** Newest first; with `pinnedFirst`, the pinned ones newest first, then the others. */
  listConversations(query: ConversationQuery): Promise<readonly ConversationRecord[]>;
  /** The response to a request (X9). */
  findRequest(key: string): Promise<RequestRecord | undefined>;
  /** False: it does not exist. */
  changeConversation(conversationId: string, patch: ConversationPatch): Promise<boolean>;
  /** Stores a conversation whole or not at all. @throws SheafError USAGE for an id that is taken. */
  addConversation(conversation: CompleteConversation): Promise<void>;
  /** Of the responses that are not reverted, in order. */
  listTexts(conversationId: string): Promise<readonly ResponseTexts[]>;
  /**
   * Responses of all owners without an end. Those with a living writer are missing where one statement shows it, so that
   * a look for lost ones costs the same however many run.
   */
  listOpenResponses(): Promise<readonly OpenResponse[]>;
  countConversations(): Promise<number>;
  /** What the owner used on a day, `2026-02-23`. */
  readUsage(day: string): Promise<OwnerUsage>;
  addUsage(day: string, usage: OwnerUsage): Promise<void>;
  /** False: there would be more than the limits, whatever is added at the same moment. */
  addAttachment(record: AttachmentRecord, bytes: Uint8Array, limits: AttachmentLimits): Promise<boolean>;
  getAttachment(id: string): Promise<AttachmentRecord | undefined>;
  /** Oldest first. */
  listAttachments(): Promise<readonly AttachmentRecord[]>;
  readAttachment(id: string): Promise<Uint8Array | undefined>;
  /** False: it does not exist. */
  deleteAttachment(id: string): Promise<boolean>;
  /** Of all owners. */
  deleteAttachmentsBefore(time: number): Promise<void>;
}

/**
 * Durable conversations, responses and their logs, as one owner sees them: nothing of others can be reached (S-53).
 * A conversation has one writer at a time, across all processes: the holder of its lease. A lease ends with its response,
 * with its process, or when it is not renewed in time. Each lease has a higher number than the last, and a writer with an
 * old number can no longer write. Failures are `SheafError`s with a STORAGE_ code.
 */
export interface Store extends StoredRows {
  /** An append takes a while, and a large one hardly longer than a small one: better to gather events into groups. */
  readonly gathersWrites: boolean;
  /**
   * Opens a response at the end of its conversation, which is made if it is new, and takes the lease.
   * @throws SheafError CONVERSATION_BUSY while another writer has it, or when its request was answered meanwhile;
   * CANCELLED when it was claimed and no longer waits. RunningLimitError.
   */
  createResponse(response: NewResponse): Promise<ResponseRecord>;
  /**
   * Takes the lease of a response that has no end and no writer, so that it can be ended.
   * False: it has ended, has a writer, does not exist, or another process may go on with it.
   */
  claimResponse(responseId: string): Promise<boolean>;
  /**
   * This process writes nothing more of a response that was created or claimed here. If it has no end, it can be claimed:
   * by this process at once, by others when this one is gone.
   */
  leaveResponse(responseId: string): Promise<void>;
  /** Renews the lease of a response; to be called every few seconds. */
  keepLease(responseId: string): Promise<LeaseState>;
  /** Asks the writer of a response to stop, wherever it runs. */
  requestCancel(responseId: string): Promise<void>;
  /**
   * Calls back when another process has added to a response, or asks something of its writer, until the result is called.
   * A call may be missing, or come in vain; a store without a cluster never calls, so look often.
   */
  watchResponse(responseId: string, onChange: () => void): () => void;
  /**
   * Calls back when the list of this owner may look different: after a start, an approval, an end or a change, or when a
   * message waits. As with `watchResponse`, a call may be missing or superfluous.
   */
  watchConversations(onChange: () => void): () => void;
  /** Undefined: no other process can begin, continue or answer for this one. */
  readonly cluster: Cluster | undefined;
  /**
   * Adds events to the log of a response that was created or claimed here, all or none. `seq` continues
   * without a gap. `run_end` releases the lease, and stores what `digestLog` makes of the log.
   * @throws SheafError CONVERSATION_BUSY when another writer took over; STORAGE_FULL, STORAGE_LOCKED, STORAGE_CORRUPT;
   * INTERNAL for a gap.
   */
  appendEvents(responseId: string, events: readonly RunEvent[], durability: Durability): Promise<void>;
  /** Events with `seq` above `after`, in order; about `limit` of them, and at least one if any exist. */
  readEvents(responseId: string, after?: number, limit?: number): Promise<readonly RunEvent[]>;
  /**
   * Takes the lease of a conversation for something other than a response; the result releases it.
   * Undefined: the conversation does not exist. @throws SheafError CONVERSATION_BUSY.
   */
  lockConversation(conversationId: string): Promise<(() => Promise<void>) | undefined>;
  close(): Promise<void>;
}

/** What a server needs in addition. */
export interface SharedStore extends Store {
  readonly waiting: WaitingMessages;
  /** The same store as seen by another owner; closing one closes all. */
  forOwner(owner: string): SharedStore;
  /** True if it can be read and written now. @throws SheafError STORAGE_… */
  checkReady(): Promise<void>;
  /** False: it does not exist. @throws SheafError CONVERSATION_BUSY. */
  deleteConversation(conversationId: string): Promise<boolean>;
  /**
   * Deletes conversations of all owners whose last message is older than a time (milliseconds since 1970): the oldest
   * `limit`, but none that is pinned, that runs, or for which a message waits. Gives their ids.
   */
  deleteOldConversations(before: number, limit: number): Promise<readonly string[]>;
}

/** The newest response of a conversation that was not reverted. */
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

/** Another writer has the lease of the conversation. */
export function createBusyError(conversationId: string): SheafError {
  const message = `another response of ${conversationId} is being written: wait for its end, or cancel it`;
  return new SheafError("CONVERSATION_BUSY", message, { source: "storage" });
}

/** True if a response could not begin because another one is being written: it may in a moment. */
export function isBusyError(error: unknown): boolean {
  return error instanceof SheafError && error.code === "CONVERSATION_BUSY" && error.source === "storage";
}

/** Another owner, or another conversation, has the id. */
export function createTakenError(id: string): SheafError {
  return new SheafError("USAGE", `the id ${id} is taken: choose another one`, { source: "storage" });
}

const HAND_OVER = "hand-over";

/** Another process may go on, once this one has ended what it still does for the response. */
export function createHandOverError(responseId: string): SheafError {
  const message = `the server goes down, and another process goes on with ${responseId}: read what it wrote`;
  return new SheafError("CONVERSATION_BUSY", message, { source: "storage", details: HAND_OVER });
}

/** Until it has ended here, no other process has it. */
export function isHandOver(error: unknown): boolean {
  return error instanceof SheafError && error.code === "CONVERSATION_BUSY" && error.details === HAND_OVER;
}

/** Another writer took the response over. */
export function createLostError(responseId: string): SheafError {
  const message = `another process took over ${responseId}, since this one did not respond for a while: read what it wrote`;
  return new SheafError("CONVERSATION_BUSY", message, { source: "storage" });
}
