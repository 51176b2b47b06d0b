/** Ends an answer that repeats the same piece of text over and over (C49). */
import type { ModelEvent } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";

/** UTF-16 units at the text's end that must be repetitions: more than any table, listing or useful pattern. */
const TAIL = 20_000;

/** Most UTF-16 units of a repeated piece, so that the tail has ten of it. */
const MAX_PIECE = 2000;

/** UTF-16 units between two looks. */
const STEP = 4000;

/** UTF-16 units of a piece's end by which earlier places are found. */
const NEEDLE = 200;

interface RepetitionGuard {
  /** Takes the next piece of a text. Returns true if the text repeats itself. */
  push(piece: string): boolean;
}

/** Creates a guard for one text of one answer. It stores only the end of the text. */
export function createRepetitionGuard(): RepetitionGuard {
  let tail = "";
  let fresh: string[] = [];
  let length = 0;
  return {
    push(piece) {
      fresh.push(piece);
      length += piece.length;
      if (length < STEP) return false;
      tail = [tail, ...fresh].join("").slice(-TAIL);
      fresh = [];
      length = 0;
      return tail.length === TAIL && isRepetition(tail);
    },
  };
}

/**
 * Passes the groups of an answer on. It guards thoughts as a separate text. It ignores arguments, since data in files
 * may repeat. `name` is the model's. @throws SheafError LOOP_DETECTED.
 */
export async function* endRepetition(
  groups: AsyncIterable<readonly ModelEvent[]>,
  name: string,
): AsyncGenerator<readonly ModelEvent[]> {
  const guards = { text_delta: createRepetitionGuard(), reasoning_delta: createRepetitionGuard() };
  const isRepeated = (event: ModelEvent): boolean =>
    (event.type === "text_delta" || event.type === "reasoning_delta") && guards[event.type].push(event.text);
  for await (const group of groups) {
    yield group;
    // A whole answer is valid, even if it repeats itself.
    if (group.at(-1)?.type === "turn_end" || !group.some(isRepeated)) continue;
    const message = `the answer of ${name} repeats the same text over and over, so Sheaf ended it: rephrase the prompt, or use another model`;
    throw new SheafError("LOOP_DETECTED", message, { source: "provider" });
  }
}

/** True if a text is some piece, repeated from its first character to its last, exactly. */
function isRepetition(text: string): boolean {
  const needle = text.slice(-NEEDLE);
  const last = text.length - NEEDLE;
  for (let at = text.lastIndexOf(needle, last - 1); at >= last - MAX_PIECE; at = text.lastIndexOf(needle, at - 1)) {
    const shift = last - at;
    if (text.startsWith(text.slice(shift))) return true;
  }
  return false;
}
