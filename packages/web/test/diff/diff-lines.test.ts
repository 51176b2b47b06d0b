import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { parsePatch, toPairs, toReplacementLines, type DiffLine } from "../../src/diff/diff-lines.ts";
import { parseHunks } from "../../src/diff/hunks.ts";

/** The old or the new text that the lines represent. */
function join(lines: readonly DiffLine[], kind: "added" | "removed"): string {
  return lines
    .filter((line) => line.kind === "same" || line.kind === kind)
    .map(({ text }) => `${text}\n`)
    .join("");
}

describe("git patches", () => {
  test("hunks, numbers and the text after the marks", () => {
    const patch =
      "--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@ function f() {\n a\n-b\n+c\n+d\n e\n@@ -20 +21 @@\n-x\n+y\n\\ No newline at end of file\n";
    expect(parsePatch(patch).map(({ kind, oldNumber, newNumber, text }) => [kind, oldNumber, newNumber, text])).toEqual(
      [
        ["gap", undefined, undefined, "function f() {"],
        ["same", 3, 3, "a"],
        ["removed", 4, undefined, "b"],
        ["added", undefined, 4, "c"],
        ["added", undefined, 5, "d"],
        ["same", 5, 6, "e"],
        ["gap", undefined, undefined, ""],
        ["removed", 20, undefined, "x"],
        ["added", undefined, 21, "y"],
      ],
    );
  });

  test("lines that look like heads of hunks or files are content inside a hunk", () => {
    const patch = "@@ -1,2 +1,2 @@\n-@@ -1 +1 @@\n+--- a/x\n same\n";
    // No line is hidden above the first one.
    expect(parsePatch(patch).map(({ kind, text }) => [kind, text])).toEqual([
      ["removed", "@@ -1 +1 @@"],
      ["added", "--- a/x"],
      ["same", "same"],
    ]);
  });

  test("a patch of the library gives both texts", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "--- x", "+++ y", "@@ -1 +1 @@", ""), { maxLength: 12 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [oldText, newText] = [before, after].map((lines) => lines.map((line) => `${line}\n`).join("")) as [
          string,
          string,
        ];
        const lines = parsePatch(createTwoFilesPatch("a", "b", oldText, newText, "", "", { context: 100 }));
        if (oldText === newText) return;
        expect(join(lines, "removed")).toBe(oldText);
        expect(join(lines, "added")).toBe(newText);
      }),
    );
  });

  test.each(["", "no patch", "@@ -x +y @@\n+a", "@@ -1,99999 +1 @@\n a", "@@"])("%j is no error", (patch) => {
    expect(() => parsePatch(patch)).not.toThrow();
  });
});

describe("replacements", () => {
  test("the changed part of a line is marked", () => {
    const [removed, added] = toReplacementLines("return jsonify([])\n", "return jsonify(read())\n", 7);
    expect(removed).toMatchObject({ oldNumber: 7, text: "return jsonify([])", changed: [15, 17] });
    expect(added).toMatchObject({ newNumber: 7, text: "return jsonify(read())", changed: [15, 21] });
  });

  test("a different line is not marked as a changed one", () => {
    expect(toReplacementLines("alpha", "zeta", 1).some(({ changed }) => changed !== undefined)).toBe(false);
  });

  test("an insertion has no removed lines", () => {
    expect(toReplacementLines("", "a\nb\n", 4).map(({ kind, newNumber }) => [kind, newNumber])).toEqual([
      ["added", 4],
      ["added", 5],
    ]);
  });
});

test("side by side, removed lines are next to those that replace them", () => {
  const lines = parsePatch("@@ -2,4 +2,4 @@\n a\n-b\n-c\n+d\n e\n+f\n");
  expect(toPairs(lines).map(({ left, right }) => [left?.text, right?.text])).toEqual([
    ["", ""],
    ["a", "a"],
    ["b", "d"],
    ["c", undefined],
    ["e", "e"],
    [undefined, "f"],
  ]);
});

test(verifies(["X29", "S-60"], "only a line of its own begins a hunk, whatever a file calls a line"), () => {
  const hunks = ["\r", "\u2028", "\u2029", "\v", "\u0085"].map((end, index) => {
    const [from, fake] = [index * 10 + 1, "@@ -1,1 +1,1 @@"];
    return `@@ -${from},1 +${from},1 @@\n-a${end}${fake}\n+b${end}${fake}\n`;
  });
  const read = parseHunks(`--- a/x\n+++ b/x\n${hunks.join("")}`);
  expect(read.map(({ lines }) => lines.map(({ text }) => text))).toEqual(
    hunks.map((hunk) =>
      hunk
        .split("\n")
        .slice(1, 3)
        .map((line) => line.slice(1)),
    ),
  );
});
