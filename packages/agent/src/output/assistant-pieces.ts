/** The model's text in pieces that every reader takes: C7. */
import { createGrowingText, type GrowingText } from "../growing-text.ts";

export interface AssistantPieces {
  /** The pieces that this delta brings; none while it is held back. */
  push(delta: string): readonly string[];
  /** What was held back, at the end of a stretch of text. */
  flush(): readonly string[];
}

const isBlank = (text: string): boolean => text.trim() === "";

/**
 * A chunk that is only white space, or equal to the one before, is joined to the next (C7): readers drop both.
 * What is held back at the end has no next chunk, so one that equals the piece before goes out in two pieces.
 */
export function createAssistantPieces(): AssistantPieces {
  /** Undefined: nothing is held. */
  let held: GrowingText | undefined;
  let last = "";
  /** A long held text is not looked through again for each delta. */
  let isHeldBlank = true;
  const hold = (delta: string): readonly string[] => {
    held ??= createGrowingText();
    held.push(delta);
    return [];
  };
  const release = (pieces: readonly string[]): readonly string[] => {
    held = undefined;
    isHeldBlank = true;
    last = pieces.at(-1) ?? last;
    return pieces;
  };
  return {
    push(delta) {
      isHeldBlank &&= isBlank(delta);
      if (isHeldBlank) return hold(delta);
      const text = held ? held.text + delta : delta;
      return text === last ? hold(delta) : release([text]);
    },
    flush() {
      const text = held?.text ?? "";
      const [first] = text;
      if (first === undefined) return [];
      return release(text === last && text.length > first.length ? [first, text.slice(first.length)] : [text]);
    },
  };
}
