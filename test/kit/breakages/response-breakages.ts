/** Responses and documents that break the contract. */
import { changeDocuments, changeResponse, isResponse, setHeader, type BreakageCase, type Json } from "../breakage.ts";

export const responseBreakages: readonly BreakageCase[] = [
  ["a response without usage", ["response-json"], changeResponse((response) => delete response["usage"])],
  [
    "a response that is not over",
    ["response-json"],
    changeResponse((response) => Object.assign(response, { status: "streaming" })),
  ],
  [
    "a local time",
    ["response-json"],
    changeResponse((response) => Object.assign(response, { created: "2026-02-23T10:30:00" })),
  ],
  [
    "ids of another form",
    ["response-json"],
    changeResponse((response) => Object.assign(response, { conversationId: "1" })),
  ],
  [
    "JSON as text",
    ["response-json"],
    { answer: (answer) => Object.assign(answer.headers, { "content-type": "text/plain" }) },
  ],
  [
    "a GET that differs from the POST",
    ["response-json"],
    { answer: ({ body }, request) => void (isResponse(request) && Object.assign(body as Json, { model: "other" })) },
  ],
  ["no X-Response-Id", ["response-headers"], setHeader("x-response-id")],
  ["no X-Conversation-Id", ["response-headers"], setHeader("x-conversation-id")],
  ["no Location", ["response-headers"], setHeader("location")],
  ["a Location of another response", ["response-headers"], setHeader("location", "/v1/responses/chat_other")],
  [
    "an Accept that is not heard",
    ["response-accept"],
    { request: ({ headers }) => void (headers["accept"] = "application/json") },
  ],
  [
    "tokens that do not add up",
    ["response-counts"],
    changeResponse(({ usage }) => Object.assign(usage as Json, { totalTokens: 1 })),
  ],
  [
    "tool calls of every kind counted",
    ["response-counts"],
    changeResponse(({ metadata }) => Object.assign(metadata as Json, { toolCallCount: 9 })),
  ],
  [
    "no turn counted",
    ["response-counts"],
    changeResponse(({ metadata }) => Object.assign(metadata as Json, { turnCount: 0 })),
  ],
  [
    "an error without its document",
    ["response-status"],
    changeResponse((response) => Object.assign(response, { status: "error" })),
  ],
  [
    "completed, and cancelled",
    ["response-status"],
    changeResponse(({ metadata }) => Object.assign(metadata as Json, { finishReason: "cancelled" })),
  ],
  [
    "a text that differs from the stream",
    ["response-is-stream"],
    changeDocuments("text", (document) => Object.assign(document, { content: "other" })),
  ],
  [
    "a document less than in the stream",
    ["response-is-stream"],
    changeResponse(({ documents }) => (documents as Json[]).pop()),
  ],
  [
    "a text without content",
    ["documents-shape"],
    changeDocuments("text", (document) => Object.assign(document, { content: null })),
  ],
  [
    "a call with content",
    ["documents-shape"],
    changeDocuments("tool_call", (document) => Object.assign(document, { content: "" })),
  ],
  [
    "a call without arguments",
    ["documents-shape"],
    changeDocuments("tool_call", (_, metadata) => delete metadata["arguments"]),
  ],
  [
    "a hole in the sequences",
    ["documents-shape"],
    changeDocuments("text", (document) => Object.assign(document, { sequence: 99 })),
  ],
  [
    "finished documents in progress",
    ["documents-shape"],
    changeDocuments("text", (document) => Object.assign(document, { status: "in_progress" })),
  ],
  [
    "a fence in a text",
    ["documents-fences"],
    changeDocuments("text", (document) => Object.assign(document, { content: "a\n```js\n1\n```" })),
  ],
  [
    "a permission of its own",
    ["documents-tools"],
    changeDocuments("terminal_command", (_, metadata) => Object.assign(metadata, { permissions: ["root"] })),
  ],
  [
    "a relative working directory",
    ["documents-tools"],
    changeDocuments("terminal_command", (_, metadata) => Object.assign(metadata, { workingDirectory: "src" })),
  ],
  [
    "an exit code that is not a number",
    ["documents-tools", "documents-shape"],
    changeDocuments("terminal_command", (_, metadata) => Object.assign(metadata, { exitCode: null })),
  ],
  [
    "an edit without its diff",
    ["documents-tools", "documents-shape"],
    changeDocuments("file_edit", (_, metadata) => delete metadata["diff"]),
  ],
  [
    "calls without an id",
    ["documents-call-ids"],
    changeDocuments("tool_call", (_, metadata) => Object.assign(metadata, { toolCallId: "" })),
  ],
  [
    "a plan in a circle",
    ["documents-plan"],
    changeDocuments("plan", (_, metadata) =>
      (metadata["todos"] as Json[]).forEach((todo) => Object.assign(todo, { dependencies: [todo["id"]] })),
    ),
  ],
  [
    "a plan that needs what is not in it",
    ["documents-plan"],
    changeDocuments("plan", (_, metadata) =>
      (metadata["todos"] as Json[]).forEach((todo) => Object.assign(todo, { dependencies: ["x"] })),
    ),
  ],
  [
    "a failure that names nothing",
    ["documents-failure"],
    changeDocuments("error", (_, metadata) => delete metadata["relatedDocumentId"]),
  ],
  [
    "a failure without a document",
    ["documents-failure"],
    changeResponse((response) =>
      Object.assign(response, { documents: (response["documents"] as Json[]).filter(({ type }) => type !== "error") }),
    ),
  ],
];
