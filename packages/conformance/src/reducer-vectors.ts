/** Streams and the responses they must add up to: for reducers in any language (section 3, X12). */
import { reduce, type ChatResponse, type StreamEvent } from "@sheaf/protocol";
import { toBaseEvents } from "@sheaf/protocol/base-form";

/** One stream for a reducer. */
export interface ReducerVector {
  readonly name: string;
  readonly clauses: readonly string[];
  /** Events in order of arrival; a reducer takes them one by one. */
  readonly events: readonly StreamEvent[];
  /** The response after the last event. A reducer may add fields, but must not differ in these. */
  readonly expected: ChatResponse;
}

type Body = Omit<StreamEvent, "id">;

const numbered = (bodies: readonly Body[]): StreamEvent[] =>
  bodies.map((body, index) => ({ ...body, id: index + 1 }) as StreamEvent);

const start: Body = {
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

const usage = { promptTokens: 3, completionTokens: 4, totalTokens: 7 };
const done: Body = {
  event: "done",
  data: {
    id: "chat_1",
    status: "completed",
    usage,
    metadata: { duration_ms: 9, toolCallCount: 1, turnCount: 2, finishReason: "end_turn" },
  },
};

const text = (id: number, deltas: readonly string[], finalContent = deltas.join("")): Body[] => {
  const documentId = `doc_${String(id).padStart(3, "0")}`;
  const metadata = { format: "markdown" };
  return [
    { event: "document_start", data: { id: documentId, type: "text", sequence: id, metadata } },
    ...deltas.map((delta): Body => ({ event: "content_delta", data: { documentId, delta } })),
    { event: "document_end", data: { documentId, finalContent, metadata } },
  ];
};

const toolMetadata = { toolName: "read_file", toolCallId: "call_1" };
const result = { status: "success", data: "text" } as const;
const call: Body[] = [
  { event: "document_start", data: { id: "doc_002", type: "tool_call", sequence: 2, metadata: toolMetadata } },
  { event: "tool_call_start", data: { documentId: "doc_002", ...toolMetadata } },
  { event: "arguments_delta", data: { documentId: "doc_002", delta: '{"a":' } },
  { event: "tool_call_arguments", data: { documentId: "doc_002", arguments: { a: 1 } } },
  { event: "output_delta", data: { documentId: "doc_002", stream: "stdout", delta: "live" } },
];
const callEnd: Body[] = [
  { event: "tool_result", data: { documentId: "doc_002", result } },
  {
    event: "document_end",
    data: { documentId: "doc_002", metadata: { ...toolMetadata, arguments: { a: 1 }, result, duration_ms: 5 } },
  },
];
const command: Body[] = [
  {
    event: "document_start",
    data: { id: "doc_003", type: "terminal_command", sequence: 3, metadata: { command: "ls" } },
  },
  { event: "output_delta", data: { documentId: "doc_003", stream: "stdout", delta: "a\n" } },
  { event: "output_delta", data: { documentId: "doc_003", stream: "stderr", delta: "b\n" } },
];
const commandEnd: Body = {
  event: "document_end",
  data: {
    documentId: "doc_003",
    metadata: { command: "ls", exitCode: 0, output: "a\nb\n", duration_ms: 1, permissions: [] },
  },
};
const edit: Body[] = [
  {
    event: "document_start",
    data: { id: "doc_004", type: "file_edit", sequence: 4, metadata: { filePath: "a.ts", operation: "create" } },
  },
  { event: "content_delta", data: { documentId: "doc_004", delta: "draft" } },
  {
    event: "document_end",
    data: {
      documentId: "doc_004",
      finalContent: "final",
      metadata: { filePath: "a.ts", operation: "create", language: "typescript", state: "applied" },
    },
  },
];
const approval: Body = {
  event: "approval_request",
  data: {
    approvalId: "appr_1",
    documentId: "doc_002",
    title: "May it run?",
    description: "",
    subject: { type: "tool_call" },
    options: [{ id: "yes", label: "Yes", kind: "allow_once" }],
    expiresAt: "2026-02-23T11:00:00Z",
  },
};
const resolved: Body = { event: "approval_resolved", data: { approvalId: "appr_1", optionId: "yes", by: "user" } };

const whole = numbered([
  start,
  ...text(1, ["Hello ", "wörld 🙂"]),
  ...call,
  ...command,
  ...callEnd,
  commandEnd,
  ...edit,
  done,
]);

/** Makes the snapshot of a response after the first events, with the id of the last one (X3). */
function toSnapshotEvent(events: readonly StreamEvent[]): StreamEvent {
  const response = reduce(events);
  const lastEventId = events.at(-1)?.id ?? 1;
  const metadata = { ...response.metadata, lastEventId };
  return { id: lastEventId, event: "snapshot", data: { response: { ...response, metadata } } };
}

/** Events of a later version: a client ignores them (X14). */
const unknown = [
  { event: "_private", data: { documentId: "doc_001", delta: "no" } },
  { event: "later_event", data: {} },
  { event: "content_delta", data: { documentId: "doc_099", delta: "no" } },
] as unknown as Body[];

function vector(name: string, clauses: readonly string[], events: readonly StreamEvent[]): ReducerVector {
  return { name, clauses, events, expected: reduce(events) };
}

/** Creates all vectors. Hand-written responses verify the expected ones, which Sheaf's reducer makes. */
export function createReducerVectors(): readonly ReducerVector[] {
  const approved = numbered([start, ...text(1, ["a"]), ...call, approval, resolved, ...callEnd, done]);
  return [
    vector("a whole stream", ["N53", "R14"], whole),
    vector("only the start", ["N3"], whole.slice(0, 1)),
    ...whole.slice(1, -1).map((_, index) => vector(`the first ${index + 2} events`, ["N3"], whole.slice(0, index + 2))),
    vector(
      "every event twice",
      ["X1"],
      whole.flatMap((event) => [event, event]),
    ),
    vector("the start repeated in the middle", ["X1"], [...whole.slice(0, 9), ...whole.slice(2, 9), ...whole.slice(9)]),
    vector("a base stream", ["N54"], toBaseEvents(whole)),
    vector("deltas that finalContent replaces", ["N47"], numbered([start, ...text(1, ["draft"], "final"), done])),
    vector("unknown events and documents", ["X14", "N13"], numbered([start, ...unknown, ...text(1, ["a"]), done])),
    vector("a snapshot first", ["X3"], [toSnapshotEvent(whole.slice(0, 12)), ...whole.slice(12)]),
    vector(
      "a snapshot in the middle",
      ["X3"],
      [...whole.slice(0, 3), toSnapshotEvent(whole.slice(0, 12)), ...whole.slice(12)],
    ),
    vector("an open approval", ["X8"], approved.slice(0, 10)),
    vector("an approval with its answer", ["X8"], approved),
    vector("an event after done", ["N50"], [...whole, { ...whole[2]!, id: 99 }]),
  ];
}
