/** Finds the subagent of an event, for the formats (C97). */
import type { AgentEvent, RunEvent } from "@sheaf/protocol";
import { agentTraits } from "../tools/other-tools.ts";

/** A subagent: the call that runs it, and its name. */
interface AgentOrigin {
  readonly callId: string;
  readonly name: string;
}

export interface AgentNames {
  push(event: RunEvent): void;
  find(event: Pick<AgentEvent, "callId">): AgentOrigin;
}

export function createAgentNames(): AgentNames {
  const names = new Map<string, string>();
  const open = new Set<string>();
  return {
    push(event) {
      if (event.type === "tool_call_start" && event.toolName === agentTraits.name) open.add(event.callId);
      if (event.type === "tool_result") names.delete(event.callId);
      if (event.type !== "tool_call_arguments" || !open.delete(event.callId)) return;
      const { kind } = event.arguments;
      names.set(event.callId, typeof kind === "string" ? kind : "");
    },
    find: ({ callId }) => ({ callId, name: names.get(callId) ?? "" }),
  };
}

/** Converts the event of a subagent to an event of the log. */
export function toOwnEvent({ event, seq, time }: AgentEvent & Pick<RunEvent, "seq" | "time">): RunEvent {
  return { ...event, seq, time };
}
