/** The structure of what responses and their events share. */
import { amount, anything, count, fields, flag, oneOf, only, text } from "./shape.ts";
import type { Shape } from "./shape.ts";

/** R8, N36. */
export const toolCallResult: Shape = fields(
  { status: oneOf("success", "error"), data: anything },
  { truncated: flag, bytes: count },
);

/** N6. */
export const usage: Shape = fields(
  { promptTokens: count, completionTokens: count, totalTokens: count },
  { reasoningTokens: count, cachedPromptTokens: count, cacheWriteTokens: count, estimated: flag },
);

/** R2. */
export const responseMetadata: Shape = fields(
  { duration_ms: amount, toolCallCount: count, turnCount: count },
  { actionCount: count, waiting_ms: amount, finishReason: text, lastEventId: count },
);

export const mode: Shape = oneOf("agent", "plan", "ask", "debug");

/** N7. */
export const instant: Shape = only(
  "a time such as 2026-02-23T10:30:00Z",
  (value) => typeof value === "string" && !Number.isNaN(Date.parse(value)),
);
