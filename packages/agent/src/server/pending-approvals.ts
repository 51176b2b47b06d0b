/** Questions of running responses that wait for a person (X8, S-16). */
import type { ApprovalRequest } from "@sheaf/protocol";
import type { ApprovalDecision, Approver, CheckArguments } from "../tools/approval.ts";

/** How long a question stays open. Milliseconds. */
const EXPIRES_MS = 10 * 60 * 1000;

/** What became of an answer. `resolved`: somebody was faster, or nobody waits any more. */
type AnswerOutcome =
  | { readonly kind: "accepted" | "resolved" | "unknown" | "unknown_option" }
  /** The call could not run with the arguments; the question stays open. */
  | { readonly kind: "bad_arguments"; readonly problem: string };

interface Question {
  readonly request: ApprovalRequest;
  readonly checkEdited: CheckArguments;
  /** Undefined: it has its answer, or expired. */
  resolve: ((answer: ApprovalDecision) => void) | undefined;
}

/** Nothing is asked yet. */
export function createPendingApprovals() {
  const questions = new Map<string, Map<string, Question>>();
  return {
    /** Asks those who read the response; the question itself is an event of its log. */
    createApprover: (responseId: string): Approver => ({
      expiresAfterMs: EXPIRES_MS,
      ask: (request, signal, checkEdited) =>
        new Promise((resolve, reject) => {
          const question: Question = { request, checkEdited, resolve };
          const ofResponse = questions.get(responseId) ?? new Map<string, Question>();
          questions.set(responseId, ofResponse.set(request.approvalId, question));
          const give = (): void => {
            question.resolve = undefined;
            reject(signal.reason as Error);
          };
          if (signal.aborted) give();
          else signal.addEventListener("abort", give, { once: true });
        }),
    }),
    /** Each question takes one answer. */
    async answer(responseId: string, approvalId: string, answer: ApprovalDecision): Promise<AnswerOutcome> {
      const question = questions.get(responseId)?.get(approvalId);
      if (!question) return { kind: "unknown" };
      const option = question.request.options.find(({ id }) => id === answer.optionId);
      if (!option) return { kind: "unknown_option" };
      if (!question.resolve) return { kind: "resolved" };
      const isEdited = option.kind.startsWith("allow") && answer.editedArguments !== undefined;
      const problem = isEdited ? await question.checkEdited(answer.editedArguments) : undefined;
      if (problem !== undefined) return { kind: "bad_arguments", problem };
      // Somebody may have been faster meanwhile.
      const { resolve } = question;
      if (!resolve) return { kind: "resolved" };
      question.resolve = undefined;
      resolve(answer);
      return { kind: "accepted" };
    },
    /** Forgets a response that has ended. */
    forget: (responseId: string): void => void questions.delete(responseId),
  };
}

export type PendingApprovals = ReturnType<typeof createPendingApprovals>;
