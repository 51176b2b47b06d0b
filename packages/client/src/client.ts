/** A client of one server. */
import type {
  ApprovalAnswer,
  ChatRequest,
  ChatResponse,
  Conversation,
  ConversationPage,
  ConversationSummary,
  ModelInfo,
  ModelList,
  RevertRequest,
  RevertResult,
} from "@sheaf/protocol";
import { reconnectDefaults, type ReconnectOptions } from "./reconnect.ts";
import {
  createResponseStream,
  type ResponseStream,
  type StreamOptions,
  type StreamSettings,
} from "./response-stream.ts";
import { createTransport, type TransportOptions, type TransportRequest } from "./transport.ts";

export interface ClientOptions extends TransportOptions {
  readonly reconnect?: ReconnectOptions;
  /**
   * Milliseconds between heartbeats as long as the server has not told its own (X5). After three without a byte the
   * client connects again. Default 15,000.
   */
  readonly heartbeatMs?: number;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface ChatOptions extends StreamOptions {
  /** Default: a new one. The same key gives the same response, so a lost answer is asked for again safely (X9). */
  readonly idempotencyKey?: string | undefined;
}

/** Where to begin; without any of these all events come from the first one on. */
export interface FollowOptions extends StreamOptions {
  /** The state first, then what comes behind it: the quickest way to show a long response (X3). */
  readonly snapshot?: boolean | undefined;
  /** A response that is there already, with its `metadata.lastEventId`: goes on behind it. */
  readonly from?: ChatResponse | undefined;
  /** Events above this id only. The reduced `response` then lacks what was before; `from` keeps it. */
  readonly after?: number | undefined;
  /** Have `reasoning_delta` events too (N14). */
  readonly reasoning?: boolean | undefined;
}

export interface RevertOptions extends RequestOptions {
  /** `leave` takes back the rest, `overwrite` puts the old content back all the same. */
  readonly onConflict?: RevertRequest["onConflict"] | undefined;
}

export interface ListOptions extends RequestOptions {
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly before?: string | undefined;
  readonly search?: string | undefined;
}

/** Every method throws `SheafApiError` when the server refuses, and `ConnectionError` when it cannot be reached. */
export interface SheafClient {
  /** Sends a message. The request goes out with the first read of the stream. */
  chat(request: Omit<ChatRequest, "stream">, options?: ChatOptions): ResponseStream;
  /** Reads a response that runs or has ended. */
  follow(responseId: string, options?: FollowOptions): ResponseStream;
  /** While it runs, a snapshot with `metadata.lastEventId` (N3). */
  getResponse(responseId: string, options?: RequestOptions): Promise<ChatResponse>;
  /** Ends a run; harmless when it has ended (X7). */
  cancel(responseId: string, options?: RequestOptions): Promise<void>;
  /** Answers an `approval_request` (X8). */
  resolveApproval(
    responseId: string,
    approvalId: string,
    answer: ApprovalAnswer,
    options?: RequestOptions,
  ): Promise<void>;
  /** Newest first. */
  listConversations(options?: ListOptions): Promise<ConversationPage>;
  getConversation(conversationId: string, options?: RequestOptions): Promise<Conversation>;
  deleteConversation(conversationId: string, options?: RequestOptions): Promise<void>;
  /** A new conversation that shares the turns up to this response, and has it as its last one. */
  forkConversation(conversationId: string, responseId: string, options?: RequestOptions): Promise<ConversationSummary>;
  /**
   * Takes back this response and what came after it: the history and the files. Files that somebody else changed since
   * are refused with `FILES_CHANGED`, unless `onConflict` says what to do with them.
   */
  revertConversation(conversationId: string, responseId: string, options?: RevertOptions): Promise<RevertResult>;
  listModels(options?: RequestOptions): Promise<readonly ModelInfo[]>;
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
  // What the server sends is typed by the contract; `isChatResponse` of the protocol checks it where that matters.
  const ask = async <Answer>(path: string, request: TransportRequest = {}): Promise<Answer> =>
    (await (await transport(path, request)).json()) as Answer;
  const toPost = (body: unknown, { signal }: RequestOptions): TransportRequest => ({ method: "POST", body, signal });

  return {
    chat: (request, { idempotencyKey = createKey(), ...stream } = {}) => {
      const body = { ...request, stream: true };
      const post = {
        path: "/v1/chat",
        options: { method: "POST", body, idempotencyKey },
        isQueued: request.whenBusy === "queue",
      } as const;
      return createResponseStream({ request: post, reasoning: request.accept?.reasoning }, settings, stream);
    },
    follow: (responseId, follow = {}) => createResponseStream({ responseId, ...follow }, settings, follow),
    getResponse: (id, get = {}) => ask(toPath("responses", id), get),
    cancel: (id, cancel = {}) => send(`${toPath("responses", id)}/cancel`, toPost({}, cancel)),
    resolveApproval: (id, approvalId, answer, resolve = {}) =>
      send(`${toPath("responses", id)}/${toPath("approvals", approvalId, "")}`, toPost(answer, resolve)),
    listConversations: ({ signal, ...query } = {}) => ask(`/v1/conversations${toQuery(query)}`, { signal }),
    getConversation: (id, get = {}) => ask(toPath("conversations", id), get),
    deleteConversation: (id, { signal } = {}) => send(toPath("conversations", id), { method: "DELETE", signal }),
    forkConversation: (id, responseId, fork = {}) =>
      ask(`${toPath("conversations", id)}/fork`, toPost({ responseId }, fork)),
    revertConversation: (id, responseId, { signal, ...revert } = {}) =>
      ask(`${toPath("conversations", id)}/revert`, toPost({ responseId, ...revert }, { signal })),
    listModels: async (list = {}) => (await ask<ModelList>("/v1/models", list)).models,
  };
}

function toPath(kind: string, id: string, root = "/v1/"): string {
  return `${root}${kind}/${encodeURIComponent(id)}`;
}

/** JSON leaves out what is undefined. */
function toQuery(values: object): string {
  const query = new URLSearchParams(JSON.parse(JSON.stringify(values)) as Record<string, string>).toString();
  return query && `?${query}`;
}

/** `crypto.randomUUID` is missing in pages that came over plain HTTP; random bytes are not. */
function createKey(): string {
  return crypto.getRandomValues(new Uint32Array(5)).join("");
}
