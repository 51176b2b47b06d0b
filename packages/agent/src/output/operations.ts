/** The operations of the Chat API (X10). */
import type { SchemaName } from "@sheaf/protocol/schemas";

export interface Operation {
  readonly summary: string;
  readonly id: string;
  /** Parameters, except for those in the path. */
  readonly parameters?: readonly unknown[];
  readonly request?: SchemaName | "any";
  /** Answers other than errors, by status: a schema, a media type without one, no body, or another API's answer. */
  readonly answers: Readonly<
    Record<
      string,
      | SchemaName
      | "text/event-stream"
      | "user-event-stream"
      | "text/plain"
      | "any"
      | "foreign"
      | "ui-stream"
      | "export"
      | "file"
      | "none"
    >
  >;
  /** Statuses of errors that are not common to all operations, or to all bodies. */
  readonly errors?: readonly number[];
  /** False: the operation needs no token. */
  readonly secured?: false;
}

const query = (name: string, description: string, schema: object) => ({ name, in: "query", description, schema });
const header = (name: string, description: string) => ({ name, in: "header", description, schema: { type: "string" } });

const format = query("format", "Another wire form of the same log.", {
  type: "string",
  enum: ["documents", "stream-json", "ai-sdk-ui", "openai-chat", "openai-responses"],
});
const idempotencyKey = header("Idempotency-Key", "The same key gives the same response.");
const lastEventId = header("Last-Event-ID", "Id of the last event that the client has; takes precedence over `after`.");

