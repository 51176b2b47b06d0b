/** Continues a response after its process died, as far as that is safe. */
import type { RunEvent, RunEventBody, RunStart, ToolResult } from "@sheaf/protocol";
import { toFailure } from "../../tools/failure.ts";
import type { ToolInvocation } from "../../tools/tool.ts";
import { zeroUsage } from "../budget.ts";
import { closeAgents, listAgentEvents, listOpen, toRejected } from "./end-cut-response.ts";

/** The log of a response that continues. */
export interface CutLog {
  readonly start: RunStart;
  /** The stored events, `run_start` first. */
  readonly events: readonly RunEvent[];
  /** Events that end everything the dead process left open; not stored yet. */
  readonly closing: readonly RunEventBody[];
  /** The last turn, if it was complete with the results of all its calls: its process died before the next one. */
  readonly lastTurn: CompleteTurn | undefined;
  /** A note for the model, before the next turn. */
  readonly note: string;
}

interface CompleteTurn {
  readonly text: string;
  readonly calls: readonly ToolInvocation[];
  readonly results: readonly ToolResult[];
}

/**
 * `inTree`: its files were in a working tree of its server, which recorded their state from turn to turn.
 * Returns undefined if it cannot continue, because it only had to end or its first event is not stored.
 */
export function toCutLog(events: readonly RunEvent[], inTree = false): CutLog | undefined {
  const [start] = events;
  if (start?.type !== "run_start" || start.shortens) return undefined;
  // It had ended, except for Sheaf's own calls at the end.
  if (events.some((event) => event.type === "tool_call_start" && event.origin === "agent")) return undefined;
  const turn = events.slice(
    Math.max(
      0,
      events.findLastIndex(({ type }) => type === "turn_start"),
    ),
  );
  const isMidTurn = turn[0]?.type === "turn_start" && !turn.some(({ type }) => type === "turn_end");
  const closing = toClosing(events, { isMidTurn, inTree });
  return {
    start,
    events,
    closing,
    lastTurn: closing.length === 0 ? toCompleteTurn(turn) : undefined,
    note: [
      "The process that ran this answer ended, and another one continues it.",
      ...(isMidTurn ? ["Your last message broke off there: continue at its end, without repeating it."] : []),
      "Commands in the background ended with it.",
    ].join(" "),
  };
}

interface CutPlace {
  readonly isMidTurn: boolean;
  readonly inTree: boolean;
}

function toClosing(events: readonly RunEvent[], { isMidTurn, inTree }: CutPlace): RunEventBody[] {
  const { calls, approvals, unapproved } = listOpen(events);
  const toResult = (callId: string): RunEventBody => ({
    type: "tool_result",
    callId,
    // A call runs only after the end of its turn, and after its approval.
    ...toInterrupted({ isUnrun: isMidTurn || unapproved.has(callId), inTree }, listAgentEvents(events, callId)[0]),
    durationMs: 0,
  });
  return [
    ...(isMidTurn ? [cutTurn] : []),
    ...closeAgents(events),
    ...[...approvals.keys()].map((approvalId) => toRejected(events, approvalId)),
    ...[...calls].map(toResult),
  ];
}

/** The usage of the turn is unknown. */
const cutTurn: RunEventBody = {
  type: "turn_end",
  finishReason: "error",
  rawFinishReason: "",
  usage: zeroUsage,
  notice: {
    code: "ANSWER_CUT",
    message: "the server that wrote this answer ended in the middle of a message: another one continued",
  },
  cut: true,
  modelMs: 0,
};

/** `agent`: the first event of the subagent that the call ran. */
function toInterrupted(
  { isUnrun, inTree }: { readonly isUnrun: boolean; readonly inTree: boolean },
  agent?: RunEvent,
): ReturnType<typeof toFailure> {
  if (agent?.type === "run_start" && agent.mode === "ask") {
    const message =
      "the process ended while this subagent worked, so it made no report; it only read: make the call again";
    return toFailure("INTERRUPTED", `${message} if the report is still needed`);
  }
  return toFailure(
    "INTERRUPTED",
    isUnrun
      ? "the process ended before this call started, so it did not run: make it again if you still need it"
      : `the process ended while this call ran, so its result is lost and its effects are not known${
          inTree ? ", and its changes of files may be lost" : ""
        }: look before you repeat it`,
  );
}

const reading: ReadonlySet<string> = new Set(["read", "search", "glob", "list", "todo", "plan", "question", "web"]);

/** True if files may differ after this event. */
export function mayChangeFiles(event: RunEventBody): boolean {
  return event.type === "tool_result" && !reading.has(event.effect?.kind ?? "");
}

/** The same log, for a tree that was made again in `folder` from the last recorded state. */
export function noteNewTree(cut: CutLog, folder: string): CutLog {
  const turn = cut.events.slice(cut.events.findLastIndex(({ type }) => type === "turn_start") + 1);
  const isLost = [...turn, ...cut.closing].some(mayChangeFiles);
  const note = [
    cut.note,
    `The files have their last recorded state, in the folder ${JSON.stringify(folder)}, without files that git ignores.`,
    ...(isLost ? ["Changes by the calls of your last message may be lost: look before you rely on them."] : []),
  ].join(" ");
  return { ...cut, note };
}

/** Undefined if the turn did not end by itself. */
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
  const isLast = end.rawFinishReason !== "pause_turn" && turn.every(({ type }) => type !== "user_message");
  if (calls.length === 0 && (end.finishReason !== "stop" || !isLast)) return undefined;
  const text = turn.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
  return { text, calls, results };
}
