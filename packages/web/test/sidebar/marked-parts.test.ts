import { expect, test } from "vitest";
import { toMarkedParts } from "../../src/sidebar/marked-parts.ts";

const toText = (text: string, ranges: { start: number; end: number }[]): string =>
  toMarkedParts({ text, ranges })
    .map((part) => (part.isMatch ? `[${part.text}]` : part.text))
    .join("");

test.each([
  [[], "red <b>apple</b> tree"],
  [[{ start: 7, end: 12 }], "red <b>[apple]</b> tree"],
  [
    [
      { start: 0, end: 3 },
      { start: 17, end: 21 },
    ],
    "[red] <b>apple</b> [tree]",
  ],
  // Nothing that a server sends loses or doubles text.
  [
    [
      { start: 4, end: 9 },
      { start: 0, end: 6 },
      { start: 8, end: 99 },
    ],
    "red [<b>ap][ple</b> tree]",
  ],
  [[{ start: 50, end: 60 }], "red <b>apple</b> tree"],
])("%j", (ranges, expected) => {
  expect(toText("red <b>apple</b> tree", ranges)).toBe(expected);
});
