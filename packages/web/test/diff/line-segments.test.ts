import { expect, test } from "vitest";
import { toSegments } from "../../src/diff/line-segments.ts";

const tokens = [
  { text: "return", kind: "keyword" },
  { text: " jsonify", kind: "" },
  { text: "(1)", kind: "number" },
];

test("a line is cut where its colour changes and where its changed part begins and ends", () => {
  expect(toSegments("return jsonify(1)", tokens, [4, 9])).toEqual([
    { text: "retu", kind: "keyword", isChanged: false },
    { text: "rn", kind: "keyword", isChanged: true },
    { text: " js", kind: "", isChanged: true },
    { text: "onify", kind: "", isChanged: false },
    { text: "(1)", kind: "number", isChanged: false },
  ]);
});

test("without colours or changes a line is one piece", () => {
  expect(toSegments("abc", undefined)).toEqual([{ text: "abc", kind: "", isChanged: false }]);
  expect(toSegments("abc", undefined, [0, 3])).toEqual([{ text: "abc", kind: "", isChanged: true }]);
});

test("tokens of another text are ignored", () => {
  expect(toSegments("return x", tokens)).toEqual([{ text: "return x", kind: "", isChanged: false }]);
});
