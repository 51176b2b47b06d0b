/** An approver that always answers (S-16). */
import { setTimeout as wait } from "node:timers/promises";
import type { ApprovalAnswer, Approver } from "./approval.ts";

/** The same approver; a question that nobody answered in time, or that could not be asked, is rejected. */
export function createExpiringApprover(approver: Approver): Approver {
  const { expiresAfterMs } = approver;
  return {
    expiresAfterMs,
    async ask(request, signal, checkEdited) {
      const reject = { optionId: request.options.find(({ kind }) => kind === "reject_once")?.id ?? "" };
      const ended = new AbortController();
      const asking = AbortSignal.any([signal, ended.signal]);
      const expire = async (): Promise<ApprovalAnswer> => {
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
