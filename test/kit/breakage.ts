/** The vocabulary of breakages. */
import type { Breakage, ProxiedAnswer, ProxiedEvent, ProxiedRequest } from "./breaking-fetch.ts";

/** The name, the checks of which at least one must fail, and what is broken. */
export type BreakageCase = readonly [name: string, found: readonly string[], breakage: Breakage];

/** A JSON object of the contract, before anything is known of it. */
export type Json = Record<string, unknown>;

/** An event without a field of its payload. */
export const without =
  (field: string) =>
  (event: ProxiedEvent): readonly ProxiedEvent[] => {
    const data = { ...event.data };
    delete data[field];
    return [{ ...event, data }];
  };

/** Changes events of one name; `undefined` drops one. */
export function changeEvents(name: string, change: (event: ProxiedEvent) => readonly ProxiedEvent[]): Breakage {
  return { createEvents: () => (event) => (event.event === name ? change(event) : [event]) };
}

export const drop = (name: string): Breakage => changeEvents(name, () => []);

export const setData = (name: string, fields: (data: Json) => Json): Breakage =>
  changeEvents(name, (event) => [{ ...event, data: { ...event.data, ...fields(event.data) } }]);

/** Writes an event by hand. */
export const write = (name: string, toRaw: (event: ProxiedEvent) => string): Breakage =>
  changeEvents(name, (event) => [{ ...event, raw: toRaw(event) }]);

export const isChat = ({ method, path }: ProxiedRequest): boolean => method === "POST" && path === "/v1/chat";
export const isEvents = ({ path }: ProxiedRequest): boolean => /^\/v1\/responses\/[^/]+\/events/.test(path);
export const isResponse = ({ method, path }: ProxiedRequest): boolean =>
  method === "GET" && /^\/v1\/responses\/[^/?]+$/.test(path);
export const isCancel = ({ path }: ProxiedRequest): boolean => path.endsWith("/cancel");

/** Changes the response that GET and a JSON answer give. */
export function changeResponse(change: (response: Json) => void): Breakage {
  return {
    answer: ({ status, body }, request) => {
      if (status === 200 && body !== undefined && (isChat(request) || isResponse(request))) change(body as Json);
    },
  };
}

export function changeDocuments(type: string, change: (document: Json, metadata: Json) => void): Breakage {
  return changeResponse(({ documents }) => {
    for (const document of documents as Json[]) {
      if (document["type"] === type) change(document, document["metadata"] as Json);
    }
  });
}

export const setHeader = (name: string, value?: string): Breakage => ({
  answer: ({ headers }) => {
    if (value === undefined) delete headers[name];
    else headers[name] = value;
  },
});

/** Changes the fields of chat requests. */
export const setRequest = (fields: (body: Json) => Json): Breakage => ({
  request: (request) => {
    if (isChat(request) && typeof request.body === "object")
      request.body = { ...(request.body as Json), ...fields(request.body as Json) };
  },
});

export const setPath = (matches: (request: ProxiedRequest) => boolean, change: (path: string) => string): Breakage => ({
  request: (request) => {
    if (matches(request)) request.path = change(request.path);
  },
});

export const reply = (matches: (request: ProxiedRequest) => boolean, answer: Partial<ProxiedAnswer>): Breakage => ({
  reply: (request) =>
    matches(request)
      ? { status: 200, headers: { "content-type": "application/json" }, body: {}, ...answer }
      : undefined,
});

export const setError = (change: (answer: ProxiedAnswer) => void): Breakage => ({
  answer: (answer) => {
    if (answer.status >= 400) change(answer);
  },
});

/** Numbers events anew, also on replay. */
export const renumber: Breakage = {
  createEvents: () => {
    let id = 0;
    return (event) => [{ ...event, id: `${(id += 1)}` }];
  },
};

export const isApproval = ({ path }: ProxiedRequest): boolean => path.includes("/approvals/");
