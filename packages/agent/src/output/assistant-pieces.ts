/** The model's text in pieces that every reader accepts (C7). */
import { createGrowingText, type GrowingText } from "@sheaf/base/growing-text";

export interface AssistantPieces {
  /** Returns the pieces of this delta; an empty list while it waits. */
  push(delta: string): readonly string[];
  /** Returns the text that waits, at the end of a stretch of text. */
  flush(): readonly string[];
}

const isBlank = (text: string): boolean => text.trim() === "";

/**
 * Joins a chunk that is only white space, or equal to the previous one, to the next (C7): readers drop both. A rest at
 * the end that equals the previous piece becomes two pieces.
 */
export function createAssistantPieces(): AssistantPieces {
  /** The first of the held deltas, usually the only one. */
  let first = "";
  let others: GrowingText | undefined;
  let last = "";
  /** True if all held text is blank, which saves a search in it for each delta. */
  let isHeldBlank = true;
  const hold = (delta: string): readonly string[] => {
    if (first === "") {
      first = delta;
    } else {
      others ??= createGrowingText();
      others.push(delta);
    }
    return [];
  };
  const readHeld = (): string => (others ? first + others.text : first);
  const release = (pieces: readonly string[]): readonly string[] => {
    first = "";
    others = undefined;
    isHeldBlank = true;
    last = pieces.at(-1) ?? last;
    return pieces;
  };
  return {
    push(delta) {
      isHeldBlank &&= isBlank(delta);
      if (isHeldBlank) return hold(delta);
      const text = first === "" ? delta : readHeld() + delta;
      return text === last ? hold(delta) : release([text]);
    },
    flush() {
      const text = readHeld();
      const [character] = text;
      if (character === undefined) return [];
      const canSplit = text === last && text.length > character.length;
      return release(canSplit ? [character, text.slice(character.length)] : [text]);
    },
  };
}
