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
  /** Key of the request; default: a new one. The same key gives the same response, so repeating is safe (X9). */
  readonly idempotencyKey?: string | undefined;
}

/** The position where a stream starts. Default: the first event. */
export interface FollowOptions extends StreamOptions {
  /** True for the state first, then later events: the fastest way to show a long response (X3). */
  readonly snapshot?: boolean | undefined;
  /** A response that the caller has, with its `metadata.lastEventId`: the stream continues after it. */
  readonly from?: ChatResponse | undefined;
  /** Id after which the stream starts. The reduced `response` then lacks earlier events; `from` has them. */
  readonly after?: number | undefined;
  /** True to receive `reasoning_delta` events (N14). */
  readonly reasoning?: boolean | undefined;
}

export interface RevertOptions extends RequestOptions {
  /** The fate of other files: `leave` changes them, `overwrite` restores them anyway, `keep` changes no file. */
  readonly onConflict?: RevertRequest["onConflict"] | undefined;
  /** True to get the result without changing files or history. */
  readonly dryRun?: boolean | undefined;
}

export interface ReadFileOptions extends RequestOptions {
  /** First line, from 1. */
  readonly startLine?: number | undefined;
  readonly maxLines?: number | undefined;
}

export interface ListOptions extends RequestOptions {
  readonly limit?: number | undefined;
  /** Value of `next` in the previous page. */
  readonly before?: string | undefined;
  /** Text in the title, a message or an answer; each conversation then has its `match` (X36). */
  readonly search?: string | undefined;
  /** `first` lists pinned conversations before all others. */
  readonly pinned?: "first" | undefined;
}

/** Every method throws `SheafApiError` if the server refuses, and `ConnectionError` if it can't be reached. */
export interface SheafClient {
  /** Sends a message. The first read of the stream sends the request. */
  chat(request: Omit<ChatRequest, "stream">, options?: ChatOptions): ResponseStream;
  /** Reads a response that is running or has ended. */
  follow(responseId: string, options?: FollowOptions): ResponseStream;
  /** Returns the response; while it runs, a snapshot with `metadata.lastEventId` (N3). */
  getResponse(responseId: string, options?: RequestOptions): Promise<ChatResponse>;
  /** Ends a run, unless it has ended already (X7). */
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
  /** Lists conversations, newest first, with their usage and their waiting approvals (X35). */
  listConversations(options?: ListOptions): Promise<ConversationPage>;
  getConversation(conversationId: string, options?: RequestOptions): Promise<Conversation>;
  /** Renames or pins a conversation, or changes the settings of its next message. */
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
  /** Returns a file's text, without running and reverted responses: Markdown, or JSON as `getConversation` (X37). */
  exportConversation(conversationId: string, format: "markdown" | "json", options?: RequestOptions): Promise<string>;
  deleteConversation(conversationId: string, options?: RequestOptions): Promise<void>;
  /** Creates a conversation with the turns up to and including this response. */
  forkConversation(conversationId: string, responseId: string, options?: RequestOptions): Promise<ConversationSummary>;
  /** Lists the changes of files since the start of the conversation (X28). */
  listChanges(conversationId: string, options?: RequestOptions): Promise<ConversationChanges>;
  /** Finds the call or the commit that made each line of a file in the conversation's workspace (C270). */
  readBlame(conversationId: string, path: string, options?: RequestOptions): Promise<FileBlame>;
  /** The place where two conversations part, with their tokens, cost and files (C271). */
  compareConversations(id: string, otherId: string, options?: RequestOptions): Promise<ConversationComparison>;
  /** Reverts one of these files, or one hunk of it; throws `FILES_CHANGED` if the file has changed since (X29). */
  revertChange(conversationId: string, change: ChangeRevert, options?: RequestOptions): Promise<ConversationChanges>;
  /** Pushes the files of a conversation in a workspace from git as a branch with one commit. */
  publishConversation(
    conversationId: string,
    branch: string,
    message: string,
    options?: RequestOptions,
  ): Promise<PublishResult>;
  /**
   * Reverts this response and everything after it: history and files. If something else has changed a file since,
   * throws `FILES_CHANGED`, unless `onConflict` decides.
   */
  revertConversation(conversationId: string, responseId: string, options?: RevertOptions): Promise<RevertResult>;
  /** Shows the branch that has this response, with its files; otherwise like `revertConversation` (C252). */
  showBranch(conversationId: string, responseId: string, options?: RevertOptions): Promise<RevertResult>;
  /** Uploads a file for later messages; `chat` then refers to it by `{ id }` (X46). */
  addAttachment(file: MessageFile, options?: RequestOptions): Promise<AttachmentInfo>;
  /** Returns an uploaded file's description; throws 404 if it is too old. */
  getAttachment(attachmentId: string, options?: RequestOptions): Promise<AttachmentInfo>;
  /** Lists the uploaded files that messages can use now, and the server's limits (X108). */
  listAttachments(options?: RequestOptions): Promise<AttachmentList>;
  /** Deletes an uploaded file. Messages that use it keep it. */
  deleteAttachment(attachmentId: string, options?: RequestOptions): Promise<void>;
  /** Returns a file of the response's message, by its number from 1 (X48). */
  readAttachment(responseId: string, number: number, options?: RequestOptions): Promise<Blob>;
  listModels(options?: RequestOptions): Promise<readonly ModelInfo[]>;
  listWorkspaces(options?: RequestOptions): Promise<WorkspaceList["workspaces"]>;
  /** Finds files whose path has the letters of `query` in order, the best first (X31). */
  findFiles(workspace: string, query: string, options?: RequestOptions): Promise<WorkspaceFileList>;
  /** Finds commands and skills that a message may start with after a slash, the best for `query` first (X88). */
  findCommands(workspace: string, query: string, options?: RequestOptions): Promise<WorkspaceCommandList>;
  /** Reads lines of a text file, with the hash of the whole (X32). */
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
  // The server's answer has the type of its contract; where it matters, `isChatResponse` of the protocol checks it.
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

/** Makes random digits, because pages loaded over plain HTTP lack `crypto.randomUUID`. */
function createKey(): string {
  return crypto.getRandomValues(new Uint32Array(5)).join("");
}
