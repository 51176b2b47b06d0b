import type { ModelEvent, RunEventBody } from "@sheaf/protocol";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createWholeCharacters, toWellFormed } from "../src/whole-characters.ts";
import { verifies } from "../../../test/support/verifies.ts";

const text = (words: string): ModelEvent => ({ type: "text_delta", text: words });
const reasoning = (words: string): ModelEvent => ({ type: "reasoning_delta", text: words });
const piece = (callId: string, delta: string): ModelEvent => ({ type: "tool_call_arguments_delta", callId, delta });
const data: ModelEvent = { type: "provider_data", origin: "x", data: {} };
const start: ModelEvent = { type: "tool_call_start", callId: "call_1", toolName: "t", documentType: "tool_call" };

function join(...events: readonly ModelEvent[]): ModelEvent[] {
  const characters = createWholeCharacters<ModelEvent>();
  return events.flatMap((event) => characters.push(event));
}

describe("events", () => {
  test.each<[string, ModelEvent[], ModelEvent[]]>([
    ["a pair in one delta", [text("a🙂b")], [text("a🙂b")]],
    ["a pair in two", [text("a\ud83d"), text("\ude42b")], [text("a"), text("🙂b")]],
    ["a pair in two that are nothing else", [text("\ud83d"), text("\ude42")], [text("🙂")]],
    ["an empty delta between them", [text("\ud83d"), text(""), text("\ude42")], [text("🙂")]],
    ["data of the provider between them", [text("\ud83d"), data, text("\ude42")], [data, text("🙂")]],
    ["halves of two texts", [text("\ud83d"), reasoning("\ude42")], [text("\ufffd"), reasoning("\ufffd")]],
    ["a first half at the end", [text("\ud83d"), start], [text("\ufffd"), start]],
    ["a second half alone", [text("a\ude42b")], [text("a\ufffdb")]],
    ["two first halves", [text("\ud83d\ud83d"), text("\ude42")], [text("\ufffd"), text("🙂")]],
    ["arguments of a call", [piece("1", "\ud83d"), piece("1", "\ude42")], [piece("1", "🙂")]],
    ["of two calls", [piece("1", "\ud83d"), piece("2", "\ude42")], [piece("1", "\ufffd"), piece("2", "\ufffd")]],
  ])(verifies("S-93", "%s"), (_name, events, expected) => {
    expect(join(...events)).toEqual(expected);
  });

  test(verifies("S-93", "an event without half a character is the same object"), () => {
    const event = text("a🙂");
    expect(join(event)[0]).toBe(event);
  });

  test(verifies("S-93", "however a text is cut, the deltas are well-formed, and joined they are the text"), () => {
    const unit = fc.constantFrom("a", "🙂", "\ud83d", "\ude42", "é", "\n");
    fc.assert(
      fc.property(fc.array(unit), fc.array(fc.nat({ max: 40 })), (units, cuts) => {
        const whole = units.join("");
        const places = [0, ...cuts.filter((cut) => cut < whole.length).toSorted((one, other) => one - other)];
        const deltas = places.map((place, index) => text(whole.slice(place, places[index + 1] ?? whole.length)));
        const joined = join(...deltas, start).flatMap((event) => (event.type === "text_delta" ? [event.text] : []));
        expect(joined.every((delta) => delta.isWellFormed())).toBe(true);
        expect(joined.join("")).toBe(whole.toWellFormed());
      }),
    );
  });
});

test(verifies("S-93", "a value is well-formed in all its texts and names, and else the same"), () => {
  const event = {
    type: "tool_call_arguments",
    callId: "call_1",
    arguments: { "a\ud83d": ["b\ude42", { c: "🙂", d: 1, e: null }], __proto__x: true },
    rawArguments: "\ud83d",
  } satisfies RunEventBody;
  expect(toWellFormed(event)).toEqual({
    type: "tool_call_arguments",
    callId: "call_1",
    arguments: { "a\ufffd": ["b\ufffd", { c: "🙂", d: 1, e: null }], __proto__x: true },
    rawArguments: "\ufffd",
  });
  const hostile: unknown = JSON.parse('{"__proto__":{"polluted":"\\ud83d"}}');
  expect(JSON.stringify(toWellFormed(hostile))).toBe('{"__proto__":{"polluted":"\ufffd"}}');
});
