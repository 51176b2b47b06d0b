/** The port to the person who may let a call run (X8, S-16). */
import { setTimeout as wait } from "node:timers/promises";
import type { ApprovalOption, ApprovalPlace, ApprovalRequest } from "@sheaf/protocol";

/** The question to a person before a call runs; the run adds the ids and the expiry time. */
export type ApprovalQuestion = Omit<ApprovalRequest, "type" | "callId" | "approvalId" | "expiresAt" | "answeredIn">;

/** The person's choice. */
export interface ApprovalDecision {
  /** One of the offered options; any other id rejects. */
  readonly optionId: string;
  /** Name of the person or client that answered, or `timeout` without an answer in time. */
  readonly by: string;
  /** The person's message to the model. */
  readonly message?: string;
  /** Arguments with which an allowed call runs instead of the model's. */
  readonly editedArguments?: Readonly<Record<string, unknown>>;
}

/** Returns the problem with arguments for a call, in one line; undefined if they are valid. */
export type CheckArguments = (args: Readonly<Record<string, unknown>>) => Promise<string | undefined>;

/** Asks the person who waits for one response. Several questions may be open at once. */
export interface Approver {
  /** Time that a question stays open. Milliseconds. */
  readonly expiresAfterMs: number;
  /** The place where the person answers. Undefined: over the Chat API. */
  readonly answeredIn?: ApprovalPlace | undefined;
  /**
   * Asks once, when the request is in the log. `signal` aborts when the question has expired or the run ends; from then
   * on the promise is ignored. A rejected promise rejects the call. `checkEdited` checks the arguments of an answer
   * while the person can still correct them.
   */
  ask(request: ApprovalRequest, signal: AbortSignal, checkEdited: CheckArguments): Promise<ApprovalDecision>;
}

/** An answer for one call: valid for that call, with those arguments, once (S-16). */
export interface Approval extends Omit<ApprovalDecision, "optionId"> {
  readonly approvalId: string;
  readonly callId: string;
  readonly argumentsHash: string;
  /** The rules that "always" applies to, as in the question. */
  readonly rules: readonly string[];
  readonly toolHash?: string;
  readonly kind: ApprovalOption["kind"];
}

/** Adds a time limit to an approver: a late answer, or a question that fails, rejects the call. */
export function createExpiringApprover(approver: Approver): Approver {
  const { expiresAfterMs } = approver;
  return {
    ...approver,
    async ask(request, signal, checkEdited) {
      const reject = { optionId: request.options.find(({ kind }) => kind === "reject_once")?.id ?? "" };
      const ended = new AbortController();
      const asking = AbortSignal.any([signal, ended.signal]);
      const expire = async (): Promise<ApprovalDecision> => {
        await wait(expiresAfterMs, undefined, { signal: asking });
        return { ...reject, by: "timeout", message: `no answer arrived within ${expiresAfterMs / 1000} s` };
      };
      try {
        return await Promise.race([approver.ask(request, asking, checkEdited), expire()]);
      } catch (error) {
        if (signal.aborted) throw error;
        const message = error instanceof Error ? error.message : String(error);
        return { ...reject, by: "error", message: `Sheaf could not ask for approval: ${message}` };
      } finally {
        ended.abort();
      }
    },
  };
}
