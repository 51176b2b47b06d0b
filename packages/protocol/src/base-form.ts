/** The strip law (N54): a stream or a response without Sheaf's extensions. */
import type { ChatResponse } from "./chat.ts";
import { isJsonObject } from "./json-object.ts";
import type { DocumentType } from "./response-parts.ts";
import type { StreamEvent, StreamEventName } from "./stream-events.ts";

/** The seven events that a base client knows (R14). */
export const baseEventNames = [
  "document_start",
  "content_delta",
  "tool_call_start",
  "tool_call_arguments",
  "tool_result",
  "document_end",
  "done",
] as const satisfies readonly StreamEventName[];

/** The parts of a value to keep: all of it, some fields of an object, or a form for each item of an array. */
type Form = "all" | readonly [Form] | { readonly [field: string]: Form };

const usage: Form = { promptTokens: "all", completionTokens: "all", totalTokens: "all" };
const result: Form = { status: "all", data: "all" };

/** Base fields of each event (R14 to R16). An event that isn't here is Ext as a whole. */
const eventForms: Readonly<Record<(typeof baseEventNames)[number], Form>> = {
  document_start: { id: "all", type: "all", sequence: "all" },
  content_delta: { documentId: "all", delta: "all" },
  tool_call_start: { documentId: "all", toolName: "all", toolCallId: "all" },
  tool_call_arguments: { documentId: "all", arguments: "all" },
  tool_result: { documentId: "all", result },
  document_end: { documentId: "all", finalContent: "all" },
  done: { usage },
};

/** Base fields of metadata (R4 to R13). */
const metadataForms: Readonly<Record<DocumentType, Form>> = {
  text: { format: "all" },
  code_reference: { filePath: "all", startLine: "all", endLine: "all", language: "all" },
  code_block: { language: "all", purpose: "all" },
  file_edit: {
    filePath: "all",
    operation: "all",
    language: "all",
    diff: { oldString: "all", newString: "all", startLine: "all", endLine: "all" },
  },
  tool_call: { toolName: "all", toolCallId: "all", arguments: "all", result, duration_ms: "all" },
  terminal_command: {
    command: "all",
    workingDirectory: "all",
    exitCode: "all",
    output: "all",
    duration_ms: "all",
    permissions: "all",
  },
  plan: {
    title: "all",
    overview: "all",
    todos: [{ id: "all", content: "all", status: "all", dependencies: "all" }],
    format: "all",
  },
  clarification: { questions: [{ id: "all", text: "all", options: [{ id: "all", label: "all" }] }] },
  error: { errorCode: "all", source: "all", details: "all" },
  todo_update: { todos: [{ id: "all", status: "all" }] },
};

const responseForm: Form = {
  id: "all",
  conversationId: "all",
  model: "all",
  mode: "all",
  created: "all",
  status: "all",
  documents: "all",
  usage,
  metadata: { duration_ms: "all", toolCallCount: "all", turnCount: "all" },
};

const formsByEvent: ReadonlyMap<string, Form> = new Map(Object.entries(eventForms));
const formsByType: ReadonlyMap<string, Form> = new Map(Object.entries(metadataForms));

/** Removes every Ext event and every Ext field from a stream; the ids stay in the envelope (N54). */
export function toBaseEvents(events: Iterable<StreamEvent>): StreamEvent[] {
  const kept: StreamEvent[] = [];
  for (const event of events) {
    const form = formsByEvent.get(event.event);
    if (form !== undefined) kept.push(toForm(event, { id: "all", event: "all", data: form }));
  }
  return kept;
}

/** Removes every Ext field from a response (N54). A document of an unknown type keeps its base fields (N13). */
export function toBaseResponse(response: ChatResponse): ChatResponse {
  const documents = response.documents.map((document) =>
    toForm(document, {
      id: "all",
      type: "all",
      sequence: "all",
      content: "all",
      metadata: formsByType.get(document.type) ?? {},
    }),
  );
  return { ...toForm(response, responseForm), documents };
}

function toForm<Value>(value: Value, form: Form): Value;
function toForm(value: unknown, form: Form): unknown {
  if (form === "all") return value;
  if (isItemForm(form)) return Array.isArray(value) ? value.map((item: unknown) => toForm(item, form[0])) : value;
  if (!isJsonObject(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const field of Object.keys(form)) {
    if (Object.hasOwn(value, field)) kept[field] = toForm(value[field], form[field] ?? "all");
  }
  return kept;
}

function isItemForm(form: Exclude<Form, "all">): form is readonly [Form] {
  return Array.isArray(form);
}
