import type { ModelEvent } from "@sheaf/protocol";

/** Events of one turn that wait to be taken. */
export interface EventQueue {
  push(event: ModelEvent): void;
  /** Adds text or reasoning; "" adds nothing. */
  pushDelta(type: DeltaType, text: string): void;
  /** The events since the last time. */
  take(): ModelEvent[];
}

type DeltaType = "text_delta" | "reasoning_delta";

/**
 * No event holds half a character: the first half of a surrogate pair at the end of a delta waits for the next one.
 * Some providers cut their deltas there, and half a character cannot be written as UTF-8.
 */
export function createEventQueue(): EventQueue {
  let events: ModelEvent[] = [];
  let held: { readonly type: DeltaType; readonly text: string } | undefined;

  function releaseHeld(): void {
    if (held !== undefined) events.push(held);
    held = undefined;
  }

  return {
    push(event) {
      // It stands between two pieces of one text, as far as a reader of the text can tell.
      if (event.type !== "provider_data") releaseHeld();
      events.push(event);
    },
    pushDelta(type, text) {
      if (text === "") return;
      if (held?.type !== type) releaseHeld();
      const whole = (held?.text ?? "") + text;
      const length = isHighSurrogate(whole.charCodeAt(whole.length - 1)) ? whole.length - 1 : whole.length;
      held = length < whole.length ? { type, text: whole.slice(length) } : undefined;
      if (length > 0) events.push({ type, text: whole.slice(0, length) });
    },
    take() {
      const taken = events;
      events = [];
      return taken;
    },
  };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
