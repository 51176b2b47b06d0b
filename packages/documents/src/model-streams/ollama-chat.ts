import { formatJson, isJsonObject, readObject, readObjects, readString, type JsonObject } from "./read-json.ts";
import type { PayloadReader, TurnWriter } from "./turn-writer.ts";

/** Reads Ollama's own `/api/chat` and `/api/generate`: NDJSON, with complete calls. */
export function createOllamaChatReader(turn: TurnWriter): PayloadReader {
  function readToolCall(part: JsonObject): void {
    const called = readObject(part.function);
    const toolCall = turn.createToolCall("json");
    toolCall.describe(part.id, called.name);
    toolCall.end(isJsonObject(called.arguments) ? formatJson(called.arguments) : readString(called.arguments));
  }

  return {
    read(payload) {
      const message = readObject(payload.message);
      turn.identify(undefined, payload.model);
      for (const source of [message, payload]) turn.append("reasoning", readString(source.thinking));
      turn.append("text", readString(message.content));
      turn.append("text", readString(payload.response));
      for (const part of readObjects(message.tool_calls)) readToolCall(part);
      if (payload.done !== true) return;
      turn.setFinish(payload.done_reason);
      turn.setUsage(payload);
      turn.addEnd("done");
    },
  };
}
