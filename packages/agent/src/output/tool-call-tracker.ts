/** The tool calls of a run in the shapes of C8 and C9: once with all arguments, and once at their end. */
import type { FunctionPayload, RunEvent, ToolCallArguments, ToolCallLine, CliToolOutcome } from "@sheaf/protocol";
import { parseMcpToolName } from "../tools/mcp/tool-name.ts";
import { describeTool } from "../tools/registry.ts";
import { toCliOutcome } from "./cli-outcome.ts";

/** The facts of a call in both profiles, which add ids and times. */
type TrackedToolCall = Pick<ToolCallLine, "subtype" | "call_id" | "tool_call">;

export interface ToolCallTracker {
  /** Returns the call as of this event, if it is new. */
  push(event: RunEvent): TrackedToolCall | undefined;
}

/** A call after its `started` and before its `completed`. */
interface StartedCall {
  readonly toolName: string;
  readonly arguments: ToolCallArguments;
}

/** Creates the tracker, which remembers only the open calls. */
export function createToolCallTracker(): ToolCallTracker {
  const toolNames = new Map<string, string>();
  const started = new Map<string, StartedCall>();
  return {
    push(event) {
      switch (event.type) {
        case "tool_call_start":
          toolNames.set(event.callId, event.toolName);
          return undefined;
        case "tool_call_arguments": {
          const call = { toolName: toolNames.get(event.callId) ?? "", arguments: event };
          toolNames.delete(event.callId);
          started.set(event.callId, call);
          return { subtype: "started", call_id: event.callId, tool_call: toToolCall(call) };
        }
        case "tool_result": {
          const call = started.get(event.callId);
          if (!call) return undefined;
          started.delete(event.callId);
          const outcome = toCliOutcome(call.toolName, event);
          return { subtype: "completed", call_id: event.callId, tool_call: toToolCall(call, outcome) };
        }
        default:
          return undefined;
      }
    },
  };
}

function toToolCall({ toolName, arguments: given }: StartedCall, result?: CliToolOutcome): ToolCallLine["tool_call"] {
  const { callId, arguments: args, rawArguments } = given;
  const outcome = result && { result };
  const ofServer = parseMcpToolName(toolName);
  if (ofServer) {
    const { server, tool } = ofServer;
    const shown = { name: `${server}-${tool}`, args, toolCallId: callId, providerIdentifier: server, toolName: tool };
    return { mcpToolCall: { args: shown, ...outcome } };
  }
  const [known] = Object.entries(describeTool(toolName)?.toCursor?.(args, callId) ?? {});
  if (known) return { [known[0]]: { args: known[1], ...outcome } };
  const payload: FunctionPayload = { name: toolName, arguments: rawArguments ?? JSON.stringify(args), ...outcome };
  return { function: payload };
}
