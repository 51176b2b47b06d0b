import type { Messages } from "./messages.ts";

interface Failure {
  readonly title: string;
  /** What to do; "" if nothing can be done, or the server alone can say it. */
  readonly advice: string;
}

/**
 * What an error code means, in the page's language. The server's own line goes with it, since it names what failed.
 * @param isPassing the answer went on
 */
export function describeFailure(code: string, isPassing: boolean, messages: Messages): Failure {
  const steps: Readonly<Record<string, string>> = messages.failures.step;
  const answers: Readonly<Record<string, Failure>> = messages.failures.answer;
  if (!isPassing) return Object.hasOwn(answers, code) ? answers[code]! : { title: messages.news.failed, advice: "" };
  const step = Object.hasOwn(steps, code) ? steps[code]! : messages.someStepFailed;
  return { title: messages.stepFailed({ step }), advice: "" };
}
