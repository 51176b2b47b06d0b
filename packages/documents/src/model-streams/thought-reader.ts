/** Finds the thinking that open models write in their text: `<think>…</think>` at its start (N129). */
import type { ModelEvent } from "@sheaf/protocol";

export interface ThoughtReader {
  /** Returns the events that are known by now. The last is `turn_end`, as it came in. */
  push(event: ModelEvent): ModelEvent[];
}

const openers = ["<think>", "<thinking>"] as const;

export function createThoughtReader(): ThoughtReader {
  let held = "";
  /** The tag that ends the thinking. */
  let closer: string | undefined;
  let isDecided = false;
  let hasThought = false;

  function take(type: "text_delta" | "reasoning_delta", end = held.length): ModelEvent[] {
    const text = held.slice(0, end);
    held = held.slice(end);
    return text === "" ? [] : [{ type, text }];
  }

  function readStart(): ModelEvent[] {
    const start = held.trimStart();
    const opener = hasThought ? undefined : openers.find((one) => start.startsWith(one));
    if (opener !== undefined) {
      held = start.slice(opener.length);
      closer = opener.replace("<", "</");
      return readThought(closer);
    }
    if (start === "" || (!hasThought && openers.some((one) => one.startsWith(start)))) return [];
    isDecided = true;
    if (hasThought) held = start;
    return take("text_delta");
  }

  function readThought(end: string): ModelEvent[] {
    const at = held.indexOf(end);
    if (at === -1) return take("reasoning_delta", held.length - countBeginning(held, end));
    const thought = take("reasoning_delta", at);
    held = held.slice(end.length);
    closer = undefined;
    hasThought = true;
    return [...thought, ...readStart()];
  }

  return {
    push(event) {
      if (event.type === "text_delta") {
        held += event.text;
        if (closer !== undefined) return readThought(closer);
        return isDecided ? take("text_delta") : readStart();
      }
      if (event.type === "reasoning_delta" || event.type === "provider_data") return [event];
      isDecided = true;
      const rest = take(closer === undefined ? "text_delta" : "reasoning_delta");
      closer = undefined;
      return [...rest, event];
    },
  };
}

/** How much of `word` the text ends with. */
function countBeginning(text: string, word: string): number {
  let length = Math.min(text.length, word.length - 1);
  while (!text.endsWith(word.slice(0, length))) length -= 1;
  return length;
}
