/** A client of one server. */
import type {
  ApprovalAnswer,
  AttachmentInfo,
  AttachmentList,
  ChatRequest,
  ChatResponse,
  ChangeRevert,
  Conversation,
  ConversationChange,
  ConversationChanges,
  ConversationComparison,
  FileBlame,
  ConversationPage,
  ConversationSummary,
  ModelInfo,
  ModelList,
  PublishResult,
  RevertRequest,
  RevertResult,
  WaitingList,
  WaitingMessage,
  WaitingOrder,
  WorkspaceFile,
  WorkspaceCommandList,
  WorkspaceFileList,
  WorkspaceList,
} from "@sheaf/protocol";
import { encodeFile, type MessageFile } from "./encode-file.ts";
import { reconnectDefaults, type ReconnectOptions } from "./reconnect.ts";
import {
  createResponseStream,
  type ResponseStream,
  type StreamOptions,
  type StreamSettings,
} from "./response-stream.ts";
import { readUserEvents, type NumberedUserEvent, type UserEventOptions } from "./user-events.ts";
import { createTransport, type TransportOptions, type TransportRequest } from "./transport.ts";

export interface ClientOptions extends TransportOptions {
  readonly reconnect?: ReconnectOptions;
  /**
   * Milliseconds between heartbeats until the server sends its own value (X5). After three without a byte the client
   * reconnects. Default: 15,000.
   */
  readonly heartbeatMs?: number;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface ChatOptions extends StreamOptions {
  /** Default: a new one. The same key gives the same response, so a request can safely be repeated (X9). */
  readonly idempotencyKey?: string | undefined;
}

/** Where to begin. Default: at the first event. */
export interface FollowOptions extends StreamOptions {
  /** The state first, then what follows: the fastest way to show a long response (X3). */
  readonly snapshot?: boolean | undefined;
  /** A response already at hand, with its `metadata.lastEventId`: continues after it. */
  readonly from?: ChatResponse | undefined;
  /** Only events above this id. The reduced `response` then lacks what came before; `from` keeps it. */
  readonly after?: number | undefined;
  /** Receive `reasoning_delta` events too (N14). */
  readonly reasoning?: boolean | undefined;
}

export interface RevertOptions extends RequestOptions {
  /** `leave` changes the other files, `overwrite` restores the old content anyway, `keep` changes no file. */
  readonly onConflict?: RevertRequest["onConflict"] | undefined;
  /** Only shows what would happen. */
  readonly dryRun?: boolean | undefined;
}

export interface ReadFileOptions extends RequestOptions {
  /** First line, from 1. */
  readonly startLine?: number | undefined;
  readonly maxLines?: number | undefined;
}

export interface ListOptions extends RequestOptions {
  readonly limit?: number | undefined;
  /** `next` of the previous page. */
  readonly before?: string | undefined;
  /** In the title, a message or an answer; each conversation then has its `match` (X36). */
  readonly search?: string | undefined;
  /** `first`: pinned ones before all others. */
  readonly pinned?: "first" | undefined;
}

/** Every method throws `SheafApiError` when the server refuses, and `ConnectionError` when it cannot be reached. */
export interface SheafClient {
  /** Sends a message. The request is sent with the first read of the stream. */
  chat(request: Omit<ChatRequest, "stream">, options?: ChatOptions): ResponseStream;
  /** Reads a response that is running or has ended. */
  follow(responseId: string, options?: FollowOptions): ResponseStream;
  /** While it runs, a snapshot with `metadata.lastEventId` (N3). */
  getResponse(responseId: string, options?: RequestOptions): Promise<ChatResponse>;
  /** Ends a run; does nothing if it has ended (X7). */
  cancel(responseId: string, options?: RequestOptions): Promise<void>;
  /** Answers an `approval_request` (X8). */
  resolveApproval(
    responseId: string,
    approvalId: string,
    answer: ApprovalAnswer,
    options?: RequestOptions,
  ): Promise<void>;
  /** Follows all conversations until the signal ends it, over any number of connections (C230). */
  readUserEvents(options?: UserEventOptions): AsyncIterable<NumberedUserEvent>;
  /** Newest first; each with what it used and what waits for a person (X35). */
  listConversations(options?: ListOptions): Promise<ConversationPage>;
  getConversation(conversationId: string, options?: RequestOptions): Promise<Conversation>;
  /** Renames or pins it, or changes what its next message goes on with. */
  changeConversation(
    conversationId: string,
    change: ConversationChange,
    options?: RequestOptions,
  ): Promise<ConversationSummary>;
  /** Sets the order of waiting messages; the running response gets each with `whenBusy: "steer"` (C241). */
  arrangeWaiting(
    conversationId: string,
    order: WaitingOrder["waiting"],
    options?: RequestOptions,
  ): Promise<readonly WaitingMessage[]>;
  /** The text of a file: Markdown for people, JSON as `getConversation`; without what runs or was reverted (X37). */
  exportConversation(conversationId: string, format: "markdown" | "json", options?: RequestOptions): Promise<string>;
  deleteConversation(conversationId: string, options?: RequestOptions): Promise<void>;
  /** Creates a conversation with the turns up to and including this response. */
  forkConversation(conversationId: string, responseId: string, options?: RequestOptions): Promise<ConversationSummary>;
  /** What the conversation changed in its files, against its start (X28). */
  listChanges(conversationId: string, options?: RequestOptions): Promise<ConversationChanges>;
  /** The call or the commit that made each line of a file in the conversation's workspace (C270). */
  readBlame(conversationId: string, path: string, options?: RequestOptions): Promise<FileBlame>;
  /** The place where two conversations part, with their tokens, cost and files (C271). */
  compareConversations(id: string, otherId: string, options?: RequestOptions): Promise<ConversationComparison>;
  /** Reverts one of these files, or one hunk of it; `FILES_CHANGED` if it is no longer as listed (X29). */
  revertChange(conversationId: string, change: ChangeRevert, options?: RequestOptions): Promise<ConversationChanges>;
  /** Pushes the files of a conversation in a workspace from git as a branch with one commit. */
  publishConversation(
    conversationId: string,
    branch: string,
    message: string,
    options?: RequestOptions,
  ): Promise<PublishResult>;
  /**
   * Reverts this response and everything after it: history and files. If something else has changed a file since, it
   * fails with `FILES_CHANGED`, unless `onConflict` says what to do.
   */
  revertConversation(conversationId: string, responseId: string, options?: RevertOptions): Promise<RevertResult>;
  /** Shows the branch that has this response, with its files; otherwise as `revertConversation` (C252). */
  showBranch(conversationId: string, responseId: string, options?: RevertOptions): Promise<RevertResult>;
  /** Sends a file for messages to come; `chat` then names it as `{ id }` (X46). */
  addAttachment(file: MessageFile, options?: RequestOptions): Promise<AttachmentInfo>;
  /** What such a file is; 404 once it is too old. */
  getAttachment(attachmentId: string, options?: RequestOptions): Promise<AttachmentInfo>;
  /** Such files that can be named now, and what the server allows (X108). */
  listAttachments(options?: RequestOptions): Promise<AttachmentList>;
  /** Messages that named it keep it. */
  deleteAttachment(attachmentId: string, options?: RequestOptions): Promise<void>;
  /** A file that came with the message of a response, from 1 (X48). */
  readAttachment(responseId: string, number: number, options?: RequestOptions): Promise<Blob>;
  listModels(options?: RequestOptions): Promise<readonly ModelInfo[]>;
  listWorkspaces(options?: RequestOptions): Promise<WorkspaceList["workspaces"]>;
  /** Files whose path has the letters of `query` in order, the best first (X31). */
  findFiles(workspace: string, query: string, options?: RequestOptions): Promise<WorkspaceFileList>;
  /** Commands and skills that a message may name after a slash, the best for `query` first (X88). */
  findCommands(workspace: string, query: string, options?: RequestOptions): Promise<WorkspaceCommandList>;
  /** Lines of a text file, with the hash of the whole (X32). */
  readFile(workspace: string, path: string, options?: ReadFileOptions): Promise<WorkspaceFile>;
}

export function createClient(options: ClientOptions): SheafClient {
  const transport = createTransport(options);
  const settings: StreamSettings = {
    transport,
    reconnect: { ...reconnectDefaults, ...options.reconnect },
    heartbeatMs: options.heartbeatMs ?? 15_000,
  };
  const send = async (path: string, request: TransportRequest): Promise<void> => {
    await (await transport(path, request)).body?.cancel();
  };
  // The contract types what the server sends; where it matters, `isChatResponse` of the protocol checks it.
  const ask = async <Answer>(path: string, request: TransportRequest = {}): Promise<Answer> =>
    (await (await transport(path, request)).json()) as Answer;
  const readFile = async (path: string, { signal }: RequestOptions = {}): Promise<Blob> =>
    (await transport(path, { accept: "*/*", signal })).blob();
  const toPost = (body: unknown, { signal }: RequestOptions): TransportRequest => ({ method: "POST", body, signal });
  const toBranchCall =
    <Answer>(way: string) =>
    (id: string, responseId: string, { signal, ...rest }: RevertOptions = {}): Promise<Answer> =>
      ask(`${toPath("conversations", id)}/${way}`, toPost({ responseId, ...rest }, { signal }));

  return {
    chat: (request, { idempotencyKey = createKey(), ...stream } = {}) => {
      const body = { ...request, stream: true };
      const post = {
        path: "/v1/chat",
        options: { method: "POST", body, idempotencyKey },
        isQueued: request.whenBusy === "queue" || request.whenBusy === "steer",
      } as const;
      return createResponseStream({ request: post, reasoning: request.accept?.reasoning }, settings, stream);
    },
    follow: (responseId, follow = {}) => createResponseStream({ responseId, ...follow }, settings, follow),
    getResponse: (id, get = {}) => ask(toPath("responses", id), get),
    cancel: (id, cancel = {}) => send(`${toPath("responses", id)}/cancel`, toPost({}, cancel)),
    resolveApproval: (id, approvalId, answer, resolve = {}) =>
      send(`${toPath("responses", id)}/${toPath("approvals", approvalId, "")}`, toPost(answer, resolve)),
    readUserEvents: (events) => readUserEvents(settings, events),
    listConversations: ({ signal, ...query } = {}) => ask(`/v1/conversations${toQuery(query)}`, { signal }),
    getConversation: (id, get = {}) => ask(toPath("conversations", id), get),
    changeConversation: (id, body, { signal } = {}) =>
      ask(toPath("conversations", id), { method: "PATCH", body, signal }),
    arrangeWaiting: async (id, waiting, { signal } = {}) => {
      const put = { method: "PUT", body: { waiting }, signal } as const;
      return (await ask<WaitingList>(`${toPath("conversations", id)}/waiting`, put)).waiting;
    },
    exportConversation: async (id, format, read) =>
      (await readFile(`${toPath("conversations", id)}/export${toQuery({ format })}`, read)).text(),
    deleteConversation: (id, { signal } = {}) => send(toPath("conversations", id), { method: "DELETE", signal }),
    forkConversation: toBranchCall("fork"),
    listChanges: (id, list = {}) => ask(`${toPath("conversations", id)}/changes`, list),
    readBlame: (id, path, read = {}) => ask(`${toPath("conversations", id)}/blame${toQuery({ path })}`, read),
    compareConversations: (id, otherId, compare = {}) =>
      ask(`${toPath("conversations", id)}/diff${toQuery({ with: otherId })}`, compare),
    revertChange: (id, body, revert = {}) => ask(`${toPath("conversations", id)}/changes/revert`, toPost(body, revert)),
    publishConversation: (id, branch, message, publish = {}) =>
      ask(`${toPath("conversations", id)}/publish`, toPost({ branch, message }, publish)),
    revertConversation: toBranchCall("revert"),
    showBranch: toBranchCall("branches"),
    listWorkspaces: async (list = {}) => (await ask<WorkspaceList>("/v1/workspaces", list)).workspaces,
    findFiles: (name, query, find = {}) => ask(`${toPath("workspaces", name)}/files${toQuery({ query })}`, find),
    findCommands: (name, query, find = {}) => ask(`${toPath("workspaces", name)}/commands${toQuery({ query })}`, find),
    readFile: (name, path, { signal, ...lines } = {}) =>
      ask(`${toPath("workspaces", name)}/${toPath("files", path, "")}${toQuery(lines)}`, { signal }),
    addAttachment: async (file, add = {}) => ask("/v1/attachments", toPost(await encodeFile(file), add)),
    getAttachment: (id, get = {}) => ask(toPath("attachments", id), get),
    listAttachments: (list = {}) => ask("/v1/attachments", list),
    deleteAttachment: (id, { signal } = {}) => send(toPath("attachments", id), { method: "DELETE", signal }),
    readAttachment: (id, number, read) => readFile(`${toPath("responses", id)}/attachments/${number}`, read),
    listModels: async (list = {}) => (await ask<ModelList>("/v1/models", list)).models,
  };
}

function toPath(kind: string, id: string, root = "/v1/"): string {
  return `${root}${kind}/${encodeURIComponent(id)}`;
}

/** JSON omits undefined fields. */
function toQuery(values: object): string {
  const query = new URLSearchParams(JSON.parse(JSON.stringify(values)) as Record<string, string>).toString();
  return query && `?${query}`;
}

/** `crypto.randomUUID` is missing in pages loaded over plain HTTP; random bytes are not. */
function createKey(): string {
  return crypto.getRandomValues(new Uint32Array(5)).join("");
}
