import {
  formatJson,
  isJsonObject,
  readFirstString,
  readObject,
  readObjects,
  readString,
  type JsonObject,
} from "./read-json.ts";
import type { ServerCall } from "./server-call.ts";
import type { ToolCallWriter } from "./tool-call-writer.ts";
import type { PayloadReader, TextKind, TurnWriter } from "./turn-writer.ts";

/** One entry of `output`, as far as it has arrived. */
interface OutputItem {
  readonly toolCall?: ToolCallWriter;
  readonly ran?: ServerCall;
  /** Parts whose text has arrived; events that repeat the text are skipped. */
  readonly partsWithText: Set<string>;
  isEnded: boolean;
}

/** Events with a piece of text, by the kind of the text. */
const textKinds: ReadonlyMap<string, TextKind> = new Map<string, TextKind>([
  ["response.output_text", "text"],
  ["response.refusal", "refusal"],
  ["response.reasoning_text", "reasoning"],
  ["response.reasoning_summary_text", "reasoning"],
]);

const inputPrefixes: ReadonlySet<string> = new Set([
  "response.function_call_arguments",
  "response.custom_tool_call_input",
]);

/** Reads OpenAI's Responses: streamed events, and whole answers. */
export function createOpenAiResponsesReader(turn: TurnWriter): PayloadReader {
  const items = createOutputItems(turn);

  function readEnd(response: JsonObject, marker: string): void {
    if (items.isEmpty) readObjects(response.output).forEach((item, index) => items.end({ output_index: index }, item));
    turn.setUsage(response.usage);
    turn.setFinish(response.status);
    turn.setFinish(readObject(response.incomplete_details).reason);
    turn.addEnd(marker);
  }

  function readLifeCycle(type: string, response: JsonObject): void {
    turn.identify(response.id, response.model);
    if (isJsonObject(response.error)) turn.addError(response.error, response);
    if (type === "response.failed") turn.setFinish("failed");
    if (["response.completed", "response.incomplete", "response.failed", "response.cancelled"].includes(type)) {
      readEnd(response, type);
    }
  }

  return {
    read(payload, event) {
      const type = readFirstString(payload.type, event);
      const dot = type.lastIndexOf(".");
      const prefix = type.slice(0, dot);
      const step = type.slice(dot + 1);
      const kind = textKinds.get(prefix);
      if (payload.object === "response") {
        turn.identify(payload.id, payload.model);
        readEnd(payload, "response");
      } else if (type === "error" && !isJsonObject(payload.error)) turn.addError(payload, payload);
      else if (type === "response.output_item.added") items.start(payload, readObject(payload.item));
      else if (type === "response.output_item.done") items.end(payload, readObject(payload.item));
      else if (type === "response.content_part.done") items.readPart(payload, readObject(payload.part));
      else if (type === "response.output_text.annotation.added") turn.addSources([readObject(payload.annotation)]);
      else if (kind !== undefined) items.readText(payload, { kind, step });
      else if (inputPrefixes.has(prefix)) items.readInput(payload, step);
      else if (type.startsWith("response.")) readLifeCycle(type, readObject(payload.response));
      else if (type !== "error" && type !== "keepalive") turn.addOther(payload);
    },
  };
}

interface OutputItems {
  start(place: JsonObject, item: JsonObject): void;
  end(place: JsonObject, item: JsonObject): void;
  readPart(place: JsonObject, part: JsonObject): void;
  readText(payload: JsonObject, event: { kind: TextKind; step: string }): void;
  readInput(payload: JsonObject, step: string): void;
  readonly isEmpty: boolean;
}

/**
 * Creates the entries of `output` by their index, since some gateways give an item another id in every event. Every
 * text arrives up to four times (deltas, text done, part done, item done); only the first arrival is used.
 */
function createOutputItems(turn: TurnWriter): OutputItems {
  const items = new Map<unknown, OutputItem>();

  function find(place: JsonObject): OutputItem | undefined {
    return items.get(place.output_index ?? place.item_id ?? readObject(place.item).id);
  }

  function start(place: JsonObject, item: JsonObject): OutputItem {
    const known = find(place);
    if (known !== undefined) return known;
    const created = createItem(turn, item);
    for (const key of [place.output_index, item.id]) if (key !== undefined) items.set(key, created);
    return created;
  }

  return {
    start,
    end(place, item) {
      const known = start(place, item);
      if (known.isEnded) return;
      known.isEnded = true;
      known.toolCall?.describe(item.call_id, item.name);
      known.toolCall?.end(readFirstString(item.arguments, item.input) || formatJson(readClientCall(item)));
      if (known.partsWithText.size === 0) appendWholeItem(turn, item);
      if (item.type === "reasoning") addReasoningItem(turn, item);
      else if (item.type !== "message" && !known.toolCall && !known.ran) turn.addOther(item);
      if (known.ran && item.type === "web_search_call") endSearch(turn, known.ran, item);
      else if (known.ran) endServerCall(known.ran, item);
      const phase = item.type === "message" ? readString(item.phase) : "";
      if (phase !== "") turn.addProviderData({ type: "message", phase });
    },
    readPart(place, part) {
      const known = find(place);
      const key = formatPartKey(place);
      if (known === undefined || known.partsWithText.has(key)) return;
      if (appendPart(turn, part)) known.partsWithText.add(key);
    },
    readText(payload, { kind, step }) {
      const item = find(payload) ?? start(payload, { id: payload.item_id, type: "message" });
      const key = formatPartKey(payload);
      const text = step === "delta" ? payload.delta : readFirstString(payload.text, payload.refusal);
      if (step !== "delta" && item.partsWithText.has(key)) return;
      if (readString(text) === "") return;
      item.partsWithText.add(key);
      turn.append(kind, readString(text));
    },
    readInput(payload, step) {
      const toolCall = find(payload)?.toolCall;
      if (step === "delta") toolCall?.append(readString(payload.delta));
      // A call without a name waits for the end of its item, which has one.
      else if (toolCall?.toolName !== "") toolCall?.end(readFirstString(payload.arguments, payload.input));
    },
    get isEmpty() {
      return items.size === 0;
    },
  };
}

