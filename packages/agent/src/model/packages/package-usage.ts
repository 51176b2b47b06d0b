/** Tokens as the interface tells them: numbers in version 2, objects since then. */
import type { Usage } from "@sheaf/protocol";

type Fields = Readonly<Record<string, unknown>>;

/** The usage of a turn (N6). */
export function toPackageUsage(raw: Fields): Usage {
  const { inputTokens: input, outputTokens: output } = raw;
  const promptTokens = toCount(isFields(input) ? input["total"] : input);
  const completionTokens = toCount(isFields(output) ? output["total"] : output);
  if (promptTokens === undefined && completionTokens === undefined) {
    return { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true };
  }
  const reasoning = toCount(isFields(output) ? output["reasoning"] : raw["reasoningTokens"]);
  const cached = toCount(isFields(input) ? input["cacheRead"] : raw["cachedInputTokens"]);
  const cacheWrite = isFields(input) ? toCount(input["cacheWrite"]) : undefined;
  return {
    promptTokens: promptTokens ?? 0,
    completionTokens: completionTokens ?? 0,
    totalTokens: (promptTokens ?? 0) + (completionTokens ?? 0),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    ...(cached !== undefined && { cachedPromptTokens: cached }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
