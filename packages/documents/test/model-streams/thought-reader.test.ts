/** Thinking that a model writes in its text. */
import type { ModelEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createThoughtReader } from "../../src/model-streams/thought-reader.ts";

const call: ModelEvent = { type: "tool_call_start", callId: "c", toolName: "look", documentType: "tool_call" };

/** What a reader of the pieces sees: thinking, text, and the kinds of other events in their place. */
function readPieces(text: string, size: number, after: readonly ModelEvent[]): readonly (readonly [string, string])[] {
  const reader = createThoughtReader();
  const pieces: ModelEvent[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push({ type: "text_delta", text: text.slice(at, at + size) });
  const seen: [string, string][] = [];
  for (const event of [...pieces, ...after].flatMap((piece) => reader(piece))) {
    const delta = event.type === "text_delta" || event.type === "reasoning_delta" ? event.text : "";
    const last = seen.at(-1);
    if (last?.[0] === event.type) last[1] += delta;
    else seen.push([event.type, delta]);
  }
  return seen;
}

test.each<readonly [string, string, readonly (readonly [string, string])[]]>([
  [
    "a thought and an answer",
    "<think>\nHm.\n</think>\n\nYes.",
    [
      ["reasoning_delta", "\nHm.\n"],
      ["text_delta", "Yes."],
    ],
  ],
  [
    "blanks before it",
    "\n <think>Hm.</think>Yes.",
    [
      ["reasoning_delta", "Hm."],
      ["text_delta", "Yes."],
    ],
  ],
  [
    "its longer name",
    "<thinking>Hm</think>m</thinking>Yes.",
    [
      ["reasoning_delta", "Hm</think>m"],
      ["text_delta", "Yes."],
    ],
  ],
  ["nothing but a thought", "<think>Hm.</think>\n", [["reasoning_delta", "Hm."]]],
  [
    "an empty thought",
    "<think>\n</think>Yes.",
    [
      ["reasoning_delta", "\n"],
      ["text_delta", "Yes."],
    ],
  ],
  ["a thought without an end", "<think>Hm. </thin", [["reasoning_delta", "Hm. </thin"]]],
  [
    "a second thought",
    "<think>a</think><think>b</think>",
    [
      ["reasoning_delta", "a"],
      ["text_delta", "<think>b</think>"],
    ],
  ],
  ["a tag in the text", "Use <think>a</think>.", [["text_delta", "Use <think>a</think>."]]],
  ["the beginning of a tag", "<thi", [["text_delta", "<thi"]]],
  ["another tag", "<thinker>a", [["text_delta", "<thinker>a"]]],
  ["blanks", " \n", [["text_delta", " \n"]]],
])(verifies(["N129", "N25"], "%s"), (_, text, seen) => {
  for (const size of [1, 2, 3, 7, 100])
    expect(readPieces(text, size, [call]), `in pieces of ${size}`).toEqual([...seen, ["tool_call_start", ""]]);
});

test(verifies("N129", "text after a call is text"), () => {
  const more: ModelEvent = { type: "text_delta", text: "<think>b" };
  expect(readPieces("<think>a", 3, [call, more])).toEqual([
    ["reasoning_delta", "a"],
    ["tool_call_start", ""],
    ["text_delta", "<think>b"],
  ]);
});
