/** All tools of a run behind one door: offered by mode, checked, permitted, then run. */
import type { Mode } from "@sheaf/protocol";
import type { Permissions } from "../permissions/permissions.ts";
import type { CommandRunner } from "../sandbox/command.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ConversationState } from "./conversation-state.ts";
import { toRealArguments } from "./real-arguments.ts";
import { findTool, toDefinitions } from "./registry.ts";
import type { ToolBox, ToolOutcome } from "./tool.ts";

/** What tools work with. */
export interface ToolBoxPorts {
  readonly workspace: Workspace;
  readonly commands: CommandRunner;
  readonly permissions: Permissions;
  readonly state: ConversationState;
  readonly mode: Mode;
}

/** Makes the tools of a run. */
export function createToolBox(ports: ToolBoxPorts): ToolBox {
  const running = new Set<Promise<ToolOutcome>>();

  const execute: ToolBox["execute"] = async (call, options) => {
    const found = findTool(call.toolName);
    if (!found.ok) return found.outcome;
    const prepared = found.tool.prepare(call);
    if (!prepared.ok) return prepared.outcome;
    const { access } = found.tool;
    // Rules hold for what a path says and for where it leads.
    const spellings = [call.arguments, toRealArguments(call.arguments, ports.workspace)];
    const decisions = spellings.map((args) =>
      ports.permissions.decide({ toolName: call.toolName, access, arguments: args }),
    );
    const decision = decisions.find((candidate) => candidate.decision === "deny") ?? { decision: "allow" };
    if (decision.decision === "deny") {
      const error = { code: "PERMISSION_DENIED", message: decision.reason, details: decision.rule ?? "" };
      return { status: "rejected", output: "", error };
    }
    return prepared.run({ ...ports, ...options, callId: call.callId });
  };

  return {
    definitions: toDefinitions(ports.mode),
    accessOf(toolName) {
      const tool = findTool(toolName);
      return tool.ok ? tool.tool.access : "read";
    },
    async execute(call, options) {
      const outcome = execute(call, options);
      running.add(outcome);
      try {
        return await outcome;
      } finally {
        running.delete(outcome);
      }
    },
    async settle() {
      await Promise.allSettled(running);
    },
  };
}
