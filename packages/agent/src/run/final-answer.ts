/** The end of a run whose answer must pass a check (`--output-schema`): one repair turn, then a failure. */
import type { RunEnd } from "@sheaf/protocol";
import { SheafError } from "../base/errors.ts";
import { toRunFailure } from "./run-failure.ts";

/** The answer's value, or what is wrong with it in one line that a model can act on. */
export type CheckedAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** Checks the text after the last tool call. */
export type AnswerCheck = (text: string) => CheckedAnswer;

export interface FinalAnswer {
  /** Note for the model in the repair turn; undefined before it. */
  readonly note: string | undefined;
  /** The end of the run; undefined when the model gets its one repair turn. */
  toEnd(text: string): RunEnd | undefined;
}

/** Without a check every answer is the end. */
export function createFinalAnswer(check: AnswerCheck | undefined): FinalAnswer {
  let note: string | undefined;
  return {
    get note() {
      return note;
    },
    toEnd(text) {
      if (!check) return { type: "run_end", reason: "end_turn" };
      const checked = check(text);
      if (checked.ok) return { type: "run_end", reason: "end_turn", output: checked.value };
      if (note !== undefined) {
        const message = `the answer does not fit the output schema, also after a repair turn: ${checked.problem}`;
        return toRunFailure(new SheafError("OUTPUT_INVALID", message, { source: "provider" }));
      }
      note = `Your answer was not accepted: ${checked.problem}. Answer again with the JSON alone.`;
      return undefined;
    },
  };
}
