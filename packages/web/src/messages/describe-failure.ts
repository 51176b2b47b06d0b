import type { Messages } from "./english.ts";

interface Failure {
  readonly title: string;
  /** What to do; "" if nothing can be done, or the server alone can say it. */
  readonly advice: string;
}

/**
 * What an error code means, in the page's language. The server's own line goes with it, since it names what failed.
 * @param isPassing the answer went on
 */
export function describeFailure(code: string, isPassing: boolean, { failures, ...messages }: Messages): Failure {
  const steps: Readonly<Record<string, string>> = failures.step;
  const answers: Readonly<Record<string, readonly [string, string]>> = failures.answer;
  if (isPassing)
    return { title: messages.stepFailed(Object.hasOwn(steps, code) ? steps[code] : undefined), advice: "" };
  const [title, advice] = Object.hasOwn(answers, code) ? answers[code]! : [messages.answerFailed, ""];
  return { title, advice };
}