/** Operations by address and method. */
export const operations: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
  "/v1/chat": {
    post: { id: "chat", summary: "Sends a message; the answer is one JSON object, once it is complete.",
      parameters: [idempotencyKey],
      request: "chat-request", answers: { "200": "documents" }, errors: [404, 409] },
  },
  "/v1/chat/stream": {
    post: { id: "chatStream", summary: "Sends a message; the answer is a stream of events.",
      parameters: [idempotencyKey, format],
      request: "chat-request", answers: { "200": "text/event-stream" }, errors: [404, 409] },
  },
  "/v1/responses/{id}": {
    get: { id: "getResponse", summary: "A response, complete or not.", answers: { "200": "snapshot" }, errors: [404] },
  },
  "/v1/responses/{id}/events": {
    get: { id: "followResponse", summary: "The events of a response from any id, or 204 if it has no more.",
      parameters: [
        lastEventId,
        query("after", "Id of the last event that the client has.", { type: "integer", minimum: 0 }),
        query("snapshot", "1: start with the whole state as one event.", { type: "string", enum: ["0", "1"] }),
        query("reasoning", "1: with the model's reasoning.", { type: "string", enum: ["0", "1"] }),
        format,
      ],
      answers: { "200": "text/event-stream", "204": "none" }, errors: [404] },
  },
  "/v1/responses/{id}/cancel": {
    post: { id: "cancelResponse", summary: "Ends a running response.", answers: { "202": "cancel-result" }, errors: [404] },
  },
  "/v1/responses/{id}/approvals/{approvalId}": {
    post: { id: "answerApproval", summary: "Answers a question of a running response.",
      request: "approval-answer", answers: { "202": "approval-result" }, errors: [404, 409] },
  },
  "/v1/events": {
    get: { id: "followConversations", summary: "The changes of all conversations: first a snapshot, or the changes after an event.",
      parameters: [
        lastEventId,
        query("after", "Id of the last event that the client has.", { type: "string" }),
      ],
      answers: { "200": "user-event-stream" } },
  },
  "/v1/conversations": {
    get: { id: "listConversations", summary: "Conversations, newest first.",
      parameters: [
        query("limit", "Maximum number.", { type: "integer", minimum: 1, maximum: 200, default: 50 }),
        query("before", "`next` of the previous page.", { type: "string" }),
        query("search", "Only conversations with this text in the title, a message or an answer.", { type: "string" }),
        query("pinned", "`first`: pinned ones before all others.", { type: "string", enum: ["first"] }),
      ],
      answers: { "200": "conversations" } },
  },
  "/v1/conversations/{id}": {
    get: { id: "getConversation", summary: "Messages and responses, in order.", answers: { "200": "conversation" }, errors: [404] },
    patch: { id: "changeConversation", summary: "Changes the title, the mode, the model, the effort or the pin of a conversation.",
      request: "conversation-change", answers: { "200": "conversation-summary" }, errors: [404] },
    delete: { id: "deleteConversation", summary: "Deletes a conversation.", answers: { "204": "none" }, errors: [404, 409] },
  },
  "/v1/conversations/{id}/waiting": {
    put: { id: "arrangeWaiting", summary: "Sets the order of the messages that wait, and which of them steer.",
      request: "waiting-order", answers: { "200": "waiting" }, errors: [404] },
  },
  "/v1/conversations/{id}/fork": {
    post: { id: "forkConversation", summary: "A new conversation that starts with a copy of this one up to a response.",
      request: "fork-request", answers: { "201": "conversation-summary" }, errors: [404, 409] },
  },
  "/v1/conversations/{id}/revert": {
    post: { id: "revertConversation", summary: "Reverts a response and all after it: history and files.",
      request: "revert-request", answers: { "200": "revert-result" }, errors: [404, 409] },
  },
  "/v1/conversations/{id}/branches": {
    post: { id: "showBranch", summary: "Shows the branch that has a response: history and files.",
      request: "revert-request", answers: { "200": "revert-result" }, errors: [404, 409] },
  },
  "/v1/conversations/{id}/publish": {
    post: { id: "publishConversation", summary: "Pushes the files of a conversation in a workspace from git as a branch with one commit.",
      request: "publish-request", answers: { "201": "publish-result" }, errors: [403, 404, 409] },
  },
  "/v1/conversations/{id}/export": {
    get: { id: "exportConversation", summary: "A conversation as a file, without running and reverted responses.",
      parameters: [{ ...query("format", "Markdown for people, JSON for programs.", { type: "string", enum: ["markdown", "json"] }), required: true }],
      answers: { "200": "export" }, errors: [404] },
  },
  "/v1/conversations/{id}/changes": {
    get: { id: "listChanges", summary: "The changes of a conversation in its files, against its start.",
      answers: { "200": "conversation-changes" }, errors: [404] },
  },
  "/v1/conversations/{id}/blame": {
    get: { id: "readBlame", summary: "The call or the commit that made each line of a file.",
      parameters: [{ ...query("path", "The file.", { type: "string" }), required: true }],
      answers: { "200": "file-blame" }, errors: [403, 404] },
  },
  "/v1/conversations/{id}/diff": {
    get: { id: "compareConversations", summary: "Where this conversation and another one part, and what differs.",
      parameters: [{ ...query("with", "The other conversation.", { type: "string" }), required: true }],
      answers: { "200": "conversation-comparison" }, errors: [404] },
  },
  "/v1/conversations/{id}/changes/revert": {
    post: { id: "revertChange", summary: "Reverts one file, or one hunk of its patch, to the start of the conversation.",
      request: "change-revert", answers: { "200": "conversation-changes" }, errors: [404, 409] },
  },
  "/v1/attachments": {
    get: { id: "listAttachments", summary: "Such files that a message can use now, and the limits.",
      answers: { "200": "attachments" } },
    post: { id: "addAttachment", summary: "A file that messages may name by its id, for a day unless the server says otherwise.",
      request: "attachment-upload", answers: { "201": "attachment" } },
  },
  "/v1/attachments/{id}": {
    get: { id: "getAttachment", summary: "What such a file is.", answers: { "200": "attachment" }, errors: [404] },
    delete: { id: "deleteAttachment", summary: "Deletes such a file; messages that named it keep it.",
      answers: { "204": "none" }, errors: [404] },
  },
  "/v1/attachments/{id}/content": {
    get: { id: "readAttachment", summary: "The bytes of such a file.", answers: { "200": "file" }, errors: [404] },
  },
  "/v1/responses/{id}/attachments/{number}": {
    get: { id: "readResponseAttachment", summary: "The bytes of a file in the message of a response, from 1.",
      answers: { "200": "file" }, errors: [404] },
  },
  "/v1/workspaces": {
    get: { id: "listWorkspaces", summary: "Values for `workspace` in a request.", answers: { "200": "workspaces" } },
  },
  "/v1/workspaces/{name}/files": {
    get: { id: "findFiles", summary: "Files whose path contains the letters of the query in order, the best first.",
      parameters: [
        query("query", "Left out: all files.", { type: "string" }),
        query("limit", "Maximum number.", { type: "integer", minimum: 1, maximum: 1000, default: 50 }),
      ],
      answers: { "200": "workspace-files" }, errors: [404] },
  },
  "/v1/workspaces/{name}/commands": {
    get: { id: "findCommands", summary: "Commands and skills that a message may name after a slash, the best for the query first.",
      parameters: [
        query("query", "Letters of the name, in order. Left out: all.", { type: "string" }),
        query("limit", "Maximum number.", { type: "integer", minimum: 1, maximum: 1000, default: 50 }),
      ],
      answers: { "200": "workspace-commands" }, errors: [404] },
  },
  "/v1/workspaces/{name}/files/{path}": {
    get: { id: "readFile", summary: "Lines of a text file; the slashes of the path are encoded.",
      parameters: [
        query("startLine", "First line, from 1.", { type: "integer", minimum: 1, default: 1 }),
        query("maxLines", "Maximum number.", { type: "integer", minimum: 1, maximum: 100_000, default: 2000 }),
      ],
      answers: { "200": "workspace-file" }, errors: [403, 404] },
  },
  "/v1/models": {
    get: { id: "listModels", summary: "Values for `model` in a request.", answers: { "200": "models" } },
  },
  "/v1/models/{id}": {
    get: { id: "getModel", summary: "A model, for clients of OpenAI.", answers: { "200": "any" }, errors: [404] },
  },
  "/v1/chat/completions": {
    post: { id: "createChatCompletion", summary: "The agent for clients of OpenAI: the posted messages are the whole conversation.",
      parameters: [idempotencyKey],
      request: "any", answers: { "200": "foreign" }, errors: [404, 409] },
  },
  "/v1/responses": {
    post: { id: "createResponse", summary: "The agent for clients of OpenAI's Responses.",
      parameters: [idempotencyKey],
      request: "any", answers: { "200": "foreign" }, errors: [404, 409] },
  },
  "/v1/ui/chat": {
    post: { id: "sendUiMessage", summary: "The agent for `useChat` of the AI SDK: takes the body of its transport.",
      request: "any", answers: { "200": "ui-stream" }, errors: [404, 409] },
  },
  "/v1/ui/chat/{id}/stream": {
    get: { id: "resumeUiStream", summary: "The running response of such a chat, from its first event; 204 if none runs.",
      answers: { "200": "ui-stream", "204": "none" }, errors: [404] },
  },
  "/v1/session": {
    post: { id: "openSession", summary: "Signs the page in: sets its cookie.",
      request: "session-request", answers: { "204": "none" }, secured: false },
    delete: { id: "closeSession", summary: "Signs the page out.", answers: { "204": "none" }, secured: false },
  },
  "/v1/openapi.json": {
    get: { id: "getDescription", summary: "This document.", answers: { "200": "any" } },
  },
  "/v1/schema/{name}.json": {
    get: { id: "getSchema", summary: "A JSON Schema.", answers: { "200": "any" }, errors: [404] },
  },
  "/healthz": {
    get: { id: "getHealth", summary: "Whether the server accepts requests.", answers: { "200": "any" }, secured: false },
  },
  "/readyz": {
    get: { id: "getReadiness", summary: "Whether the server should get new requests: 503 while it closes, or its store takes no writes.",
      answers: { "200": "any" }, secured: false },
  },
  "/metrics": {
    get: { id: "getMetrics", summary: "Counts, in the text format of Prometheus.", answers: { "200": "text/plain" } },
  },
}; // prettier-ignore

/** Returns every address with its methods, in capitals. */
export function listOperations(): readonly (readonly [path: string, methods: readonly string[]])[] {
  return Object.entries(operations).map(([route, methods]) => [
    route,
    Object.keys(methods).map((method) => method.toUpperCase()),
  ]);
}
