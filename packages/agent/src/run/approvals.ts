/** Asks a person about the calls of a turn: logs the request, then asks, then logs the answer (X8). */
import type { ApprovalRequest, ApprovalResolved, RunEventBody } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { untilAborted } from "@sheaf/base/until-aborted";
import type { Approval, ApprovalDecision, ApprovalQuestion, Approver, CheckArguments } from "../tools/approval.ts";
import type { Hooks } from "../tools/hooks/hooks.ts";
import type { AskPerson, ToolBox, ToolInvocation } from "../tools/tool.ts";

export interface ApprovalPorts {
  readonly tools: ToolBox;
  readonly now: () => number;
  /** The person to ask; undefined: Sheaf refuses every call that needs one (S-11). */
  readonly approver?: Approver | undefined;
  /** Makes `appr_…`. */
  readonly newApprovalId: () => string;
  /** The subagent that asks; undefined: the run itself. */
  readonly agentName?: string | undefined;
}

/** Requests for the calls that need a person, in the order of the calls. */
export async function createApprovalRequests(
  calls: readonly ToolInvocation[],
  ports: ApprovalPorts,
): Promise<ApprovalRequest[]> {
  const { tools, approver } = ports;
  if (!approver) return [];
  const requests: ApprovalRequest[] = [];
  // One after another: a replay sees them in the same order.
  for (const call of calls) {
    const question = await tools.review(call);
    if (question) requests.push(toRequest(call.callId, question, approver, ports));
  }
  return requests;
}

function toRequest(
  callId: string,
  question: ApprovalQuestion,
  { expiresAfterMs, answeredIn }: Approver,
  { now, newApprovalId, agentName }: ApprovalPorts,
): ApprovalRequest {
  const expiresAt = new Date(now() + expiresAfterMs).toISOString();
  return {
    type: "approval_request",
    callId,
    approvalId: newApprovalId(),
    ...question,
    ...(agentName !== undefined && { agent: agentName }),
    expiresAt,
    ...(answeredIn && { answeredIn }),
  };
}

/** The questions of a running call (X59). */
export interface CallQuestions {
  /** Undefined if no person can be asked. */
  readonly ask: AskPerson | undefined;
  /** Withdraws open questions and refuses new ones, because the call has its result. */
  end(): Promise<void>;
}

/** `push` resolves once an event is stored. */
export function createCallQuestions(
  callId: string,
  ports: ApprovalPorts & { readonly hooks?: Hooks | undefined },
  push: (event: RunEventBody) => Promise<void>,
  signal: AbortSignal,
): CallQuestions {
  const { approver } = ports;
  const ended = new AbortController();
  const open = new Set<Promise<unknown>>();
  const askOnce = async (request: ApprovalRequest, check: CheckArguments, asking: AbortSignal): Promise<Approval> => {
    // It is in the log before anybody sees it.
    await push(request);
    const notification = { event: "Notification", kind: "elicitation_dialog", message: request.title } as const;
    for (const result of (await ports.hooks?.run(notification, asking)) ?? []) await push(result);
    const { event, approval } = await askApproval(request, approver!, asking, check);
    await push(event);
    return approval;
  };
  const ask: AskPerson = async (question, check, withdrawn) => {
    if (ended.signal.aborted || signal.aborted) throw new SheafError("CANCELLED", "the call has ended");
    const request = toRequest(callId, question, approver!, ports);
    const asking = askOnce(request, check, AbortSignal.any([signal, ended.signal, withdrawn]));
    open.add(asking);
    return asking.finally(() => open.delete(asking));
  };
  return {
    ask: approver && ask,
    async end() {
      ended.abort();
      await Promise.allSettled(open);
    },
  };
}

/** The outcome of a request: the event for the log, and the decision for its call. */
export interface ResolvedApproval {
  readonly event: ApprovalResolved;
  readonly approval: Approval;
}

/** Asks once the request is stored; an abort ends the wait at once. Never throws: every outcome is an answer. */
export async function askApproval(
  request: ApprovalRequest,
  approver: Approver,
  signal: AbortSignal,
  checkEdited: CheckArguments,
): Promise<ResolvedApproval> {
  const reject = { optionId: request.options.find(({ kind }) => kind === "reject_once")?.id ?? "" };
  let answer: ApprovalDecision;
  try {
    answer = await untilAborted(approver.ask(request, signal, checkEdited), signal);
  } catch {
    answer = { ...reject, by: signal.aborted ? "cancelled" : "error" };
  }
  const option = request.options.find(({ id }) => id === answer.optionId);
  const { approvalId, callId, argumentsHash, rules, toolHash } = request;
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
      ...(toolHash !== undefined && { toolHash }),
      kind,
      by,
      ...edited,
      ...(message !== undefined && { message }),
    },
  };
}
