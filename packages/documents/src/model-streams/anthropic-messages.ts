import {
  formatJson,
  isJsonObject,
  readFirstString,
  readObject,
  readObjects,
  readString,
  type JsonObject,
} from "./read-json.ts";
import type { ServerSearch } from "./server-search.ts";
import type { ToolCallWriter } from "./tool-call-writer.ts";
import type { PayloadReader, TurnWriter } from "./turn-writer.ts";

/** A content block that has begun. */
interface ContentBlock {
  readonly toolCall?: ToolCallWriter;
  /** A server tool's call; its arguments grow. */
  readonly serverCall?: { readonly id: string; arguments: string };
  readonly search?: ServerSearch;
  /** Reasoning, which is sent back whole if it is signed. */
  readonly thinking?: { text: string; signature: string };
  /** Input that came whole with the start; used unless it is streamed as well. */
  readonly wholeInput: string;
}

/**
 * Anthropic's messages: streamed events, and whole messages. Server tools become server items, not tool calls; a search of
 * the web is a call with its result, too (N69).
 */
export function createAnthropicMessagesReader(turn: TurnWriter): PayloadReader {
  const blocks = createContentBlocks(turn);
  let usage: JsonObject | undefined;
  let starts = 0;

  function mergeUsage(raw: unknown): void {
    if (!isJsonObject(raw)) return;
    const known = Object.entries(raw).filter(([, value]) => value !== null);
    usage = { ...usage, ...Object.fromEntries(known) };
    turn.setUsage(usage);
  }

  function readMessage(message: JsonObject): void {
    blocks.endAll();
    starts += 1;
    if (starts > 1) turn.addRestart();
    turn.identify(message.id, message.model);
    mergeUsage(message.usage);
    turn.setFinish(message.stop_reason);
    readObjects(message.content).forEach((block, index) => {
      blocks.start(index, block);
      blocks.end(index);
    });
  }

  function readMessageDelta(payload: JsonObject): void {
    const delta = readObject(payload.delta);
    turn.setFinish(delta.stop_reason);
    turn.append("refusal", readString(readObject(delta.stop_details).explanation));
    mergeUsage(payload.usage);
  }

  function readEnd(marker: string): void {
    blocks.endAll();
    turn.addEnd(marker);
  }

  return {
    read(payload, event) {
      const type = readFirstString(payload.type, event);
      if (type === "message_start") readMessage(readObject(payload.message));
      else if (type === "content_block_start") blocks.start(payload.index, readObject(payload.content_block));
      else if (type === "content_block_delta") blocks.readDelta(payload.index, readObject(payload.delta));
      else if (type === "content_block_stop") blocks.end(payload.index);
      else if (type === "message_delta") readMessageDelta(payload);
      else if (type === "message_stop") readEnd("message_stop");
      else if (type === "message") {
        readMessage(payload);
        readEnd("message");
      }
    },
  };
}

interface ContentBlocks {
  start(index: unknown, block: JsonObject): void;
  readDelta(index: unknown, delta: JsonObject): void;
  end(index: unknown): void;
  endAll(): void;
}

function createContentBlocks(turn: TurnWriter): ContentBlocks {
  const blocks = new Map<unknown, ContentBlock>();
  const searches = new Map<string, ServerSearch>();

  function end(index: unknown): void {
    const block = blocks.get(index);
    if (block === undefined) return;
    blocks.delete(index);
    block.toolCall?.end(block.toolCall.hasInput ? "" : block.wholeInput);
    if (block.thinking) addThinking(turn, block.thinking);
    if (block.serverCall?.arguments === "") block.serverCall.arguments = block.wholeInput;
    if (block.search && block.serverCall) endSearchArguments(turn, block.search, block.serverCall);
  }

  function readInput(block: ContentBlock | undefined, piece: string): void {
    block?.toolCall?.append(piece);
    block?.search?.append(piece);
    if (block?.serverCall !== undefined) block.serverCall.arguments += piece;
  }

  function readThinking(block: ContentBlock | undefined, piece: string): void {
    turn.append("reasoning", piece);
    if (block?.thinking) block.thinking.text += piece;
  }

  function readSignature(block: ContentBlock | undefined, piece: unknown): void {
    turn.addSignature(piece);
    if (block?.thinking) block.thinking.signature += readString(piece);
  }

  return {
    start(index, block) {
      end(index);
      const created = createBlock(turn, block);
      if (created.search && created.serverCall) searches.set(created.serverCall.id, created.search);
      if (block.type === "web_search_tool_result") readSearchResult(turn, searches, block);
      blocks.set(index, created);
    },
    readDelta(index, delta) {
      if (delta.type === "text_delta") turn.append("text", readString(delta.text));
      else if (delta.type === "thinking_delta") readThinking(blocks.get(index), readString(delta.thinking));
      else if (delta.type === "signature_delta") readSignature(blocks.get(index), delta.signature);
      else if (delta.type === "input_json_delta") readInput(blocks.get(index), readString(delta.partial_json));
    },
    end,
    endAll() {
      for (const index of blocks.keys()) end(index);
    },
  };
}

/** The provider wants calls and results of its search back. */
function endSearchArguments(
  turn: TurnWriter,
  search: ServerSearch,
  { id, arguments: text }: NonNullable<ContentBlock["serverCall"]>,
): void {
  const input = search.endArguments(text);
  turn.addProviderData({ type: "server_tool_use", id, name: "web_search", input });
}

/** A search that was paused has its call in the answer before. */
function readSearchResult(turn: TurnWriter, searches: ReadonlyMap<string, ServerSearch>, block: JsonObject): void {
  const { type, tool_use_id: id, content } = block;
  const search = searches.get(readString(id)) ?? turn.createSearch(id);
  search.end(Array.isArray(content) ? content : readString(readObject(content).error_code));
  turn.addProviderData({ type, tool_use_id: id, content });
}

/** The provider accepts it back only with a signature. */
function addThinking(turn: TurnWriter, { text, signature }: { text: string; signature: string }): void {
  if (signature !== "") turn.addProviderData({ type: "thinking", thinking: text, signature });
}

function createBlock(turn: TurnWriter, block: JsonObject): ContentBlock {
  const type = readString(block.type);
  const input = readObject(block.input);
  const wholeInput = Object.keys(input).length === 0 ? "" : (formatJson(input) ?? "");
  if (type === "text") turn.append("text", readString(block.text));
  else if (type === "thinking") {
    const thinking = { text: readString(block.thinking), signature: readString(block.signature) };
    turn.append("reasoning", thinking.text);
    turn.addSignature(thinking.signature);
    return { thinking, wholeInput };
  } else if (type === "redacted_thinking") {
    turn.addServerItem({ type });
    turn.addProviderData({ type, data: readString(block.data) });
  } else if (type === "tool_use") {
    const toolCall = turn.createToolCall("json");
    toolCall.describe(block.id, block.name);
    return { toolCall, wholeInput };
  } else if (type.endsWith("_tool_use")) {
    const serverCall = { type, id: readString(block.id), name: readString(block.name), arguments: "" };
    turn.addServerItem(serverCall);
    const isSearch = type === "server_tool_use" && serverCall.name === "web_search";
    return { serverCall, wholeInput, ...(isSearch && { search: turn.createSearch(serverCall.id) }) };
  } else if (type !== "") {
    const id = readFirstString(block.tool_use_id, block.id);
    turn.addServerItem(id === "" ? { type } : { type, id });
  }
  return { wholeInput };
}
