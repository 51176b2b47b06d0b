/** The notes with which a run continues where the model's turn ended too early (C185, N127). */
import type { RunEnd } from "@sheaf/protocol";
import type { TurnState } from "./model-turn.ts";

/** Number of times in a row that the model continues after its token limit cut an answer. */
const MAX_CUTS = 2;

export interface SecondChances {
  /** Text of the last turn, after the text of cut turns that it continues. */
  readonly text: string;
  /** The note for one more turn after `state`; undefined: the run ends with `end`, or continues anyway. */
  take(state: TurnState, end: RunEnd | undefined): string | undefined;
}

export function createSecondChances(): SecondChances {
  let cuts = 0;
  let [before, text] = ["", ""];
  let hasAskedToCall = false;
  let hasAskedAgain = false;
  return {
    get text() {
      return text;
    },
    take(state, end) {
      const cut = state.calls.filter(({ rawArguments }) => rawArguments !== undefined);
      const tools = new Set([...cut.map(({ toolName }) => toolName), ...state.heldBack]);
      const names = [...tools].join(", ");
      const isCut = state.end?.finishReason === "max_tokens";
      cuts = isCut ? cuts + 1 : 0;
      text = before + state.text;
      before = isCut && state.calls.length === 0 ? text : "";
      if (isCut) return cuts <= MAX_CUTS ? toCutNote(state, names) : undefined;
      if (!end || (end.error && end.error.code !== "EMPTY_ANSWER")) return undefined;
      if (state.heldBack.length > 0 && !hasAskedToCall) {
        hasAskedToCall = true;
        return `A call of ${names} was written as text and did not run: call the tool, or end your answer if you only show it.`;
      }
      const isEmpty = state.text.trim() === "" && state.foreignCalls.size === 0;
      if (!isEmpty || hasAskedAgain || state.end?.rawFinishReason === "pause_turn") return undefined;
      hasAskedAgain = true;
      return "Your last message was empty: answer the user, or call a tool.";
    },
  };
}

function toCutNote({ calls, text }: TurnState, names: string): string {
  const isCut = "Your last message reached its token limit.";
  if (names !== "")
    return `${isCut} The call of ${names} was not whole and did not run: write it again, whole, in smaller parts.`;
  if (calls.length > 0) return `${isCut} Its whole calls have run.`;
  if (text.trim() === "") return `${isCut} It had no text: think less, and answer.`;
  return `${isCut} Continue where it ends, without repeating it.`;
}
