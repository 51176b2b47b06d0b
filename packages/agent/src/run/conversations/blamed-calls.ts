/** The calls of responses that may have changed files, with the origin that a line of a file gets from them (C195). */
import type { FileChange } from "@sheaf/protocol";
import { digestLog } from "@sheaf/store/log-digest";
import type { LoggedResponse } from "./end-cut-response.ts";

export interface BlamedResponse {
  readonly conversationId: string;
  readonly id: string;
  readonly prompt: string;
  /** US dollars; undefined if Sheaf doesn't know the prices. */
  readonly costUsd: number | undefined;
}

export interface BlamedCall {
  readonly response: BlamedResponse;
  readonly callId: string;
  readonly tool: string;
  /** The id of the model that asked for it. */
  readonly model: string;
  /** True for a call of a subagent. */
  readonly isOfAgent: boolean;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** JSON. */
  readonly arguments: string;
  /** The changes of a file tool; undefined for a command, or another call that may change any file. */
  readonly changes: readonly FileChange[] | undefined;
  /** The recorded state that has its changes; undefined if Sheaf recorded none. */
  readonly state: number | undefined;
}

/** Lists calls in the order of their ends. Leaves out an imported log, because it only claims its folders (S-91). */
export function listBlamedCalls(conversationId: string, { id, events }: LoggedResponse): readonly BlamedCall[] {
  const [start] = events;
  if (start?.type !== "run_start" || start.imported) return [];
  const response = { conversationId, id, prompt: start.prompt, costUsd: digestLog(events).costUsd };
  const models = new Map<string, { readonly ofRun: string; readonly ofTurn: string }>();
  const open = new Map<string, Pick<BlamedCall, "tool" | "startedAt" | "arguments">>();
  const calls: BlamedCall[] = [];
  for (const logged of events) {
    const isOfAgent = logged.type === "agent_event";
    const event = isOfAgent ? logged.event : logged;
    const run = isOfAgent ? logged.callId : "";
    const { ofRun = "", ofTurn = "" } = models.get(run) ?? {};
    if (event.type === "run_start") models.set(run, { ofRun: event.model, ofTurn: event.model });
    else if (event.type === "turn_end") models.set(run, { ofRun, ofTurn: event.model?.id ?? ofRun });
    else if (event.type === "tool_call_start") {
      open.set(event.callId, { tool: event.toolName, startedAt: logged.time, arguments: "" });
    } else if (event.type === "tool_call_arguments") {
      const call = open.get(event.callId);
      if (call) open.set(event.callId, { ...call, arguments: JSON.stringify(event.arguments) });
    } else if (event.type === "tool_result" && open.has(event.callId)) {
      const { callId, effect, state } = event;
      const changes = effect?.kind === "file_edit" ? effect.changes : undefined;
      if (!changes && state === undefined && effect?.kind !== "command") continue;
      const call = open.get(callId)!;
      calls.push({ ...call, response, callId, model: ofTurn, isOfAgent, endedAt: logged.time, changes, state });
    }
  }
  return calls;
}

/** Chooses the last call whose arguments name the file, or else the last one. */
export function chooseCall(calls: readonly BlamedCall[], names: readonly string[]): BlamedCall | undefined {
  return calls.findLast((call) => names.some((name) => call.arguments.includes(name))) ?? calls.at(-1);
}
