import {
  formatJson,
  isJsonObject,
  readFirstString,
  readObject,
  readObjects,
  readString,
  type JsonObject,
} from "./read-json.ts";
import { searchName, type ServerCall } from "./server-call.ts";
import type { ToolCallWriter } from "./tool-call-writer.ts";
import type { PayloadReader, TurnWriter } from "./turn-writer.ts";

/** A content block that has started. */
interface ContentBlock {
  readonly toolCall?: ToolCallWriter;
  /** A call of a server tool, whose arguments grow. */
  readonly serverCall?: { readonly id: string; readonly name: string; arguments: string };
  readonly ran?: ServerCall;
  /** Reasoning, which returns whole to the provider if it is signed. */
  readonly thinking?: { text: string; signature: string };
  /** Input that was complete at the start; used unless it is streamed as well. */
  readonly wholeInput: string;
}

/**
 * Reads Anthropic's messages: streamed events, and whole messages. A tool that the provider runs becomes a call with
 * its result (N69), and a server item of the report.
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
      } else if (type !== "ping" && type !== "error") turn.addOther(payload);
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
  const ran = new Map<string, ServerCall>();

  function end(index: unknown): void {
    const block = blocks.get(index);
    if (block === undefined) return;
    blocks.delete(index);
    block.toolCall?.end(block.toolCall.hasInput ? "" : block.wholeInput);
    if (block.thinking) addThinking(turn, block.thinking);
    if (block.serverCall?.arguments === "") block.serverCall.arguments = block.wholeInput;
    if (block.ran && block.serverCall) endServerArguments(turn, block.ran, block.serverCall);
  }

  function readInput(block: ContentBlock | undefined, piece: string): void {
    block?.toolCall?.append(piece);
    block?.ran?.append(piece);
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
      if (created.ran && created.serverCall) ran.set(created.serverCall.id, created.ran);
      if (readString(block.type).endsWith("_tool_result")) readServerResult(turn, ran, block);
      blocks.set(index, created);
    },
    readDelta(index, delta) {
      if (delta.type === "text_delta") turn.append("text", readString(delta.text));
      else if (delta.type === "thinking_delta") readThinking(blocks.get(index), readString(delta.thinking));
      else if (delta.type === "signature_delta") readSignature(blocks.get(index), delta.signature);
      else if (delta.type === "citations_delta") turn.addSources([readObject(delta.citation)]);
      else if (delta.type === "input_json_delta") readInput(blocks.get(index), readString(delta.partial_json));
      else turn.addOther(delta);
    },
    end,
    endAll() {
      for (const index of blocks.keys()) end(index);
    },
  };
}

/** Ends the arguments of a call. The provider wants calls and results of its search back. */
function endServerArguments(
  turn: TurnWriter,
  call: ServerCall,
  { id, name, arguments: text }: NonNullable<ContentBlock["serverCall"]>,
): void {
  const input = call.endArguments(text);
  if (name === searchName) turn.addProviderData({ type: "server_tool_use", id, name, input });
}

/** Reads a result. The call of a paused answer is in the answer before. */
function readServerResult(turn: TurnWriter, ran: ReadonlyMap<string, ServerCall>, block: JsonObject): void {
  const { type, tool_use_id: id, content, is_error: isError } = block;
  const isSearch = type === "web_search_tool_result";
  const name = isSearch ? searchName : readString(type).replace(/_tool_result$/, "");
  const call = ran.get(readString(id)) ?? turn.createServerCall(name, id);
  call.end(isError === true ? block : (content ?? ""));
  if (isSearch) turn.addProviderData({ type, tool_use_id: id, content });
}

/** Adds reasoning, which the provider accepts back only with a signature. */
function addThinking(turn: TurnWriter, { text, signature }: { text: string; signature: string }): void {
  if (signature !== "") turn.addProviderData({ type: "thinking", thinking: text, signature });
}

/** Returns a server tool's name, after its server's name: alone, it could be the name of a tool of Sheaf. */
function toServerToolName({ type, name, server_name: server }: JsonObject): string {
  const tool = readFirstString(name, type);
  return type === "mcp_tool_use" ? `${readString(server)}.${tool}` : tool;
}

function createBlock(turn: TurnWriter, block: JsonObject): ContentBlock {
  const type = readString(block.type);
  const input = readObject(block.input);
  const wholeInput = Object.keys(input).length === 0 ? "" : (formatJson(input) ?? "");
  if (type === "text") {
    turn.append("text", readString(block.text));
    turn.addSources(readObjects(block.citations));
  } else if (type === "thinking") {
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
    return { serverCall, wholeInput, ran: turn.createServerCall(toServerToolName(block), serverCall.id) };
  } else if (type !== "") {
    const id = readFirstString(block.tool_use_id, block.id);
    turn.addServerItem(id === "" ? { type } : { type, id });
    if (!type.endsWith("_tool_result")) turn.addOther(block);
  }
  return { wholeInput };
}
