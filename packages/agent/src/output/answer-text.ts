/** The model's text in a run, in the pieces between its tool calls (C3, C11). */
import type { RunEvent } from "@sheaf/protocol";
import { joinPieces } from "@sheaf/protocol/pieces";
import { createGrowingText, type GrowingText } from "@sheaf/base/growing-text";

export interface AnswerText {
  push(event: RunEvent): void;
  /** All pieces, joined by the rule of C3; a single one is exactly as it came. */
  readonly whole: string;
  /** The text after the last tool call; blank if the answer ends with the call. */
  readonly last: string;
}

/** Creates the collector. Calls of the provider split only text that follows, and Sheaf's calls at the end none. */
export function createAnswerText(): AnswerText {
  const pieces: GrowingText[] = [createGrowingText()];
  let isSplit = false;
  return {
    push(event) {
      const isBoundary =
        event.type === "turn_start" || (event.type === "tool_call_start" && event.origin === undefined);
      if (event.type === "tool_call_start" && event.origin === "provider") isSplit = true;
      if (isBoundary || (isSplit && event.type === "text_delta")) {
        pieces.push(createGrowingText());
        isSplit = false;
      }
      if (event.type === "text_delta") pieces.at(-1)!.push(event.text);
    },
    get whole() {
      return joinPieces(pieces.map(({ text }) => text));
    },
    get last() {
      return pieces.at(-1)!.text;
    },
  };
}
