/** The model's text in pieces that every reader takes: C7. */

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
  let held = "";
  let last = "";
  /** A long held text is not looked through again for each delta. */
  let isHeldBlank = true;
  const take = (piece: string): string => {
    last = piece;
    return piece;
  };
  return {
    push(delta) {
      const text = held + delta;
      isHeldBlank &&= isBlank(delta);
      if (isHeldBlank || text === last) {
        held = text;
        return [];
      }
      held = "";
      isHeldBlank = true;
      return [take(text)];
    },
    flush() {
      if (held === "") return [];
      const text = held;
      held = "";
      isHeldBlank = true;
      const [first = ""] = text;
      const pieces = text === last && text.length > first.length ? [first, text.slice(first.length)] : [text];
      return pieces.map(take);
    },
  };
}
