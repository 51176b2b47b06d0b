/** The port to the person who may let a call run, and what goes over it (X8, S-16). */
import { setTimeout as wait } from "node:timers/promises";
import type { ApprovalOption, ApprovalRequest } from "@sheaf/protocol";

/** What a person must be asked before a call runs; the run adds the ids and the time at which it expires. */
export type ApprovalQuestion = Omit<ApprovalRequest, "type" | "callId" | "approvalId" | "expiresAt">;

/** What the person chose. */
export interface ApprovalDecision {
  /** One of the options that were offered; any other one rejects. */
  readonly optionId: string;
  /** Who answered: a person's or a client's name, or `timeout` when nobody did in time. */
  readonly by: string;
  /** What the person wants to tell the model. */
  readonly message?: string;
  /** With an option that allows: the arguments with which the call runs instead of its own. */
  readonly editedArguments?: Readonly<Record<string, unknown>>;
}

/** What is wrong with the arguments for a call, in one line; undefined: nothing. */
export type CheckArguments = (args: Readonly<Record<string, unknown>>) => string | undefined;

/** Asks the person behind one response. Several questions may be open at once. */
export interface Approver {
  /** How long a question stays open. Milliseconds. */
  readonly expiresAfterMs: number;
  /**
   * Asks once; called when the request is in the log. `signal` is aborted when nobody waits any more: the question has
   * expired, or the run ends. What the promise does afterwards counts no more. A rejection rejects the call.
   * `checkEdited` tells whether the call can run with the arguments of an answer, while the person can still mend them.
   */
  ask(request: ApprovalRequest, signal: AbortSignal, checkEdited: CheckArguments): Promise<ApprovalDecision>;
}

/** An answer on its way to the call that it is for: good for that call, with those arguments, once (S-16). */
export interface Approval {
  readonly approvalId: string;
  readonly callId: string;
  readonly argumentsHash: string;
  /** What "always" is about, as in the question. */
  readonly rules: readonly string[];
  readonly kind: ApprovalOption["kind"];
  readonly by: string;
  readonly message?: string;
  readonly editedArguments?: Readonly<Record<string, unknown>>;
}

/** The same approver; a question that nobody answered in time, or that could not be asked, is rejected. */
export function createExpiringApprover(approver: Approver): Approver {
  const { expiresAfterMs } = approver;
  return {
    expiresAfterMs,
    async ask(request, signal, checkEdited) {
      const reject = { optionId: request.options.find(({ kind }) => kind === "reject_once")?.id ?? "" };
      const ended = new AbortController();
      const asking = AbortSignal.any([signal, ended.signal]);
      const expire = async (): Promise<ApprovalDecision> => {
        await wait(expiresAfterMs, undefined, { signal: asking });
        return { ...reject, by: "timeout", message: `nobody answered within ${expiresAfterMs / 1000} s` };
      };
      try {
        return await Promise.race([approver.ask(request, asking, checkEdited), expire()]);
      } catch (error) {
        if (signal.aborted) throw error;
        const message = error instanceof Error ? error.message : String(error);
        return { ...reject, by: "error", message: `nobody could be asked: ${message}` };
      } finally {
        ended.abort();
      }
    },
  };
}
