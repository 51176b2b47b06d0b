/** Requests to the Chat API, as tests send them. */
import type { ChatResponse, Conversation, ConversationPage, ConversationSummary } from "@sheaf/protocol";

export type Send = (path: string, init?: RequestInit) => Promise<Response>;

/** The API as the owner of one token. */
export interface Api {
  /** A request with the token. */
  readonly fetch: Send;
  /** A request with the token and, if there is one, a body of JSON. */
  readonly send: (method: string, path: string, body?: unknown, init?: RequestInit) => Promise<Response>;
  /** `POST /v1/chat`. */
  readonly chat: (body: Readonly<Record<string, unknown>>, init?: RequestInit) => Promise<Response>;
  /** The response in the answer to `POST /v1/chat`. */
  readonly ask: (body: Readonly<Record<string, unknown>>, init?: RequestInit) => Promise<ChatResponse>;
  /** The JSON at an address. */
  readonly read: <Body>(path: string) => Promise<Body>;
  readonly readConversation: (id: string) => Promise<Conversation>;
  readonly listConversations: (query?: string) => Promise<readonly ConversationSummary[]>;
}

/** `defaults` are fields of every message. */
export function createApi(request: Send, token: string, defaults: Readonly<Record<string, unknown>> = {}): Api {
  const fetch: Send = (path, init = {}) =>
    request(path, { ...init, headers: { authorization: `Bearer ${token}`, ...toHeaders(init) } });
  const send: Api["send"] = (method, path, body, init = {}) =>
    fetch(path, {
      method,
      ...init,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json", ...toHeaders(init) },
      }),
    });
  const chat: Api["chat"] = (body, init) => send("POST", "/v1/chat", { ...defaults, ...body }, init);
  const read: Api["read"] = async (path) => (await fetch(path)).json();
  return {
    fetch,
    send,
    chat,
    ask: async (body, init) => (await chat(body, init)).json() as Promise<ChatResponse>,
    read,
    readConversation: (id) => read(`/v1/conversations/${id}`),
    listConversations: async (query = "") => (await read<ConversationPage>(`/v1/conversations${query}`)).conversations,
  };
}

export function toHeaders({ headers }: RequestInit): Record<string, string> {
  return Object.fromEntries(new Headers(headers).entries());
}
