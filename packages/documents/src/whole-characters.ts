/** Completes events with half a character: half a surrogate pair has no UTF-8, and most languages reject it. */
import type { RunEventBody } from "@sheaf/protocol";
import { isHighSurrogate, replaceHalves } from "./characters.ts";

/** Joins the halves of characters that a source has cut. */
export interface WholeCharacters<Event extends RunEventBody> {
  /** Returns the event and the events that it completes, or an empty list if it must wait. */
  push(event: Event): Event[];
}

/**
 * Holds the first half of a pair at the end of a delta for the next delta of its kind. A half without its other half
 * becomes U+FFFD, in deltas and in all other texts.
 */
export function createWholeCharacters<Event extends RunEventBody>(): WholeCharacters<Event> {
  let held: { readonly event: Event; readonly delta: Delta } | undefined;
  const release = (): Event[] => {
    const released = held ? [toWellFormed(held.event)] : [];
    held = undefined;
    return released;
  };
  return {
    push(event) {
      const delta = readDelta(event);
      // Data of the provider is not part of the text, which continues after it.
      if (!delta && event.type === "provider_data") return [toWellFormed(event)];
      const released = held && held.delta.source === delta?.source ? [] : release();
      if (!delta) return [...released, toWellFormed(event)];
      const text = (held?.delta.text ?? "") + delta.text;
      const end = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;
      const isWhole = held === undefined && end === text.length;
      held = end < text.length ? toHeld(event, delta, text.slice(end)) : undefined;
      if (isWhole) return [...released, toWellFormed(event)];
      return end === 0 ? released : [...released, toWellFormed(withText(event, text.slice(0, end)))];
    },
  };
}

/** A piece of a text that continues. */
interface Delta {
  /** Identifies the text of the piece. */
  readonly source: string;
  readonly text: string;
}

function readDelta(event: RunEventBody): Delta | undefined {
  switch (event.type) {
    case "text_delta":
    case "reasoning_delta":
      return { source: event.type, text: event.text };
    case "tool_call_arguments_delta":
      return { source: `${event.type} ${event.callId}`, text: event.delta };
    case "tool_output_delta":
      return { source: `${event.stream} ${event.callId}`, text: event.delta };
    default:
      return undefined;
  }
}

function withText<Event extends RunEventBody>(event: Event, text: string): Event {
  return "text" in event ? { ...event, text } : { ...event, delta: text };
}

function toHeld<Event extends RunEventBody>(event: Event, delta: Delta, text: string) {
  return { event: withText(event, text), delta: { ...delta, text } };
}

/** Replaces half surrogate pairs in a JSON value by U+FFFD. Returns the same value if it has no such half. */
export function toWellFormed<Value>(value: Value): Value {
  return isWellFormed(value) ? value : (rebuild(value) as Value);
}

const half = /\p{Surrogate}/u;

function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return !half.test(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  for (const key in value) {
    if (half.test(key) || !isWellFormed((value as Readonly<Record<string, unknown>>)[key])) return false;
  }
  return true;
}

function rebuild(value: unknown): unknown {
  if (typeof value === "string") return replaceHalves(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(rebuild);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [rebuild(key), rebuild(entry)]));
}