/** Adds reasoning. If the provider does not store it, it returns encrypted: without its cipher it is meaningless. */
function addReasoningItem(turn: TurnWriter, item: JsonObject): void {
  const { type, id, encrypted_content } = item;
  const cipher = readString(encrypted_content);
  turn.addSignature(cipher);
  if (cipher === "" || readString(id) === "") return;
  turn.addProviderData({ type, id, encrypted_content, summary: readObjects(item.summary) });
}

/** Ends a search. The provider searches, opens a found page, or looks for words in one, and wants this back. */
function endSearch(turn: TurnWriter, search: ServerCall, { id, status, action }: JsonObject): void {
  const { type, query, queries, url, pattern, sources } = readObject(action);
  const asked =
    type === "search" ? { query: readFirstString(query, Array.isArray(queries) ? queries[0] : "") } : { url, pattern };
  const isMany = type === "search" && Array.isArray(queries) && queries.length > 1;
  search.endArguments(formatJson(isMany ? { queries } : asked) ?? "");
  search.end(status === "failed" ? { error: "failed" } : readObjects(url === undefined ? sources : [{ url }]));
  if (typeof type !== "string" || readString(id) === "") return;
  turn.addProviderData({ type: "web_search_call", id, action: { type, query, queries, url, pattern } });
}

/** Calls of tools that the client runs under names of the protocol, with the field of their arguments. */
const clientCalls: ReadonlyMap<string, string> = new Map([
  ["apply_patch_call", "operation"],
  ["local_shell_call", "action"],
  ["shell_call", "action"],
  ["computer_call", "action"],
  ["tool_search_call", "arguments"],
]);

function readClientCall(item: JsonObject): unknown {
  return item[clientCalls.get(readString(item.type)) ?? ""];
}

/** Tools that the provider runs itself, with the fields of their calls and results. */
const serverCalls: ReadonlyMap<string, { readonly asked: readonly string[]; readonly found: string }> = new Map([
  ["web_search_call", { asked: [], found: "" }],
  ["code_interpreter_call", { asked: ["code"], found: "outputs" }],
  ["file_search_call", { asked: ["queries"], found: "results" }],
  ["image_generation_call", { asked: ["revised_prompt"], found: "result" }],
  ["mcp_call", { asked: ["server_label", "arguments"], found: "output" }],
  ["mcp_approval_request", { asked: ["server_label", "arguments"], found: "" }],
]);

function endServerCall(call: ServerCall, item: JsonObject): void {
  const { asked, found } = serverCalls.get(readString(item.type))!;
  call.endArguments(formatJson(Object.fromEntries(asked.map((field) => [field, item[field]]))));
  // The provider runs it once the client approves, so the answer has no result.
  if (item.type === "mcp_approval_request") return;
  const image = { mimeType: `image/${readString(item.output_format) || "png"}`, data: item.result };
  const result = item.type === "image_generation_call" ? image : (item[found] ?? "");
  const error = item.error ?? (item.status === "failed" ? "failed" : undefined);
  call.end(error === undefined || error === null ? result : { error });
}

/** Returns a part's key: a summary and the reasoning itself are different texts. */
function formatPartKey(place: JsonObject): string {
  return JSON.stringify([place.summary_index, place.content_index]);
}

/** Creates an item's state. Items other than texts and named calls are run by the client or the provider. */
function createItem(turn: TurnWriter, item: JsonObject): OutputItem {
  const state = { partsWithText: new Set<string>(), isEnded: false };
  const type = readString(item.type);
  if (type === "function_call" || type === "custom_tool_call") {
    const toolCall = turn.createToolCall(type === "function_call" ? "json" : "text");
    toolCall.describe(item.call_id, item.name);
    return { ...state, toolCall };
  }
  if (type !== "message" && type !== "reasoning" && type !== "") {
    const id = readString(item.id);
    turn.addServerItem(id === "" ? { type } : { type, id });
  }
  if (clientCalls.has(type) && item.execution !== "server") {
    const toolCall = turn.createToolCall("json");
    toolCall.describe(item.call_id, type.replace(/_call$/, ""));
    return { ...state, toolCall };
  }
  if (!serverCalls.has(type)) return state;
  // Alone, the name could be the name of a tool of Sheaf.
  const mcpName = `${readString(item.server_label)}.${readString(item.name)}`;
  const name = type.startsWith("mcp_") ? mcpName : type.replace(/_call$/, "");
  return { ...state, ran: turn.createServerCall(name, item.id) };
}

/** Appends a part. Returns true if it has text. */
function appendPart(turn: TurnWriter, part: JsonObject): boolean {
  const text = readFirstString(part.text, part.refusal);
  turn.addSources(readObjects(part.annotations));
  if (part.type === "output_text" || part.type === "text") turn.append("text", text);
  else if (part.type === "refusal") turn.append("refusal", text);
  else if (part.type === "reasoning_text" || part.type === "summary_text") turn.append("reasoning", text);
  else return false;
  return text !== "";
}

function appendWholeItem(turn: TurnWriter, item: JsonObject): void {
  if (item.type !== "message" && item.type !== "reasoning") return;
  for (const part of readObjects(item.summary)) appendPart(turn, part);
  for (const part of readObjects(item.content)) appendPart(turn, part);
}
