/** The place where two sessions part (C198). */
import { type Divergence, formatOutcome, settleText, toDiff } from "./compare-responses.ts";
import type { TestResponse } from "./test-response.ts";

export interface ComparedSession {
  readonly workspace: string;
  readonly responses: readonly TestResponse[];
}

/** Returns undefined if both did the same, apart from times, ids and paths. */
export function findParting(one: ComparedSession, other: ComparedSession): Divergence | undefined {
  const [first, second] = [listSteps(one), listSteps(other)];
  for (const [at, step] of first.entries()) {
    const { place, subject, text } = step;
    const found = second[at];
    if (!found) return { place, message: "the second session ended before this", diff: "" };
    if (found.place !== place) return { place, message: `the second session is at ${found.place}`, diff: "" };
    if (found.text !== text) return { place, message: `${subject} differs`, diff: toDiff(text, found.text) };
  }
  const extra = second[first.length];
  return extra && { place: extra.place, message: "the first session ended before this", diff: "" };
}

interface Step {
  /** The place of the step, such as "response 1, turn 2, call 1 (read_file)". */
  readonly place: string;
  readonly subject: string;
  readonly text: string;
}

function listSteps({ workspace, responses }: ComparedSession): readonly Step[] {
  const settle = (text: string): string => settleText(text.replaceAll(workspace, "<workspace>"));
  return responses.flatMap(({ prompt, mode = "agent", turns, end = "completed" }, index) => {
    const response = `response ${index + 1}`;
    const answers = turns.flatMap(({ text = "", calls = [] }, number) => {
      const place = `${response}, turn ${number + 1}`;
      const made = calls.flatMap((call, order) => {
        const there = `${place}, call ${order + 1} (${call.tool})`;
        return [
          { place: there, subject: "the call", text: settle(JSON.stringify(call.arguments, undefined, 2) ?? "") },
          { place: there, subject: "the result", text: formatOutcome(call, settle) },
        ];
      });
      return [{ place, subject: "the answer", text: settle(text) }, ...made];
    });
    return [
      { place: response, subject: "the prompt", text: `${mode}\n${settle(prompt)}` },
      ...answers,
      { place: `the end of ${response}`, subject: "it", text: end },
    ];
  });
}
