/** Run logs for tests, written down briefly. */
import type { Document, RunEvent, RunEventBody, RunStart, ToolCallStart, ToolResult, TurnEnd } from "@sheaf/protocol";
import { toResponse } from "../src/assembler.ts";
import { toDocumentType } from "../src/tool-names.ts";

/** 2026-02-23T10:30:00Z */
export const startTime = 1_771_842_600_000;

/** Numbers the events; `run_start` comes first, and 10 ms lie between two events unless an event has its own `time`. */
export function toRunLog(
  bodies: readonly (RunEventBody & { readonly time?: number })[],
  start: Partial<RunStart> = {},
): RunEvent[] {
  const first: RunStart = {
    type: "run_start",
    responseId: "chat_7f3a2b1c",
    conversationId: "conv_9e8d7c6b",
    mode: "agent",
    model: "claude-4.6-opus",
    modelName: "Claude",
    apiKeySource: "env",
    workspace: "/w",
    permissionMode: "default",
    sandbox: "enabled",
    trusted: true,
    sheafVersion: "0.1.0",
    prompt: "hello",
    ...start,
  };
  return [first, ...bodies].map((body, index) => ({ seq: index + 1, time: startTime + index * 10, ...body }));
}

/** A model request: its events between `turn_start` and `turn_end`. */
export function toTurn(
  turn: number,
  bodies: readonly RunEventBody[],
  usage: Partial<TurnEnd["usage"]> = {},
): RunEventBody[] {
  const end: TurnEnd = {
    type: "turn_end",
    finishReason: "stop",
    rawFinishReason: "",
    usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0, ...usage },
    modelMs: 1,
  };
  return [{ type: "turn_start", turn }, ...bodies, end];
}

/** Text in pieces of `size` UTF-16 units. */
export function toTextDeltas(text: string, size = text.length): RunEventBody[] {
  return toPieces(text, size).map((piece) => ({ type: "text_delta", text: piece }));
}

/** A call as the model writes it: start, the JSON text in pieces of `size`, the complete arguments. */
export function toCall(
  callId: string,
  toolName: string,
  values: Readonly<Record<string, unknown>>,
  options: { readonly size?: number } & Partial<ToolCallStart> = {},
): RunEventBody[] {
  const { size = 0, ...start } = options;
  const json = JSON.stringify(values);
  return [
    { type: "tool_call_start", callId, toolName, documentType: toDocumentType(toolName), ...start },
    ...(size > 0 ? toPieces(json, size) : []).map((delta): RunEventBody => ({
      type: "tool_call_arguments_delta",
      callId,
      delta,
    })),
    { type: "tool_call_arguments", callId, arguments: values },
  ];
}

export function toResult(callId: string, result: Partial<ToolResult> = {}): RunEventBody {
  return { type: "tool_result", callId, status: "success", output: "", durationMs: 5, ...result };
}

export const endTurn: RunEventBody = { type: "run_end", reason: "end_turn" };

/** The documents of one turn with these events. */
export function toDocuments(bodies: readonly RunEventBody[], start: Partial<RunStart> = {}): readonly Document[] {
  return toResponse(toRunLog([...toTurn(1, bodies), endTurn], start)).documents;
}

export function toPieces(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += Math.max(1, size)) pieces.push(text.slice(at, at + Math.max(1, size)));
  return pieces;
}
