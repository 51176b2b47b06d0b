/** The notes with which a run goes on where the model's turn ended too early (C185, N127). */
import type { RunEnd } from "@sheaf/protocol";
import type { TurnState } from "./model-turn.ts";

/** How often in a row the model goes on after its token limit cut an answer. */
const MAX_CUTS = 2;

export interface SecondChances {
  /** The note for one more turn after `state`; undefined: the run ends with `end`, or goes on anyway. */
  take(state: TurnState, end: RunEnd | undefined): string | undefined;
}

export function createSecondChances(): SecondChances {
  let cuts = 0;
  let hasAskedToCall = false;
  let hasAskedAgain = false;
  return {
    take(state, end) {
      const isCut = state.end?.finishReason === "max_tokens";
      cuts = isCut ? cuts + 1 : 0;
      if (isCut) return cuts <= MAX_CUTS ? toCutNote(state) : undefined;
      if (!end || (end.error && end.error.code !== "EMPTY_ANSWER")) return undefined;
      if (state.heldBack.length > 0 && !hasAskedToCall) {
        hasAskedToCall = true;
        return `A call of ${toNames(state.heldBack)} was written as text and did not run: call the tool, or end your answer if you only show it.`;
      }
      const isEmpty = state.text.trim() === "" && state.foreignCalls.size === 0;
      if (!isEmpty || hasAskedAgain || state.end?.rawFinishReason === "pause_turn") return undefined;
      hasAskedAgain = true;
      return "Your last message was empty: answer the user, or call a tool.";
    },
  };
}

function toCutNote({ calls, heldBack, text }: TurnState): string {
  const cut = calls.filter(({ rawArguments }) => rawArguments !== undefined).map(({ toolName }) => toolName);
  const names = toNames([...cut, ...heldBack]);
  const rest = `The call of ${names} was not whole and did not run: write it again, whole, in smaller parts.`;
  const way =
    text.trim() === "" ? "It had no text: think less, and answer." : "Go on where it ends, and repeat nothing of it.";
  const next = calls.length > 0 ? "Its whole calls have run." : way;
  return `Your last message was cut at its token limit. ${names === "" ? next : rest}`;
}

function toNames(tools: readonly string[]): string {
  return [...new Set(tools)].join(", ");
}
