import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseRuns } from "../../../../test/support/soak.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { addLineNumbers } from "@sheaf/base/files/numbered-lines";
import { foldText } from "../../src/tools/edit-matching-fold.ts";
import type { MatchRule } from "../../src/tools/edit-matching-rules.ts";
import { applyEdits, type EditResult } from "../../src/tools/edit-matching.ts";
import type { TextRegion } from "../../src/tools/text-region.ts";

function runEdit(text: string, oldString: string, newString: string, replaceAll?: boolean): EditResult {
  return applyEdits("f.txt", text, [{ oldString, newString, replaceAll }]);
}

/** N31: the old text with one part of it replaced. */
function replaceRegion(before: string, after: string, { start, endBefore, endAfter }: TextRegion): string {
  return before.slice(0, start) + after.slice(start, endAfter) + before.slice(endBefore);
}

type Fitting = readonly [
  title: string,
  rule: MatchRule,
  text: string,
  oldString: string,
  newString: string,
  after: string,
];

const python = "def f(x):\n    if x:\n        return 1\n    return 2\n";

const fitting: readonly Fitting[] = [
  // exact
  ["a whole line", "exact", "a\nb\nc\n", "b", "x", "a\nx\nc\n"],
  ["a part of a line", "exact", "one two three\n", "two", "2", "one 2 three\n"],
  ["the whole text", "exact", "abc", "abc", "x", "x"],
  ["several lines", "exact", "a\nb\nc\nd\n", "b\nc", "x", "a\nx\nd\n"],
  ["a line with its end", "exact", "a\nb\nc\n", "b\n", "", "a\nc\n"],
  ["the end without line end", "exact", "a\nb", "b", "c", "a\nc"],
  ["nothing remains", "exact", "a", "a", "", ""],
  ["a new string with $ and backslashes", "exact", "a\n", "a", "$& $1 \\n $$", "$& $1 \\n $$\n"],
  ["an old string that looks like a pattern", "exact", "a.c abc\n", "a.c", "x", "x abc\n"],
  ["blanks only", "exact", "a  b\n", "  ", " ", "a b\n"],
  ["a line end only", "exact", "a\nb", "\n", " ", "a b"],
  ["characters of four bytes", "exact", "a 🎈 b\n", "🎈", "🎉", "a 🎉 b\n"],
  ["trailing blanks as they stand", "exact", "a  \nb\n", "a  \n", "a\n", "a\nb\n"],
  ["case counts", "exact", "Foo foo\n", "foo", "x", "Foo x\n"],
  ["exact wins over what the other rules would find", "exact", "  a\na\n", "\na\n", "\nb\n", "  a\nb\n"],
  ["a CRLF file and one line", "exact", "a\r\nb\r\n", "b", "c", "a\r\nc\r\n"],
  ["a CRLF file gets CRLF in new lines", "exact", "a\r\nb\r\n", "b", "c\nd", "a\r\nc\r\nd\r\n"],
  ["the last line of a CRLF file without line end", "exact", "a\r\nb", "b", "c\nd", "a\r\nc\r\nd"],
  ["line ends of a CRLF file can be changed by quoting them", "exact", "a\r\nb\r\n", "a\r\n", "a\n", "a\nb\r\n"],
  ["mixed line ends: those of the place", "exact", "a\nb\r\nc\n", "b", "x\ny", "a\nx\r\ny\r\nc\n"],
  ["mixed line ends: those of the place, LF", "exact", "a\nb\r\nc\n", "c", "x\ny", "a\nb\r\nx\ny\n"],
  // line ends and trailing blanks
  ["LF quoted, CRLF in the file", "trailing_blanks", "a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n", "x\r\ny\r\nc\r\n"],
  ["CRLF quoted, LF in the file", "trailing_blanks", "a\nb\nc\n", "a\r\nb", "x\r\ny", "x\ny\nc\n"],
  ["blanks in the file", "trailing_blanks", "a  \nb\nc\n", "a\nb", "x", "x\nc\n"],
  ["a tab in the file", "trailing_blanks", "a\t\nb\nc\n", "a\nb", "x", "x\nc\n"],
  ["blanks in the old string", "trailing_blanks", "a\nb\nc\n", "a  \nb", "x", "x\nc\n"],
  ["blanks at the end of the old string", "trailing_blanks", "a\nb\nc\n", "a\nb   ", "x", "x\nc\n"],
  ["blanks behind the last line of the place go, too", "trailing_blanks", "a \nb  \nc\n", "a\nb", "x", "x\nc\n"],
  ["a line of blanks in the file", "trailing_blanks", "a\n    \nb\n", "a\n\nb", "x", "x\n"],
  ["a line of blanks in the old string", "trailing_blanks", "a\n\nb\n", "a\n  \nb", "x", "x\n"],
  ["a place that begins inside a line", "trailing_blanks", "f(a, \nb)\n", "a,\nb", "c", "f(c)\n"],
  ["a place that ends inside a line", "trailing_blanks", "x \ny = 1\n", "x\ny", "z", "z = 1\n"],
  ["a file that ends without line end", "trailing_blanks", "a\nb  \nc", "b\nc", "x", "a\nx"],
  ["blanks at the end of the file", "trailing_blanks", "a\nb \nc  ", "b\nc", "x", "a\nx"],
  ["an old string that begins with a line end", "trailing_blanks", "a \r\nb\r\n", "\nb\n", "\nc\n", "a \r\nc\r\n"],
  // indentation
  ["too little quoted", "indentation", python, "if x:\n    return 1", "if not x:\n    return 0", "def f(x):\n    if not x:\n        return 0\n    return 2\n"],
  ["too much quoted", "indentation", "a:\n  b\n", "    a:\n      b", "    c:\n      d", "c:\n  d\n"],
  ["tabs in front", "indentation", "\ta {\n\t\tb\n\t}\n", "a {\n\tb\n}", "c {\n\td\n}", "\tc {\n\t\td\n\t}\n"],
  ["tabs for blanks", "indentation", "if x {\n\tfoo\n\t\tbar\n}\n", "if x {\n    foo\n        bar", "if x {\n    foo\n      baz\n", "if x {\n\tfoo\n\t  baz\n\n}\n"],
  ["blanks for tabs", "indentation", "a\n  b\n    c\n", "a\n\tb\n\t\tc", "a\n\tx\n\t\t\ty", "a\n  x\n      y\n"],
  ["blank lines stay blank", "indentation", "  a\n\n  b\n", "a\n\nb", "c\n\nd", "  c\n\n  d\n"],
  ["blank lines of the file may hold blanks", "indentation", "  a\n  \n  b\n", "a\n\nb", "c\nd", "  c\n  d\n"],
  ["with CRLF", "indentation", "  a\r\n    b\r\n", "a\n  b", "c\n  d", "  c\r\n    d\r\n"],
  ["with trailing blanks", "indentation", "  a  \n    b\n", "a\n  b", "c", "  c\n"],
  ["with the last line end", "indentation", "x\n  a\n  b\ny\n", "a\nb\n", "c\n", "x\n  c\ny\n"],
  ["lines that go", "indentation", "x\n  a\n  b\ny\n", "a\nb\n", "", "x\ny\n"],
  ["at the end of a file without line end", "indentation", "x\n  a\n  b", "a\nb", "c", "x\n  c"],
  ["new lines deeper than the old ones", "indentation", "  a\n  b\n", "a\nb", "a\n  c\nb", "  a\n    c\n  b\n"],
  ["an old string that begins with a blank line", "indentation", "x\n\n  a\n  b\n", "\na\nb", "\nc", "x\n\n  c\n"],
  ["a file that begins with a blank line", "indentation", "\n  a\n  b\nc\n", "\na\nb", "\nx\ny", "\n  x\n  y\nc\n"],
  ["a CRLF file that begins with a blank line", "indentation", "\r\n  a\r\n  b\r\n", "\na\nb", "x", "  x\r\n"],
  // typography
  ["double quotes", "typography", "He said “hi” to all\n", 'said "hi" to', 'said "bye" to', "He said “bye” to all\n"],
  ["an apostrophe", "typography", "it’s 5 o’clock\n", "it's 5", "it's 6", "it’s 6 o’clock\n"],
  ["letters with marks in one piece and in two", "typography", "schön, e\u0301t\u00e9\n", "scho\u0308n, \u00e9te\u0301", "gut", "gut\n"],
  ["an apostrophe in the old string only", "typography", "it's\n", "it’s", "its", "its\n"],
  ["a dash", "typography", "1914–1918\n", "1914-1918", "1914-1919", "1914–1919\n"],
  ["a hyphen that does not break", "typography", "e\u2011mail\n", "e-mail", "mail", "mail\n"],
  ["a blank that does not break", "typography", "10\u00a0km\n", "10 km", "12 km", "12\u00a0km\n"],
  ["a dot sign", "typography", "wait…\n", "wait...", "stop...", "stop…\n"],
  ["a dot sign in the old string only", "typography", "wait...\n", "wait…", "stop…", "stop...\n"],
  ["several lines, with CRLF", "typography", "“a”\r\n“b”\r\n", '"a"\n"b"', '"a"\n"c"\n"d"', "“a”\r\n“c\"\r\n\"d”\r\n"],
  ["everything else of the line stays", "typography", "“a” – “b” – “c”\n", '"a" - "b"', '"a" - "x"', "“a” – “x” – “c”\n"],
]; // prettier-ignore

