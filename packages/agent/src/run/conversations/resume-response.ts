/** A response whose process died goes on in this one, as far as that is safe. */
import type { RunEvent, RunEventBody, RunStart, ToolResult, Usage } from "@sheaf/protocol";
import { toFailure } from "../../tools/failure.ts";
import type { ToolInvocation } from "../../tools/tool.ts";
import { closeAgents, listAgentEvents, listOpen, toRejected } from "./end-cut-response.ts";

/** The log of a response that goes on. */
export interface CutLog {
  readonly start: RunStart;
  /** As stored: `run_start` first. */
  readonly events: readonly RunEvent[];
  /** What ends whatever the dead process left open; not stored yet. */
  readonly closing: readonly RunEventBody[];
  /** Of the last turn, if it was complete with the results of all its calls: its process died before it went on. */
  readonly lastTurn: CompleteTurn | undefined;
  /** For the model, before the next turn. */
  readonly note: string;
}

interface CompleteTurn {
  readonly text: string;
  readonly calls: readonly ToolInvocation[];
  readonly results: readonly ToolResult[];
}

/** Undefined: it cannot go on, since it only had to end, or its beginning is not stored. */
export function toCutLog(events: readonly RunEvent[]): CutLog | undefined {
  const [start] = events;
  if (start?.type !== "run_start" || start.shortens) return undefined;
  // It had ended but for what Sheaf itself does at the end.
  if (events.some((event) => event.type === "tool_call_start" && event.origin === "agent")) return undefined;
  const turn = events.slice(
    Math.max(
      0,
      events.findLastIndex(({ type }) => type === "turn_start"),
    ),
  );
  const isMidTurn = turn[0]?.type === "turn_start" && !turn.some(({ type }) => type === "turn_end");
  const closing = toClosing(events, isMidTurn);
  return {
    start,
    events,
    closing,
    lastTurn: closing.length === 0 ? toCompleteTurn(turn) : undefined,
    note: [
      "The process that ran this answer ended, and another one goes on with it.",
      ...(isMidTurn ? ["Your last message was cut off there: go on where it ends, and repeat nothing of it."] : []),
      "Commands in the background ended with it.",
    ].join(" "),
  };
}

function toClosing(events: readonly RunEvent[], isMidTurn: boolean): RunEventBody[] {
  const { calls, approvals } = listOpen(events);
  const unapproved = new Set(approvals.values());
  const toResult = (callId: string): RunEventBody => ({
    type: "tool_result",
    callId,
    // A call runs only after the end of its turn, and after its approval.
    ...toInterrupted(isMidTurn || unapproved.has(callId), listAgentEvents(events, callId)[0]),
    durationMs: 0,
  });
  return [
    ...(isMidTurn ? [cutTurn] : []),
    ...closeAgents(events),
    ...[...approvals.keys()].map((approvalId) => toRejected(events, approvalId)),
    ...[...calls].map(toResult),
  ];
}

const usage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true };

/** What the turn used nobody knows. */
const cutTurn: RunEventBody = {
  type: "turn_end",
  finishReason: "error",
  rawFinishReason: "",
  usage,
  notice: "the server that wrote this answer ended in the middle of a message: another one went on",
  cut: true,
  modelMs: 0,
};

/** `agent`: the first event of the subagent that the call ran. */
function toInterrupted(isUnrun: boolean, agent?: RunEvent): ReturnType<typeof toFailure> {
  if (agent?.type === "run_start" && agent.mode === "ask") {
    const message =
      "the process ended while this subagent worked, so it made no report; it only read: make the call again";
    return toFailure("INTERRUPTED", `${message} if the report is still needed`);
  }
  return toFailure(
    "INTERRUPTED",
    isUnrun
      ? "the process ended before this call began; it did not run: make it again if it is still needed"
      : "the process ended while this call ran, so its result is lost and its effects are not known: look before you repeat it",
  );
}

/** Undefined: it did not end by itself. */
function toCompleteTurn(turn: readonly RunEvent[]): CompleteTurn | undefined {
  const end = turn.find((event) => event.type === "turn_end");
  if (!end) return undefined;
  const names = new Map<string, string>();
  const calls: ToolInvocation[] = [];
  for (const event of turn) {
    if (event.type === "tool_call_start" && event.origin !== "provider") names.set(event.callId, event.toolName);
    const toolName = event.type === "tool_call_arguments" ? names.get(event.callId) : undefined;
    if (event.type === "tool_call_arguments" && toolName !== undefined) {
      calls.push({ callId: event.callId, toolName, arguments: event.arguments });
    }
  }
  const results = turn.filter((event) => event.type === "tool_result").filter(({ callId }) => names.has(callId));
  if (calls.length === 0 && (end.finishReason !== "stop" || end.rawFinishReason === "pause_turn")) return undefined;
  const text = turn.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
  return { text, calls, results };
}
