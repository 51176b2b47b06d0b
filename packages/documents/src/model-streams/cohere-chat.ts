import { isJsonObject, readFirstString, readObject, readObjects, readString, type JsonObject } from "./read-json.ts";
import type { ToolCallWriter } from "./tool-call-writer.ts";
import type { PayloadReader, TurnWriter } from "./turn-writer.ts";

/** Reads Cohere's chat, version 2: streamed events, and whole answers. */
export function createCohereChatReader(turn: TurnWriter): PayloadReader {
  const toolCalls = new Map<unknown, ToolCallWriter>();

  function readContent(content: JsonObject): void {
    turn.append("text", readString(content.text));
    turn.append("reasoning", readString(content.thinking));
  }

  function startToolCall(index: unknown, part: JsonObject): void {
    const called = readObject(part.function);
    const toolCall = turn.createToolCall("json");
    toolCalls.set(index, toolCall);
    toolCall.describe(part.id, called.name);
    toolCall.append(readString(called.arguments));
  }

  function readWhole(payload: JsonObject, message: JsonObject): void {
    turn.identify(payload.id, undefined);
    turn.append("reasoning", readString(message.tool_plan));
    turn.append("text", readString(message.content));
    readObjects(message.content).forEach(readContent);
    readObjects(message.tool_calls).forEach((part, index) => startToolCall(index, part));
    readEnd(payload);
  }

  function readEnd(delta: JsonObject): void {
    const message = readString(delta.error);
    if (message !== "") turn.addError(message, delta);
    turn.setFinish(delta.finish_reason);
    turn.setUsage(delta.usage);
    turn.addEnd("message-end");
  }

  return {
    read(payload, event) {
      const type = readFirstString(payload.type, event);
      const delta = readObject(payload.delta);
      const message = readObject(delta.message);
      const part = readObject(message.tool_calls);
      if (type === "message-start") turn.identify(payload.id, undefined);
      else if (type === "content-start" || type === "content-delta") readContent(readObject(message.content));
      else if (type === "tool-plan-delta") turn.append("reasoning", readString(message.tool_plan));
      else if (type === "tool-call-start") startToolCall(payload.index, part);
      else if (type === "tool-call-delta")
        toolCalls.get(payload.index)?.append(readString(readObject(part.function).arguments));
      else if (type === "tool-call-end") toolCalls.get(payload.index)?.end();
      else if (type === "message-end") readEnd(delta);
      else if (type === "" && isJsonObject(payload.message)) readWhole(payload, payload.message);
      else if (type !== "content-end" && type !== "") turn.addOther(payload);
    },
  };
}
