/** Hand-made streams for tests. */
import type { ChatResponse, StreamEvent, StreamEventBody } from "../src/index.ts";

/** Numbers the events from 1. */
export function toStream(bodies: readonly StreamEventBody[]): StreamEvent[] {
  return bodies.map((body, index) => ({ id: index + 1, ...body }));
}

export const usage = { promptTokens: 3, completionTokens: 4, totalTokens: 7 };

export const responseStart: StreamEventBody = {
  event: "response_start",
  data: {
    id: "chat_1",
    conversationId: "conv_1",
    model: "m",
    mode: "agent",
    created: "2026-02-23T10:30:00Z",
    status: "streaming",
    protocol: { version: "1.0", schema: "/v1/schema/events.json" },
    heartbeat_ms: 15_000,
  },
};

export const done: StreamEventBody = {
  event: "done",
  data: {
    id: "chat_1",
    status: "completed",
    usage,
    metadata: { duration_ms: 9, toolCallCount: 1, turnCount: 2, actionCount: 2, finishReason: "end_turn" },
  },
};

const textMetadata = { format: "markdown" };
const toolMetadata = { toolName: "read_file", toolCallId: "call_1" };
const result = { status: "success", data: "text" } as const;
const commandMetadata = { command: "ls", workingDirectory: "/w" };

/** A text, a tool call and a command side by side, and an edit: every kind of series. */
export const stream: readonly StreamEvent[] = toStream([
  responseStart,
  { event: "document_start", data: { id: "doc_001", type: "text", sequence: 1, metadata: textMetadata } },
  { event: "content_delta", data: { documentId: "doc_001", delta: "Hello " } },
  { event: "content_delta", data: { documentId: "doc_001", delta: "world" } },
  { event: "document_end", data: { documentId: "doc_001", finalContent: "Hello world", metadata: textMetadata } },
  { event: "document_start", data: { id: "doc_002", type: "tool_call", sequence: 2, metadata: toolMetadata } },
  { event: "tool_call_start", data: { documentId: "doc_002", ...toolMetadata } },
  { event: "arguments_delta", data: { documentId: "doc_002", delta: "{}" } },
  { event: "tool_call_arguments", data: { documentId: "doc_002", arguments: { a: 1 } } },
  {
    event: "document_start",
    data: { id: "doc_003", type: "terminal_command", sequence: 3, metadata: commandMetadata },
  },
  { event: "output_delta", data: { documentId: "doc_003", stream: "stdout", delta: "one\n" } },
  { event: "output_delta", data: { documentId: "doc_002", stream: "stdout", delta: "live" } },
  { event: "output_delta", data: { documentId: "doc_003", stream: "stderr", delta: "two\n" } },
  { event: "tool_result", data: { documentId: "doc_002", result } },
  {
    event: "document_end",
    data: { documentId: "doc_002", metadata: { ...toolMetadata, arguments: { a: 1 }, result, duration_ms: 5 } },
  },
  {
    event: "document_end",
    data: {
      documentId: "doc_003",
      metadata: { ...commandMetadata, exitCode: 0, output: "one\ntwo\n", duration_ms: 8, permissions: [] },
    },
  },
  {
    event: "document_start",
    data: {
      id: "doc_004",
      type: "file_edit",
      sequence: 4,
      metadata: { filePath: "a.ts", operation: "create", language: "typescript" },
    },
  },
  { event: "content_delta", data: { documentId: "doc_004", delta: "draft" } },
  {
    event: "document_end",
    data: {
      documentId: "doc_004",
      finalContent: "final",
      metadata: {
        filePath: "a.ts",
        operation: "edit",
        language: "typescript",
        diff: { oldString: "x", newString: "final", startLine: 1, endLine: 1 },
        state: "applied",
      },
    },
  },
  done,
]);

/** What the stream adds up to. */
export const response: ChatResponse = {
  id: "chat_1",
  conversationId: "conv_1",
  model: "m",
  mode: "agent",
  created: "2026-02-23T10:30:00Z",
  status: "completed",
  documents: [
    { id: "doc_001", type: "text", sequence: 1, content: "Hello world", metadata: { format: "markdown" } },
    {
      id: "doc_002",
      type: "tool_call",
      sequence: 2,
      content: null,
      metadata: { ...toolMetadata, arguments: { a: 1 }, draftOutput: "live", result, duration_ms: 5 },
    },
    {
      id: "doc_003",
      type: "terminal_command",
      sequence: 3,
      content: null,
      metadata: { ...commandMetadata, output: "one\ntwo\n", exitCode: 0, duration_ms: 8, permissions: [] },
    },
    {
      id: "doc_004",
      type: "file_edit",
      sequence: 4,
      content: "final",
      metadata: {
        filePath: "a.ts",
        operation: "edit",
        language: "typescript",
        diff: { oldString: "x", newString: "final", startLine: 1, endLine: 1 },
        state: "applied",
      },
    },
  ],
  usage,
  metadata: { duration_ms: 9, toolCallCount: 1, turnCount: 2, actionCount: 2, finishReason: "end_turn" },
};
