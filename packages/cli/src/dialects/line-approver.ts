/** Asks the program at the other end of stdin and stdout about calls (C66). */
import type { ApprovalRequest, RunEvent } from "@sheaf/protocol";
import { readServerQuestion } from "@sheaf/agent/tools/mcp/server-question";
import type { ApprovalDecision, Approver } from "@sheaf/agent/tools/approval";
import type { Speech } from "./dialect.ts";
import type { ProgramRequests, ProgramResponse } from "./program-requests.ts";

/** Milliseconds until a question expires. */
const EXPIRES_MS = 10 * 60 * 1000;

export interface LineApprover extends Approver {
  /** Remembers the calls for later questions. */
  observe(event: RunEvent): void;
}

export interface LineApproverPorts extends Pick<Speech, "toQuestion" | "toArguments"> {
  readonly requests: ProgramRequests;
  readonly interrupt: () => void;
}

export interface AskedCall {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export function createLineApprover({ requests, interrupt, ...words }: LineApproverPorts): LineApprover {
  const names = new Map<string, string>();
  const calls = new Map<string, AskedCall>();
  return {
    expiresAfterMs: EXPIRES_MS,
    answeredIn: "program",
    observe(logged) {
      const event = logged.type === "agent_event" ? logged.event : logged;
      if (event.type === "tool_call_start") names.set(event.callId, event.toolName);
      if (event.type === "tool_result") {
        names.delete(event.callId);
        calls.delete(event.callId);
      }
      if (event.type !== "tool_call_arguments") return;
      calls.set(event.callId, { toolName: names.get(event.callId) ?? "", input: event.arguments });
    },
    async ask(request, signal, checkEdited) {
      const running = calls.get(request.callId) ?? { toolName: "", input: {} };
      // The question's form replaces the call's arguments, because the call runs already.
      const form = readServerQuestion(request.subject)?.arguments;
      const call = form ? { ...running, input: form } : running;
      const question = words.toQuestion(request, call);
      const response = await requests.ask(request.approvalId, question, signal);
      if (!response) throw new Error(requests.hasEnded ? "stdin is closed" : "it was not answered");
      const decision = toDecision(response, request, question.input, (input) => words.toArguments(call, input));
      const problem = decision.editedArguments && (await checkEdited(decision.editedArguments));
      if (response.response?.interrupt && !response.response.behavior?.startsWith("allow")) interrupt();
      if (problem === undefined) return decision;
      return toDenial(request, `the arguments that were given instead cannot be used: ${problem}`);
    },
  };
}

/** Turns an answer into a decision. An unclear answer is a refusal. */
function toDecision(
  response: ProgramResponse,
  request: ApprovalRequest,
  input: unknown,
  toArguments: (input: AskedCall["input"]) => AskedCall["input"],
): ApprovalDecision {
  const { behavior, option_id: optionId, updatedInput, message } = response.response ?? {};
  if (response.subtype === "error") return toDenial(request, response.error);
  const option = request.options.find(({ id, kind }) =>
    optionId === undefined ? behavior === "allow" && kind === "allow_once" : id === optionId,
  );
  const contradicts = behavior !== undefined && option !== undefined && !option.kind.startsWith(toKind(behavior));
  if (!option || contradicts) {
    const isDenial = behavior === "deny" && optionId === undefined;
    return toDenial(request, isDenial ? message : "the answer cannot be used");
  }
  const isEdited =
    updatedInput !== undefined && !process.getBuiltinModule("node:util").isDeepStrictEqual(updatedInput, input);
  return {
    optionId: option.id,
    by: "user",
    ...(message !== undefined && { message }),
    ...(isEdited && option.kind.startsWith("allow") && { editedArguments: toArguments(updatedInput) }),
  };
}

function toKind(behavior: string): string {
  return behavior === "deny" ? "reject" : behavior;
}

function toDenial({ options }: ApprovalRequest, message: string | undefined): ApprovalDecision {
  const optionId = options.find(({ kind }) => kind === "reject_once")?.id ?? "";
  return { optionId, by: "user", ...(message !== undefined && { message }) };
}
