import type { Messages } from "./messages.ts";

interface Failure {
  readonly title: string;
  /** Advice for the user; "" without any, or if the server's line contains it. */
  readonly advice: string;
}

/**
 * Describes an error code in the page's language. The page adds the server's line, which has the value that failed.
 * @param isPassing true if the answer continued after the error
 */
export function describeFailure(code: string, isPassing: boolean, messages: Messages): Failure {
  const steps: Readonly<Record<string, string>> = messages.failures.step;
  const answers: Readonly<Record<string, Failure>> = messages.failures.answer;
  if (!isPassing) return Object.hasOwn(answers, code) ? answers[code]! : { title: messages.news.failed, advice: "" };
  const step = Object.hasOwn(steps, code) ? steps[code]! : messages.someStepFailed;
  return { title: messages.stepFailed({ step }), advice: "" };
}
