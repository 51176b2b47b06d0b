/** The model's text in a run, in the pieces between its tool calls (C3, C11). */
import type { RunEvent } from "@sheaf/protocol";
import { createGrowingText, type GrowingText } from "../base/growing-text.ts";

export interface AnswerText {
  push(event: RunEvent): void;
  /** All pieces, separated by blank lines; a single one is exactly as it came. */
  readonly whole: string;
  /** What followed the last tool call; blank if nothing did. */
  readonly last: string;
}

/** Calls that Sheaf itself makes at the end separate nothing. */
export function createAnswerText(): AnswerText {
  const pieces: GrowingText[] = [createGrowingText()];
  return {
    push(event) {
      if (event.type === "text_delta") pieces.at(-1)!.push(event.text);
      const isBoundary = event.type === "turn_start" || (event.type === "tool_call_start" && event.origin !== "agent");
      if (isBoundary) pieces.push(createGrowingText());
    },
    get whole() {
      const texts = pieces.map(({ text }) => text).filter((text) => text.trim() !== "");
      const [first = "", ...rest] = texts;
      return rest.reduce((joined, text) => `${joined.trimEnd()}\n\n${text.trimStart()}`, first);
    },
    get last() {
      return pieces.at(-1)!.text;
    },
  };
}
