/** Asks a person about the calls of a turn: request in the log first, then the question, then the answer in the log (X8). */
import type { ApprovalRequest, ApprovalResolved } from "@sheaf/protocol";
import type { Approval, ApprovalDecision, Approver, CheckArguments } from "../tools/approval.ts";
import type { ToolBox, ToolInvocation } from "../tools/tool.ts";

export interface ApprovalPorts {
  readonly tools: ToolBox;
  readonly now: () => number;
  /** Undefined: nobody can be asked, so what needs a person is refused (S-11). */
  readonly approver?: Approver | undefined;
  /** Makes `appr_…`. */
  readonly newApprovalId: () => string;
  /** The subagent that asks; undefined: the run itself. */
  readonly agentName?: string | undefined;
}

/** The requests for those of the calls that need a person, in their order. */
export async function createApprovalRequests(
  calls: readonly ToolInvocation[],
  { tools, now, approver, newApprovalId, agentName }: ApprovalPorts,
): Promise<ApprovalRequest[]> {
  if (!approver) return [];
  const requests: ApprovalRequest[] = [];
  // One after another: a replay sees them in the same order.
  for (const call of calls) {
    const question = await tools.review(call);
    if (!question) continue;
    const expiresAt = new Date(now() + approver.expiresAfterMs).toISOString();
    requests.push({
      type: "approval_request",
      callId: call.callId,
      approvalId: newApprovalId(),
      ...question,
      ...(agentName !== undefined && { agent: agentName }),
      expiresAt,
    });
  }
  return requests;
}

/** The outcome of a request: the event for the log, and the decision for its call. */
export interface ResolvedApproval {
  readonly event: ApprovalResolved;
  readonly approval: Approval;
}

/** Asks once the request is stored; an abort ends the wait at once. Every outcome is an answer; it never throws. */
export async function askApproval(
  request: ApprovalRequest,
  approver: Approver,
  signal: AbortSignal,
  checkEdited: CheckArguments,
): Promise<ResolvedApproval> {
  const reject = { optionId: request.options.find(({ kind }) => kind === "reject_once")?.id ?? "" };
  const answered = new AbortController();
  let answer: ApprovalDecision;
  try {
    answer = await Promise.race([approver.ask(request, signal, checkEdited), waitForAbort(signal, answered.signal)]);
  } catch {
    answer = { ...reject, by: signal.aborted ? "cancelled" : "error" };
  } finally {
    answered.abort();
  }
  const option = request.options.find(({ id }) => id === answer.optionId);
  const { approvalId, callId, argumentsHash, rules } = request;
  const { by, message } = answer;
  const kind = option?.kind ?? "reject_once";
  const edited = kind.startsWith("allow") && answer.editedArguments && { editedArguments: answer.editedArguments };
  return {
    event: { type: "approval_resolved", approvalId, optionId: option?.id ?? reject.optionId, by, ...edited },
    approval: {
      approvalId,
      callId,
      argumentsHash,
      rules,
      kind,
      by,
      ...edited,
      ...(message !== undefined && { message }),
    },
  };
}

/** Rejects at the abort; stops listening once the answer is there. */
async function waitForAbort(signal: AbortSignal, answered: AbortSignal): Promise<never> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true, signal: answered });
  });
  throw signal.reason;
}
