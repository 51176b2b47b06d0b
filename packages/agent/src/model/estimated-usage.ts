/** Usage for models that do not count tokens: one token for every four bytes (N6). */
import type { Usage } from "@sheaf/protocol";
import type { ModelMessage, ModelRequest } from "./provider.ts";

/** Estimates the usage of a request. Remembers the size of each message, so that the cost of a turn does not grow. */
export interface UsageEstimator {
  /** `bytes`: the length of what the model wrote. */
  estimate(request: ModelRequest, bytes: number): Usage;
}

export function createUsageEstimator(): UsageEstimator {
  const known = new WeakMap<object, number>();
  const measure = (value: object, count: () => number): number => {
    const bytes = known.get(value) ?? count();
    known.set(value, bytes);
    return bytes;
  };
  return {
    estimate({ system, messages, tools }, bytes) {
      let sent = Buffer.byteLength(system) + measure(tools, () => toToolBytes(tools));
      for (const message of messages) sent += measure(message, () => toMessageBytes(message));
      const promptTokens = Math.ceil(sent / 4);
      const completionTokens = Math.ceil(bytes / 4);
      return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, estimated: true };
    },
  };
}

/** Without the parameters: their schemas are created only for models that read them. */
function toToolBytes(tools: ModelRequest["tools"]): number {
  return tools.reduce(
    (sum, { name, description }) => sum + Buffer.byteLength(name) + Buffer.byteLength(description),
    0,
  );
}

function toMessageBytes(message: ModelMessage): number {
  if (message.role === "user") return Buffer.byteLength(message.text);
  if (message.role === "tool") return Buffer.byteLength(message.output);
  return message.content.reduce((sum, part) => {
    if (part.type === "provider_data") return sum;
    const text =
      part.type === "text" ? part.text : part.toolName + (part.rawArguments ?? JSON.stringify(part.arguments));
    return sum + Buffer.byteLength(text);
  }, 0);
}
