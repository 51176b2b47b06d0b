import type { TurnFinishReason } from "@sheaf/protocol";

/** The providers' reasons in lower case. No two protocols give one of them different meanings. */
const reasons: ReadonlyMap<string, TurnFinishReason> = new Map<string, TurnFinishReason>([
  ["stop", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["completed", "stop"],
  ["complete", "stop"],
  ["eos", "stop"],
  ["tool_calls", "tool_calls"],
  ["tool_call", "tool_calls"],
  ["tool_use", "tool_calls"],
  ["function_call", "tool_calls"],
  ["requires_action", "tool_calls"],
  ["length", "max_tokens"],
  ["max_tokens", "max_tokens"],
  ["max_output_tokens", "max_tokens"],
  ["model_length", "max_tokens"],
  ["model_context_window_exceeded", "max_tokens"],
  ["content_filter", "content_filter"],
  ["safety", "content_filter"],
  ["recitation", "content_filter"],
  ["blocklist", "content_filter"],
  ["prohibited_content", "content_filter"],
  ["spii", "content_filter"],
  ["image_safety", "content_filter"],
  ["image_prohibited_content", "content_filter"],
  ["image_recitation", "content_filter"],
  ["model_armor", "content_filter"],
  ["jailbreak", "content_filter"],
  ["sensitive", "content_filter"],
  ["error_toxic", "content_filter"],
  ["refusal", "refusal"],
  ["error", "error"],
  ["failed", "error"],
  ["cancelled", "error"],
  // These mean that the answer is incomplete: the provider continues it in the background.
  ["queued", "error"],
  ["in_progress", "error"],
  ["error_limit", "error"],
  ["network_error", "error"],
  ["insufficient_system_resource", "error"],
  ["malformed_function_call", "error"],
  ["malformed_response", "error"],
  ["unexpected_tool_call", "error"],
  ["too_many_tool_calls", "error"],
  ["missing_thought_signature", "error"],
  ["other", "error"],
  ["image_other", "error"],
  ["no_image", "error"],
  ["language", "error"],
]);

/** Facts about a turn at its end. */
export interface TurnOutcome {
  /** The provider's own reason, or null. */
  readonly finish: string | null;
  /** The meaning of the reason, for a word that usually has another one. */
  readonly meaning?: TurnFinishReason;
  readonly hasErrors: boolean;
  readonly hasRefusal: boolean;
  readonly hasToolCalls: boolean;
}

/**
 * Returns the reason why a turn ended. An error in the body overrides any reason. A plain stop becomes `refusal` or
 * `tool_calls` if the model refused or called a tool, since half of the protocols lack reasons for these. `unknown`
 * means that the turn has no reason, or a reason that is not an end or a failure (`pause_turn`).
 */
export function toFinishReason(outcome: TurnOutcome): TurnFinishReason {
  if (outcome.hasErrors) return "error";
  const reason = outcome.meaning ?? reasons.get((outcome.finish ?? "").toLowerCase()) ?? "unknown";
  if (reason !== "stop") return reason;
  if (outcome.hasRefusal) return "refusal";
  return outcome.hasToolCalls ? "tool_calls" : "stop";
}
