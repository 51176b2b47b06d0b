/** Finds the thinking that open models write in their text: `<think>…</think>` at its start (N129). */
import type { ModelEvent } from "@sheaf/protocol";

/** Creates a function that takes the events of a turn up to `turn_end`, and returns the known ones. */
export function createThoughtReader(): (event: ModelEvent) => ModelEvent[] {
  let held = "";
  /** The tag that ends the thinking, "" after it, and undefined before the first word. */
  let closer: string | undefined;
  let skipsBlanks = false;

  function take(type: "text_delta" | "reasoning_delta", length = held.length): ModelEvent[] {
    const text = held.slice(0, Math.max(0, length));
    held = held.slice(text.length);
    return text === "" ? [] : [{ type, text }];
  }

  function read(isEnd: boolean): ModelEvent[] {
    if (closer === undefined) {
      const [opener = "", name] = /^\s*<(think(?:ing)?)>/.exec(held) ?? [];
      if (name === undefined && !isEnd && "<thinking>".startsWith(held.trimStart())) return [];
      held = held.slice(opener.length);
      closer = name === undefined ? "" : `</${name}>`;
    }
    if (closer !== "") {
      const at = held.indexOf(closer);
      if (at === -1) return take("reasoning_delta", isEnd ? held.length : held.length - closer.length + 1);
      const thought = take("reasoning_delta", at);
      held = held.slice(closer.length);
      closer = "";
      skipsBlanks = true;
      return [...thought, ...read(isEnd)];
    }
    if (skipsBlanks) held = held.trimStart();
    skipsBlanks &&= held === "";
    return take("text_delta");
  }

  return (event) => {
    if (event.type === "reasoning_delta" || event.type === "provider_data") return [event];
    if (event.type === "text_delta") {
      held += event.text;
      return read(false);
    }
    const rest = read(true);
    closer = "";
    return [...rest, event];
  };
}
