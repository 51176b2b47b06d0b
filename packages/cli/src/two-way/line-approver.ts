/** Asks the program at the other end of stdin and stdout about calls (C66). */
import { isDeepStrictEqual } from "node:util";
import type { ApprovalLine, ApprovalRequest, ControlCancelLine, RunEvent } from "@sheaf/protocol";
import { readServerQuestion } from "@sheaf/agent/tools/mcp/server-question";
import type { ApprovalDecision, Approver } from "@sheaf/agent/tools/approval";
import type { InputLine } from "./input-lines.ts";

/** How long a question stays open. Milliseconds. */
const EXPIRES_MS = 10 * 60 * 1000;

type Response = Extract<InputLine, { kind: "response" }>["response"];

export interface LineApprover extends Approver {
  /** Remembers the calls that questions will be about. */
  observe(event: RunEvent): void;
  /** False: that was never asked. */
  answer(response: Response): boolean;
  /** Nobody will answer any more. */
  end(): void;
}

export interface LineApproverPorts {
  readonly sessionId: string;
  readonly write: (line: ApprovalLine | ControlCancelLine) => void;
  readonly interrupt: () => void;
}

interface Call {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export function createLineApprover({ sessionId, write, interrupt }: LineApproverPorts): LineApprover {
  const names = new Map<string, string>();
  const calls = new Map<string, Call>();
  const open = new Map<string, (response: Response | undefined) => void>();
  const asked = new Set<string>();
  let hasEnded = false;
  return {
    expiresAfterMs: EXPIRES_MS,
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
      if (hasEnded) throw new Error("stdin is closed");
      const { approvalId, callId, subject } = request;
      const running = calls.get(callId) ?? { toolName: "", input: {} };
      // The values of its form stand in for the arguments of the call, which runs already.
      const form = readServerQuestion(subject)?.arguments;
      const call = form ? { ...running, input: form } : running;
      const { promise, resolve } = Promise.withResolvers<Response | undefined>();
      const withdraw = (): void => resolve(undefined);
      signal.addEventListener("abort", withdraw, { once: true });
      open.set(approvalId, resolve);
      asked.add(approvalId);
      write(toApprovalLine(request, call, sessionId));
      try {
        const response = await promise;
        if (!response) {
          write({ type: "control_cancel_request", request_id: approvalId, session_id: sessionId });
          throw new Error(hasEnded ? "stdin is closed" : "it was not answered");
        }
        const decision = toDecision(response, request, call);
        const problem = decision.editedArguments && (await checkEdited(decision.editedArguments));
        if (response.response?.interrupt && !response.response.behavior?.startsWith("allow")) interrupt();
        if (problem === undefined) return decision;
        return toDenial(request, `the arguments that were given instead cannot be used: ${problem}`);
      } finally {
        open.delete(approvalId);
        signal.removeEventListener("abort", withdraw);
      }
    },
    answer(response) {
      open.get(response.request_id)?.(response);
      return asked.has(response.request_id);
    },
    end() {
      hasEnded = true;
      for (const resolve of open.values()) resolve(undefined);
    },
  };
}

function toApprovalLine(request: ApprovalRequest, { toolName, input }: Call, sessionId: string): ApprovalLine {
  const { approvalId, callId, title, description, subject, options, expiresAt } = request;
  return {
    type: "control_request",
    request_id: approvalId,
    request: {
      subtype: "can_use_tool",
      tool_name: toolName,
      input,
      tool_use_id: callId,
      title,
      description,
      subject,
      options,
      expires_at: expiresAt,
    },
    session_id: sessionId,
  };
}

/** What is not clearly a yes is a no. */
function toDecision(response: Response, request: ApprovalRequest, { input }: Call): ApprovalDecision {
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
  const isEdited = updatedInput !== undefined && !isDeepStrictEqual(updatedInput, input);
  return {
    optionId: option.id,
    by: "user",
    ...(message !== undefined && { message }),
    ...(isEdited && option.kind.startsWith("allow") && { editedArguments: updatedInput }),
  };
}

function toKind(behavior: string): string {
  return behavior === "deny" ? "reject" : behavior;
}

function toDenial({ options }: ApprovalRequest, message: string | undefined): ApprovalDecision {
  const optionId = options.find(({ kind }) => kind === "reject_once")?.id ?? "";
  return { optionId, by: "user", ...(message !== undefined && { message }) };
}
