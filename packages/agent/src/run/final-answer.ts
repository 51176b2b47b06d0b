/** The end of a run whose answer must pass a check (`--output-schema`): one repair turn, then a failure. */
import type { RunEnd } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { toRunFailure } from "./run-failure.ts";

/** The answer's value, or its fault in one line that a model can act on. */
export type CheckedAnswer =
  | { readonly ok: true; readonly value: unknown }
  /** `isSchemaFault`: no answer can pass, because the schema itself is wrong. */
  | { readonly ok: false; readonly problem: string; readonly isSchemaFault?: true };

/** Checks the text after the last tool call. Never rejects; after an abort it returns at once, with any result. */
export type AnswerCheck = (text: string) => Promise<CheckedAnswer>;

export interface FinalAnswer {
  /** Note for the model in the repair turn; undefined before it. */
  readonly note: string | undefined;
  /** The end of the run; undefined when the model gets its one repair turn. `whole`: `text` and cut turns before it. */
  toEnd(text: string, whole?: string): Promise<RunEnd | undefined>;
}

/** Judges answers by `check`. Without a check, every answer ends the run. */
export function createFinalAnswer(check: AnswerCheck | undefined): FinalAnswer {
  let note: string | undefined;
  return {
    get note() {
      return note;
    },
    async toEnd(text, whole = text) {
      if (!check) return { type: "run_end", reason: "end_turn" };
      const joined = await check(whole);
      // After a cut the model may write its whole answer again.
      const checked = joined.ok || whole === text ? joined : await check(text);
      if (checked.ok) {
        note = undefined;
        return { type: "run_end", reason: "end_turn", output: checked.value };
      }
      if (checked.isSchemaFault) return toRunFailure(new SheafError("CONFIG_INVALID", checked.problem));
      if (note !== undefined) {
        const message = `the answer does not fit the output schema, even after a repair turn: ${checked.problem}`;
        return toRunFailure(new SheafError("OUTPUT_INVALID", message, { source: "provider" }));
      }
      note = `Your answer was not accepted: ${checked.problem}. Answer again with the JSON alone.`;
      return undefined;
    },
  };
}
