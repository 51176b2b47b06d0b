/** Makes logs for the tests of the projections. */
import type { RunEvent, RunEventBody, RunStart } from "@sheaf/protocol";
import type { Projection } from "../../src/output/projection.ts";

/** A run_start with plain values. */
export const runStart: RunStart = {
  type: "run_start",
  responseId: "chat_10e11780-df2f-45dc-a1ff-4540af32e9c0",
  conversationId: "conv_c6b62c6f-7ead-4fd6-9922-e952131177ff",
  mode: "agent",
  model: "offline",
  modelName: "Sheaf Offline",
  apiKeySource: "none",
  workspace: "/w",
  permissionMode: "default",
  sandbox: "disabled",
  trusted: false,
  sheafVersion: "0.1.0",
  prompt: "do it",
};

export const turnEnd: RunEventBody = {
  type: "turn_end",
  finishReason: "stop",
  rawFinishReason: "stop",
  usage: { promptTokens: 10, completionTokens: 5, totalTokens: 15, cachedPromptTokens: 4 },
  modelMs: 7,
};

/** Numbers events and gives them times, 10 ms apart. */
export function toLog(...bodies: readonly RunEventBody[]): RunEvent[] {
  return bodies.map((body, index) => ({ ...body, seq: index + 1, time: 1_000_000 + index * 10 }));
}

/** Text deltas. */
export function toTexts(...texts: readonly string[]): RunEventBody[] {
  return texts.map((text) => ({ type: "text_delta", text }));
}

/** Output of `call_1` while it runs. */
export const toDelta = (delta: string): RunEventBody => ({
  type: "tool_output_delta",
  callId: "call_1",
  stream: "stdout",
  delta,
});

/** A whole call: start, arguments, result. */
export function toCall(
  callId: string,
  toolName: string,
  args: Record<string, unknown>,
  result: Partial<Extract<RunEventBody, { type: "tool_result" }>>,
): RunEventBody[] {
  return [
    { type: "tool_call_start", callId, toolName, documentType: "tool_call" },
    { type: "tool_call_arguments", callId, arguments: args },
    { type: "tool_result", callId, status: "success", output: "", durationMs: 3, ...result },
  ];
}

/** Everything a projection prints for a log. */
export function project(projection: Projection, events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => projection.push(event));
}
