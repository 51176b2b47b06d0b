/** The structure of what responses and their events share. */
import type { Fields, Pattern } from "./pattern.ts";

/** R8, N36. */
export const toolCallResult: Fields = {
  status: ["success", "error"],
  data: "anything",
  "truncated?": "flag",
  "bytes?": "count",
};

/** N6. */
export const usage: Fields = {
  promptTokens: "count",
  completionTokens: "count",
  totalTokens: "count",
  "reasoningTokens?": "count",
  "cachedPromptTokens?": "count",
  "cacheWriteTokens?": "count",
  "estimated?": "flag",
};

/** R2. */
export const responseMetadata: Fields = {
  duration_ms: "amount",
  toolCallCount: "count",
  turnCount: "count",
  "actionCount?": "count",
  "waiting_ms?": "amount",
  "finishReason?": "text",
  "lastEventId?": "count",
};

export const mode: Pattern = ["agent", "plan", "ask", "debug"];
