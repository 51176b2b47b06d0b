/** Questions of running responses that wait for a person, at whichever server they run (X8, S-16, R-37). */
import type { ApprovalRequest } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { Store } from "@sheaf/store/store";
import { createApprovalReader } from "./log-reader.ts";
import type { ApprovalDecision, Approver, CheckArguments } from "@sheaf/agent/tools/approval";

/** Time that a question stays open. Milliseconds. */
const EXPIRES_MS = 10 * 60 * 1000;

/** Outcome of an answer. `resolved`: another answer was faster, or the question is over. */
type AnswerOutcome =
  | { readonly kind: "accepted" | "resolved" | "unknown" | "unknown_option" }
  /** Another program runs the response, and asks its user itself. */
  | { readonly kind: "elsewhere"; readonly place: string }
  /** The call could not run with the arguments; the question stays open. */
  | { readonly kind: "bad_arguments"; readonly problem: string };

interface Question {
  readonly request: ApprovalRequest;
  readonly checkEdited: CheckArguments;
  /** Takes the answer; undefined once the question has its answer, or expired. */
  resolve: ((answer: ApprovalDecision) => void) | undefined;
}

/** The questions of one response. */
interface Asked {
  readonly questions: Map<string, Question>;
  /** Ends the search for answers from other servers. */
  readonly endLooking: () => void;
}

/** An answer on its way to the server that asked. */
interface ApprovalAnswer {
  readonly approvalId: string;
  readonly answer: ApprovalDecision;
}

/** Creates a table of questions. `onFailure` is called if the store can't be read; the next look tries again. */
export function createPendingApprovals(onFailure: (error: unknown) => void) {
  const responses = new Map<string, Asked>();

  /** Each question takes one answer. */
  const answerHere = async (
    responseId: string,
    approvalId: string,
    answer: ApprovalDecision,
  ): Promise<AnswerOutcome> => {
    const question = responses.get(responseId)?.questions.get(approvalId);
    if (!question) return { kind: "unknown" };
    const option = question.request.options.find(({ id }) => id === answer.optionId);
    if (!option) return { kind: "unknown_option" };
    if (!question.resolve) return { kind: "resolved" };
    const isEdited = option.kind.startsWith("allow") && answer.editedArguments !== undefined;
    const problem = isEdited ? await question.checkEdited(answer.editedArguments) : undefined;
    if (problem !== undefined) return { kind: "bad_arguments", problem };
    // Another answer may have been faster.
    const { resolve } = question;
    if (!resolve) return { kind: "resolved" };
    question.resolve = undefined;
    resolve(answer);
    return { kind: "accepted" };
  };

  /** Takes answers from other servers, until you call the result. */
  const lookForAnswers = (responseId: string, store: Store): (() => void) => {
    if (!store.cluster) return () => undefined;
    const { mailbox } = store.cluster;
    const look = async (): Promise<void> => {
      for (const { id, text } of await mailbox.take(responseId)) {
        const { approvalId, answer } = JSON.parse(text) as ApprovalAnswer;
        await mailbox.reply(responseId, id, JSON.stringify(await answerHere(responseId, approvalId, answer)));
      }
    };
    // The store also calls this when the lease shows that an answer waits.
    return store.watchResponse(responseId, () => void look().catch(onFailure));
  };

  return {
    /** Creates an approver that asks the readers of the response; its log has the question. `store`: of the owner. */
    createApprover: (responseId: string, store: Store): Approver => ({
      expiresAfterMs: EXPIRES_MS,
      ask: (request, signal, checkEdited) =>
        new Promise((resolve, reject) => {
          const question: Question = { request, checkEdited, resolve };
          const asked = responses.get(responseId) ?? {
            questions: new Map<string, Question>(),
            endLooking: lookForAnswers(responseId, store),
          };
          responses.set(responseId, asked);
          asked.questions.set(request.approvalId, question);
          const give = (): void => {
            question.resolve = undefined;
            reject(signal.reason as Error);
          };
          if (signal.aborted) give();
          else signal.addEventListener("abort", give, { once: true });
        }),
    }),
    /** Answers a question here or at the server that runs the response. @throws SheafError OVERLOADED. */
    async answer(store: Store, responseId: string, { approvalId, answer }: ApprovalAnswer): Promise<AnswerOutcome> {
      const here = await answerHere(responseId, approvalId, answer);
      if (here.kind !== "unknown") return here;
      return answerElsewhere(store, responseId, { approvalId, answer });
    },
    /** Forgets a response that has ended. */
    forget(responseId: string): void {
      responses.get(responseId)?.endLooking();
      responses.delete(responseId);
    },
  };
}

export type PendingApprovals = ReturnType<typeof createPendingApprovals>;

async function answerElsewhere(store: Store, responseId: string, given: ApprovalAnswer): Promise<AnswerOutcome> {
  const log = createApprovalReader(store, responseId);
  const isOver = async (): Promise<boolean> => !(await log.find(given.approvalId))?.isOpen;
  const question = await log.find(given.approvalId);
  if (!question?.isOpen) return { kind: question ? "resolved" : "unknown" };
  if (question.request.answeredIn) return { kind: "elsewhere", place: question.request.answeredIn };
  const reply = await store.cluster?.mailbox.ask(responseId, JSON.stringify(given), isOver);
  const outcome = reply === undefined ? undefined : (JSON.parse(reply) as AnswerOutcome);
  if (outcome && outcome.kind !== "unknown") return outcome;
  // The writer has changed since the question, or is gone.
  if ((await isOver()) || !store.cluster) return { kind: "resolved" };
  throw new SheafError("OVERLOADED", "the server that asked does not react: send the answer again in a moment", {
    source: "server",
  });
}