type Refused = readonly [
  title: string,
  code: string,
  message: RegExp,
  text: string,
  oldString: string,
  newString: string,
  replaceAll?: true,
];

const refused: readonly Refused[] = [
  ["two exact places", "AMBIGUOUS_EDIT", /2 places, at lines 1, 3: /, "a\nb\na\n", "a", "x"],
  ["two places in one line", "AMBIGUOUS_EDIT", /2 places, at lines 1: /, "a a\n", "a", "x"],
  ["overlapping places", "AMBIGUOUS_EDIT", /2 places/, "aaa", "aa", "x"],
  ["many places", "AMBIGUOUS_EDIT", /30 places, at lines 1, 2, .*, 20, …/, "a\n".repeat(30), "a", "x"],
  ["very many places", "AMBIGUOUS_EDIT", /1000 or more places/, "a\n".repeat(5000), "a", "x"],
  ["two places but for trailing blanks", "AMBIGUOUS_EDIT", /2 places \(line ends/, "a \nb\na  \nb\n", "a\nb", "x"],
  ["two places but for indentation", "AMBIGUOUS_EDIT", /2 places \(indent.* 1, 3/, "  a\n  b\n    a\n    b\n", "a\nb", "x"],
  ["two places but for typography", "AMBIGUOUS_EDIT", /2 places \(typo/, "“a”\n«b»\n„a“\n", '"a"', "x"],
  ["all places, but not exact ones", "AMBIGUOUS_EDIT", /exact places only/, "a \nb\na  \nb\n", "a\nb", "x", true],
  ["not there", "NO_MATCH", /not in the file: read/, "a\nb\n", "zzz zzz", "x"],
  ["an empty file", "NO_MATCH", /which is empty/, "", "a", "x"],
  ["first and last line fit, the middle does not", "NO_MATCH", /nearest place is at line 1/, "begin\none\nend\n", "begin\ntwo\nend", "x"],
  ["one letter differs", "NO_MATCH", /nearest place is at line 2/, "a\nconst total = 1;\n", "const totals = 1;", "x"],
  ["case differs", "NO_MATCH", /nearest place is at line 1/, "Return\n", "return", "x"],
  ["blanks inside a line differ", "NO_MATCH", /nearest/, "a  =  b\n", "a = b", "x"],
  ["indentation differs from line to line", "NO_MATCH", /nearest place is at line 1/, "  a1\n    b1\n", "a1\nb1", "x"],
  ["a place that cannot be shifted beside one that can", "NO_MATCH", /nearest/, " a1\n\n b1\na1\n\nb1\n", "  a1\n\n  b1", "  a1\n x\n  b1"],
  ["brackets alone under another indentation", "NO_MATCH", /./, "    }\n  }\n", "  }\n}", "x"],
  ["tabs for blanks of different numbers", "NO_MATCH", /nearest/, "\tfoo\n\tbar\n", "    foo\n  bar", "x"],
  ["tabs for blanks in a part of the lines", "NO_MATCH", /nearest/, "\tfoo\n  bar\n", "    foo\n    bar", "x"],
  ["tabs for blanks, and a tab in the new text", "NO_MATCH", /nearest/, "\tfoo\n", "  foo", "  foo\n \tbar"],
  ["a new line that cannot be shifted", "NO_MATCH", /nearest/, "a1:\n  b1\n", "    a1:\n      b1", "  c1:\n    d"],
  ["a line more in between", "NO_MATCH", /nearest/, "foo\n\nbar\n", "foo\nbar", "x"],
  ["a trailing blank that means something", "NO_MATCH", /nearest/, "return x;\n", "return x ", "return y "],
  ["part of a dot sign", "NO_MATCH", /not in the file/, "wait…\n", "wait..", "x"],
  ["line numbers of other lines", "NO_MATCH", /line numbers out/, "foo\nbar\n", "1\tfoo\n2\tbaz", "x"],
  ["line numbers of other lines in the new text", "NO_MATCH", /line numbers out/, "foo\nbar\n", "1\tfoo\n2\tbar", "x\n7\tbar"],
  ["line numbers that do not count up", "NO_MATCH", /line numbers out/, "foo\nbar\n", "1\tfoo\n5\tbar", "x"],
  ["blank lines where there are none", "NO_MATCH", /not in the file/, "a\nb\n", "\n\n\n", "x"],
  ["made already", "NO_MATCH", /new_string is, at line 2/, "a\nfoo(2)\n", "foo(1)", "foo(2)"],
  ["a short new text elsewhere, by chance", "NO_MATCH", /nearest place is at line 1/, `const total = 1;\n${"b\n".repeat(9)}x\n`, "const totals = 1;", "x"],
  ["made already at another line, and long", "NO_MATCH", /new_string is, at line 10/, `foo(1)\n${"b\n".repeat(8)}${"long ".repeat(20)}\n`, "foo(2)", "long ".repeat(20)],
  ["old and new are the same", "NOTHING_TO_CHANGE", /are the same/, "a\n", "a", "a"],
  ["the file is so already but for blanks", "NOTHING_TO_CHANGE", /line 1 is already/, "  a\n  b\n", "a \nb", "a\nb"],
  ["an empty old string and a file that is not empty", "EMPTY_OLD_STRING", /the file is not: quote/, "a\n", "", "x"],
  ["half a surrogate pair to be found", "INVALID_EDIT", /surrogate/, "🎈\n", "\ud83c", "x"],
  ["half a surrogate pair to be written", "INVALID_EDIT", /surrogate/, "a\n", "a", "\ud83c"],
]; // prettier-ignore

describe("one edit", () => {
  test.each(fitting)("fits: %s (%s)", (_title, rule, text, oldString, newString, after) => {
    const result = runEdit(text, oldString, newString);
    expect(result).toMatchObject({ ok: true, text: after, matched: [rule] });
    if (result.ok) expect(replaceRegion(text, result.text, result.region)).toBe(after);
  });

  test.each(refused.map((row) => [row[0], row[1], row] as const))("is refused: %s (%s)", (_title, code, row) => {
    const [, , message, text, oldString, newString, replaceAll] = row;
    const result = runEdit(text, oldString, newString, replaceAll);
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(result.error.code).toBe(code);
    expect(result.error.message).toMatch(message);
    expect(result.error.message).toMatch(/^f\.txt/);
    expect(result.error.message).not.toContain("\n");
  });

  test("an empty old string fills an empty text", () => {
    expect(runEdit("", "", "a\n")).toMatchObject({
      ok: true,
      text: "a\n",
      region: { start: 0, endBefore: 0, endAfter: 2 },
    });
  });

  test("all exact places are replaced, without overlaps", () => {
    expect(runEdit("a b a\naaa", "aa", "x", true)).toMatchObject({ ok: true, text: "a b a\nxa" });
    expect(runEdit("a\na\n".repeat(2000), "a", "bb", true)).toMatchObject({ ok: true, text: "bb\nbb\n".repeat(2000) });
  });

  test("all places may be one place, by any rule", () => {
    expect(runEdit("a \nb\n", "a\nb", "x", true)).toMatchObject({
      ok: true,
      text: "x\n",
      matched: ["trailing_blanks"],
    });
  });

  test("the nearest place is shown with line numbers and bounded", () => {
    const line = `${"long ".repeat(100)}line`;
    const text = `${"filler\n".repeat(500)}alpha beta gamma\n${line}\ndelta\n`;
    const result = runEdit(text, `alpha beta gamma\n${line}!\nepsilon\n${"more\n".repeat(100)}`, "x");
    expect(result).toMatchObject({ ok: false, error: { code: "NO_MATCH" } });
    if (result.ok) return;
    const lines = result.error.details.split("\n");
    expect(lines[0]).toBe("501\talpha beta gamma");
    expect(lines.length).toBeLessThanOrEqual(13);
    expect(result.error.details.length).toBeLessThan(12 * 180);
  });
});

describe(verifies("N60", "line numbers that a model copied"), () => {
  test.each([
    ["of read_file", "2\tfoo\n3\tbar", "2\tfoo\n3\tnew\n4\tbar"],
    ["of other listings", "  2→foo\n  3→bar", "foo\nnew\nbar"],
    ["of grep_search", "2: foo\n3: bar", "foo\nnew\nbar"],
    ["in part of the new text", "2\tfoo\n3\tbar", "foo\nnew\n3\tbar"],
    ["on the first line alone, as read_file begins", "2\tfoo\nbar", "2\tfoo\nnew\nbar"],
    ["on the line that read_file numbers", "foo\n5\tbar", "foo\nnew\n5\tbar"],
  ])("are left out: %s", (_, oldString, newString) => {
    const result = runEdit("a\nfoo\nbar\n", oldString, newString);
    expect(result).toMatchObject({ ok: true, hadNumbers: true, text: "a\nfoo\nnew\nbar\n" });
  });

  test("are left out of any part that a model copies", () => {
    const lines = Array.from({ length: 23 }, (_, index) =>
      index % 4 === 2 ? "" : `${"\t".repeat(index % 3)}line ${index} {`,
    );
    const shown = addLineNumbers(`${lines.join("\n")}\n`, 1).split("\n");
    for (let start = 0; start < lines.length; start += 1) {
      for (let end = start + 2; end <= lines.length; end += 1) {
        const old = shown.slice(start, end).join("\n");
        const result = runEdit(`${lines.join("\n")}\n`, old, `${old}\nnew`);
        expect(result).toMatchObject({ ok: true, text: `${lines.toSpliced(end, 0, "new").join("\n")}\n` });
      }
    }
  });

  test("stay if the file has them", () => {
    const result = runEdit("1\tfoo\nfoo\n", "1\tfoo", "1\tbar");
    expect(result).toMatchObject({ ok: true, hadNumbers: false, text: "1\tbar\nfoo\n" });
  });
});

describe("several edits", () => {
  const edit = (oldString: string, newString: string) => ({ oldString, newString });

  test.each([
    ["later ones see what earlier ones made", "a\nb\n", [edit("a", "c"), edit("c\nb", "d")], "d\n"],
    ["an earlier edit may make a place unique", "x1 x2\n", [edit("x1", "y"), edit("x", "z")], "y z2\n"],
  ])("%s", (_title, text, edits, after) => {
    expect(applyEdits("f", text, edits)).toMatchObject({ ok: true, text: after, matched: ["exact", "exact"] });
  });

  const block = edit("a {\n  x;\n}", "b");
  test.each([
    ["if one does not fit", "a\nb\n", [edit("a", "c"), edit("nowhere", "d")], "NO_MATCH", /^f, edit 2 of 2: /],
    [
      "if an earlier edit took it away, though a softer rule would find it elsewhere",
      "a {\n  x;\n}\n  a {\n    x;\n  }\n",
      [block, { ...block, newString: "c" }],
      "NO_MATCH",
      /an earlier edit changed what old_string quotes/,
    ],
    ["if they take each other back", "a\n", [edit("a", "b"), edit("b", "a")], "NOTHING_TO_CHANGE", /./],
  ])("none is made, %s", (_title, text, edits, code, message) => {
    expect(applyEdits("f", text, edits)).toMatchObject({
      ok: false,
      error: { code, message: expect.stringMatching(message) as string },
    });
  });

  test(verifies("N31", "the region spans from the first to the last changed place of the text before"), () => {
    const before = "1\n2\n3\n4\n5\n";
    const result = applyEdits("f", before, [edit("4", "four"), edit("2", "")]);
    expect(result).toMatchObject({
      ok: true,
      text: "1\n\n3\nfour\n5\n",
      region: { start: 2, endBefore: 7, endAfter: 9 },
    });
  });
});

describe("any text", () => {
  const piece = fc.constantFrom(
    "a",
    "b",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "“",
    '"',
    "’",
    "'",
    "…",
    "...",
    "–",
    "-",
    "🎈",
    "}",
  );
  const someText = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));
  const someEdits = fc.array(
    fc.record({
      oldString: fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
      newString: fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
      replaceAll: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  );

  test(verifies("N31", "one exact replacement of the region gives the text after"), () => {
    fc.assert(
      fc.property(someText, someEdits, (text, edits) => {
        const result = applyEdits("f", text, edits);
        if (!result.ok) return;
        expect(replaceRegion(text, result.text, result.region)).toBe(result.text);
        expect(result.text).not.toBe(text);
        expect(result.text.isWellFormed()).toBe(true);
      }),
      { numRuns: chooseRuns(3000) },
    );
  });

  test("what is replaced differs from the old string in nothing but what the rules ignore", () => {
    const fold = (part: string) => foldText(part, { indentation: true, typography: true }).text;
    fc.assert(
      fc.property(someText, fc.array(piece, { minLength: 1, maxLength: 6 }), (text, pieces) => {
        const oldString = pieces.join("");
        const result = runEdit(text, oldString, "NEW");
        if (!result.ok) return;
        const replaced = text.slice(result.region.start, result.region.endBefore);
        expect(fold(replaced)).toBe(fold(oldString));
        if (result.matched[0] === "exact") expect(replaced).toBe(oldString);
      }),
      { numRuns: chooseRuns(5000) },
    );
  });

  test("a part that stands once is found exactly, and only it changes", () => {
    fc.assert(
      fc.property(someText, fc.nat(), fc.nat(), (text, from, length) => {
        const start = from % (text.length + 1);
        const oldString = text.slice(start, start + 1 + (length % 20));
        fc.pre(oldString !== "" && oldString.isWellFormed());
        const isOnce = text.indexOf(oldString) === text.lastIndexOf(oldString);
        const result = runEdit(text, oldString, "NEW");
        expect(result.ok).toBe(isOnce);
        if (!result.ok) return;
        expect(result.matched).toEqual(["exact"]);
        expect(result.text).toBe(text.replace(oldString, "NEW"));
      }),
      { numRuns: chooseRuns(2000) },
    );
  });

  test("a block is found under any uniform indentation, line end and trailing blanks", () => {
    const line = fc
      .tuple(fc.constantFrom("", "  ", "    ", "\t"), fc.stringMatching(/^[a-z]{6,9}$/))
      .map((parts) => parts.join(""));
    const lines = fc.uniqueArray(line, { minLength: 2, maxLength: 6, selector: (text) => text.trim() });
    const blanks = fc.constantFrom("", " ", "\t", "   ");
    fc.assert(
      fc.property(lines, blanks, blanks, fc.constantFrom("\n", "\r\n"), (block, shift, trailing, lineEnd) => {
        const text = ["start", ...block.map((entry) => shift + entry + trailing), "end", ""].join(lineEnd);
        const result = runEdit(text, block.join("\n"), "NEW\n  DEEP");
        expect(result).toMatchObject({ ok: true });
        if (!result.ok) return;
        expect(result.text.split(lineEnd)[1]).toBe(`${shift}NEW`);
        expect(result.text.split(lineEnd).length).toBe(5);
      }),
      { numRuns: chooseRuns(500) },
    );
  });
});

describe("large texts", () => {
  test.each([
    ["lines of blanks", `${" ".repeat(200_000)}x\n`.repeat(10), "a\nb"],
    ["one letter", "a".repeat(2_000_000), `${"a".repeat(1000)}b\nc`],
    ["the same line", "}\n".repeat(500_000), `${"}\n".repeat(500)}x`],
    ["many line ends", "\n".repeat(2_000_000), "\n\nx\n\n"],
    ["typographic marks", "“”…".repeat(300_000), '"x"…'],
  ])("are searched in bounded time: %s", (_title, text, oldString) => {
    // Time of the processor: other work on the machine does not count.
    const start = process.threadCpuUsage();
    expect(runEdit(text, oldString, "x")).toMatchObject({ ok: false, error: { code: "NO_MATCH" } });
    const { user, system } = process.threadCpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(5000);
  });
});
