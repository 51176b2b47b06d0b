/** Finds the format of a stream by the shapes of its first payloads. */
import { createBodyDecoder, type BodyMessage } from "./model-streams/body-decoder.ts";
import {
  isJsonObject,
  parseJson,
  readObject,
  readObjects,
  readString,
  type JsonObject,
} from "./model-streams/read-json.ts";
import type { ModelStreamFormat } from "./model-streams/model-stream-decoder.ts";
import type { AgentStreamFormat } from "./agent-streams/agent-stream.ts";

export type StreamFormat = Exclude<ModelStreamFormat, "markdown"> | AgentStreamFormat;

/** Returns the format of a stream by its first few payloads; undefined if all of them have an unknown shape. */
export function findStreamFormat(beginning: Uint8Array | string): StreamFormat | undefined {
  const body = createBodyDecoder();
  for (const message of [...body.push(beginning), ...body.end()]) {
    const found = findFormat(message);
    if (found) return found;
  }
  return undefined;
}

function findFormat({ data, event }: BodyMessage): StreamFormat | undefined {
  const payload = parseJson(data.trim());
  if (!isJsonObject(payload)) return undefined;
  const agent = findAgent(payload);
  // Payloads of models lack a session.
  return agent ?? ("session_id" in payload ? undefined : findModel(payload, readString(payload.type) || event));
}

function findAgent(line: JsonObject): AgentStreamFormat | undefined {
  const type = readString(line.type);
  const message = readObject(line.message);
  // Qwen Code stores its sessions in a similar form, with "parts".
  if (typeof line.sessionId === "string" && "uuid" in line) return message.parts ? undefined : "claude-session";
  if (/^(thread|turn)\.(started|completed|failed)$|^item\.(started|updated|completed)$/.test(type))
    return "codex-exec-json";
  if ("sessionID" in line && isJsonObject(line.part)) return "opencode-json";
  if (type === "init" && "session_id" in line) return "gemini-cli-stream-json";
  if ((type === "message" && "role" in line && typeof line.content === "string") || "tool_id" in line) {
    return "gemini-cli-stream-json";
  }
  if (typeof line.session_id !== "string") return undefined;
  if (type === "stream_event" || "parent_tool_use_id" in line || isClaudeInit(line)) return "claude-stream-json";
  const blocks = readObjects(message.content);
  if (message.type === "message" || blocks.some((block) => block.type === "tool_use" || block.type === "tool_result"))
    return "claude-stream-json";
  const isCursor = type === "tool_call" || type === "thinking" || type === "assistant" || line.subtype === "init";
  return isCursor ? "cursor-stream-json" : undefined;
}

function isClaudeInit(line: JsonObject): boolean {
  return line.subtype === "init" && Array.isArray(line.tools) && Array.isArray(line.mcp_servers);
}

function findModel(payload: JsonObject, type: string): Exclude<ModelStreamFormat, "markdown"> | undefined {
  const { choices, candidates, response, message, done, promptFeedback, output } = payload;
  if (Array.isArray(choices)) return "openai-chat";
  if (payload.object === "interaction" || /^(interaction|step|content)\./.test(readString(payload.event_type)))
    return "gemini";
  if (Array.isArray(candidates) || isJsonObject(promptFeedback) || Array.isArray(readObject(response).candidates)) {
    return "gemini";
  }
  if (type.startsWith("response.") || (payload.object === "response" && Array.isArray(output)))
    return "openai-responses";
  if (/^(message_(delta|stop)|content_block_(start|delta|stop))$/.test(type)) return "anthropic-messages";
  if (type === "message_start" && readObject(message).type === "message") return "anthropic-messages";
  if (type === "message" && Array.isArray(payload.content)) return "anthropic-messages";
  if (/^(message-(start|end)|content-(start|delta|end)|tool-(plan|call).*)$/.test(type)) return "cohere-chat";
  if (typeof done === "boolean" && (isJsonObject(message) || typeof response === "string")) return "ollama-chat";
  return isJsonObject(message) && "finish_reason" in payload ? "cohere-chat" : undefined;
}
