/** The checks that a call must pass before it runs: the policy and, if the policy asks, a person (S-10 to S-16). */
import { hash } from "node:crypto";
import { allow, ask, deny, toFullReason, type PermissionDecision } from "@sheaf/permissions/decision";
import type { Permissions } from "@sheaf/permissions/permissions";
import type { Workspace } from "@sheaf/base/files/workspace";
import { toApprovalQuestion, toArgumentsHash } from "./approval-question.ts";
import type { Approval, ApprovalQuestion } from "./approval.ts";
import { chooseWorkspace, listPaths, listSpellings } from "./real-arguments.ts";
import { type ToolState, rememberAnswer } from "./tool-state.ts";
import type { CallableTool } from "./registry.ts";
import type { ToolInvocation, ToolOutcome } from "./tool.ts";

export interface GatePorts {
  readonly workspace: Workspace;
  readonly addedWorkspaces?: readonly Workspace[] | undefined;
  readonly permissions: Permissions;
  readonly state: Pick<ToolState, "answers">;
  readonly flagUser?: string | undefined;
}

type GatedTool = Pick<CallableTool, "name" | "access" | "modes" | "paths" | "mcp" | "mcpOf" | "description" | "schema">;

interface GatedRun {
  /** The folder in which it works. */
  readonly workspace: Workspace;
  readonly approval?: Approval | undefined;
}

export interface Gate {
  /** Returns the question to a person, if the policy asks one. */
  toQuestion(call: ToolInvocation, tool: GatedTool): Promise<ApprovalQuestion | undefined>;
  /**
   * Returns the outcome of a call that may not run; undefined: it may, in this workspace, with
   * `approval.editedArguments` if there are any. Each approval is valid for one call, once.
   */
  findRefusal(call: ToolInvocation, tool: GatedTool, run: GatedRun): Promise<ToolOutcome | undefined>;
}

export function createGate(ports: GatePorts): Gate {
  const usedApprovals = new Set<string>();

  const isGoodFor = (approval: Approval, { callId }: ToolInvocation, callHash: string): boolean =>
    !usedApprovals.has(approval.approvalId) && approval.callId === callId && approval.argumentsHash === callHash;

  return {
    async toQuestion(call, tool) {
      const workspace = chooseWorkspace(listPaths(tool, call.arguments), ports.workspace, ports.addedWorkspaces);
      const decision = await decide(call, tool, workspace, ports);
      return decision.decision === "ask"
        ? toApprovalQuestion(call, tool.access, decision, toToolHash(tool))
        : undefined;
    },
    async findRefusal(call, tool, { workspace, approval }) {
      const decision = await decide(toEditedCall(call, approval), tool, workspace, ports);
      if (decision.decision === "deny") {
        const { reason, rule, lacks } = decision;
        return { ...toRejected(reason, rule), ...(lacks && { lacks }) };
      }
      if (!approval)
        return decision.decision === "ask"
          ? { ...toRejected(toFullReason(decision, ports.flagUser)), lacks: "permission" }
          : undefined;
      if (!isGoodFor(approval, call, toArgumentsHash(call))) return toRejected("the approval was for another call");
      usedApprovals.add(approval.approvalId);
      if (!approval.editedArguments) rememberAnswer(ports.state.answers, approval.kind, approval);
      // A person's refusal applies even if a rule would now let the call pass.
      if (approval.kind.startsWith("allow")) return undefined;
      return { ...toRejected(toWords(approval)), ...(isUnanswered(approval) && { lacks: "permission" }) };
    },
  };
}

/** Returns the call as it runs, with the arguments that the person edited. */
export function toEditedCall(call: ToolInvocation, approval: Approval | undefined): ToolInvocation {
  const { callId, toolName, askReason } = call;
  const { editedArguments } = approval ?? {};
  return editedArguments
    ? { callId, toolName, arguments: editedArguments, ...(askReason !== undefined && { askReason }) }
    : call;
}

/** Applies the rules to a path as written, to its entry, and to the place behind a link; the strictest one wins. */
async function decide(
  call: ToolInvocation,
  tool: GatedTool,
  workspace: Workspace,
  { permissions, state: { answers } }: GatePorts,
): Promise<PermissionDecision> {
  // A server may describe another tool under a name that a person allowed.
  const toolHash = toToolHash(tool);
  const isSame = (rule: string): boolean => toolHash === (answers.toolHashes.get(rule) ?? toolHash);
  const answered = { allow: [...answers.allow].filter(isSame), deny: [...answers.deny] };
  const { mcpOf, mcp = mcpOf?.(call.arguments) } = tool;
  const request = { tool, arguments: call.arguments, answered, ...(mcp && { mcp }) };
  // A command has no path other than its folder, which it checks itself.
  const said = tool.access === "command" ? undefined : listPaths(tool, call.arguments);
  const spellings = said ? listSpellings(said, workspace) : [undefined];
  const decisions = await Promise.all(spellings.map((paths) => permissions.decide({ ...request, paths })));
  const denied = decisions.find(({ decision }) => decision === "deny");
  const asking = decisions.find(({ decision }) => decision === "ask") ?? toAsking(call);
  if (denied || !asking) return denied ?? decisions[0]!;
  const callHash = toArgumentsHash(call);
  if (answers.deniedCalls.has(callHash)) return deny("the user refused this call for good");
  if (answers.allowedCalls.has(callHash)) return allow("the user allowed exactly this");
  const isChanged = asking.decision === "ask" && asking.always.some((rule) => answers.allow.has(rule));
  return isChanged
    ? { ...asking, reason: `${asking.reason}, and the server changed its tool since you allowed it` }
    : asking;
}

/** Returns the digest of a server's definition of its tool; undefined for every other tool. */
function toToolHash({ access, description, schema }: GatedTool): string | undefined {
  return access === "mcp" ? hash("sha256", JSON.stringify([description, schema]), "hex") : undefined;
}

/** Asks if a hook wants it. A hook of the user may ask for more than the rules do, never for less (S-137). */
function toAsking({ askReason }: ToolInvocation): PermissionDecision | undefined {
  return askReason === undefined
    ? undefined
    : ask({ reason: askReason, cause: { code: "ask_rule", value: "PreToolUse" } });
}

const isUnanswered = ({ by }: Approval): boolean => by === "timeout" || by === "error";

function toWords(approval: Approval): string {
  const { message } = approval;
  const who = isUnanswered(approval) ? "this call was not approved" : "the user refused this call";
  return message === undefined || message.trim() === "" ? who : `${who}: ${message.trim()}`;
}

function toRejected(message: string, rule = ""): ToolOutcome {
  return { status: "rejected", output: "", error: { code: "PERMISSION_DENIED", message, details: rule } };
}
