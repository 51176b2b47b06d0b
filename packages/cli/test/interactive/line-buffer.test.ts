import type { Key } from "node:readline";
import { describe, expect, test } from "vitest";
import { editLine, emptyLine, insertText, moveLine, type Line } from "../../src/interactive/line-buffer.ts";

/** `|` marks the cursor. */
const toLine = (text: string): Line => ({ text: text.replace("|", ""), cursor: text.indexOf("|"), killed: "" });
const toText = ({ text, cursor }: Line): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`;
const press = (line: string, ...keys: readonly Key[]): string =>
  toText(keys.reduce((before, key) => editLine(before, key.sequence, key) ?? before, toLine(line)));

const key = (name: string, more: Omit<Key, "name"> = {}): Key => ({ name, ...more });
const ctrl = (name: string): Key => key(name, { ctrl: true });
const meta = (name: string): Key => key(name, { meta: true });

describe("a line", () => {
  test.each([
    ["ab|c", key("left"), "a|bc"],
    ["e\u0301x|", key("left"), "e\u0301|x"],
    ["👩‍👩‍👧|x", key("left"), "|👩‍👩‍👧x"],
    ["|👩‍👩‍👧x", key("right"), "👩‍👩‍👧|x"],
    ["日本|語", key("backspace"), "日|語"],
    ["日|本語", key("delete"), "日|語"],
    ["one\ntwo th|ree", ctrl("a"), "one\n|two three"],
    ["on|e\ntwo", ctrl("e"), "one|\ntwo"],
    ["|", ctrl("a"), "|"],
    ["\n|", ctrl("a"), "\n|"],
    ["git commit --am|end", ctrl("w"), "git commit |end"],
    ["see src/a.ts |", meta("backspace"), "see src/a.|"],
    ["|  größe x", meta("f"), "  größe| x"],
    ["one\ntwo| three", ctrl("u"), "one\n| three"],
    ["one| two\nthree", ctrl("k"), "one|\nthree"],
    ["one|\nthree", ctrl("k"), "one|three"],
    ["a|b", ctrl("j"), "a\n|b"],
    ["a|b", meta("return"), "a\n|b"],
    ["a|", key("x", { sequence: "x" }), "ax|"],
    ["a|", key("f1", { sequence: "\u001BOP" }), "a|"],
    ["|", key("backspace"), "|"],
    ["|", ctrl("d"), "|"],
  ])("%j and %j give %j", (before, pressed, after) => {
    expect(press(before, pressed)).toBe(after);
  });

  test("what was cut comes back", () => {
    expect(press("one two|", ctrl("w"), ctrl("a"), ctrl("y"))).toBe("two|one ");
  });

  test("up and down keep the column where the other line is long enough, and stay within characters", () => {
    expect(toText(moveLine(toLine("one\ntw|o"), -1)!)).toBe("on|e\ntwo");
    expect(toText(moveLine(toLine("a\nlonger|\nb"), 1)!)).toBe("a\nlonger\nb|");
    expect(toText(moveLine(toLine("👧👧\nab|c"), -1)!)).toBe("👧|👧\nabc");
    expect(moveLine(toLine("on|e"), -1)).toBeUndefined();
    expect(moveLine(toLine("on|e"), 1)).toBeUndefined();
  });

  test("text goes in at the cursor", () => {
    expect(toText(insertText(toLine("a|b"), "x\ny"))).toBe("ax\ny|b");
    expect(insertText(emptyLine, "")).toEqual(emptyLine);
  });
});
