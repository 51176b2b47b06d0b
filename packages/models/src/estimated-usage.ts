/** Estimates usage for models that do not count tokens: one token for every four bytes (N6). */
import type { Usage } from "@sheaf/protocol";
import { estimateAttachmentTokens } from "./attachments.ts";
import type { ModelMessage, ModelRequest } from "./provider.ts";

/** Returns the usage of a request. `bytes` is the length of the model's answer. */
export function estimateUsage({ system, messages, tools }: ModelRequest, bytes: number): Usage {
  const sent = messages.reduce(
    (sum, message) => sum + toMessageBytes(message),
    Buffer.byteLength(system) + toToolBytes(tools),
  );
  const promptTokens = Math.ceil(sent / 4);
  const completionTokens = Math.ceil(bytes / 4);
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, estimated: true };
}

/** Returns the bytes of the tools, without parameters: Sheaf creates schemas only for models that read them. */
function toToolBytes(tools: ModelRequest["tools"]): number {
  return tools.reduce(
    (sum, { name, description }) => sum + Buffer.byteLength(name) + Buffer.byteLength(description),
    0,
  );
}

/** Returns bytes for attachments; an image's bytes depend on its pixels. */
function toAttachedBytes({ attachments }: Exclude<ModelMessage, { role: "assistant" }>): number {
  return Math.round(estimateAttachmentTokens(attachments)) * 4;
}

function toMessageBytes(message: ModelMessage): number {
  if (message.role === "user") return Buffer.byteLength(message.text) + toAttachedBytes(message);
  if (message.role === "tool") return Buffer.byteLength(message.output) + toAttachedBytes(message);
  return message.content.reduce((sum, part) => {
    if (part.type === "provider_data") return sum;
    const text =
      part.type === "text" ? part.text : part.toolName + (part.rawArguments ?? JSON.stringify(part.arguments));
    return sum + Buffer.byteLength(text);
  }, 0);
}
