import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toNearestColour } from "../../src/terminal/colours.ts";
import { createTerminalText, type TerminalLine } from "../../src/terminal/terminal-text.ts";
import { verifies } from "../../../../test/support/verifies.ts";

function read(...outputs: readonly string[]): readonly TerminalLine[] {
  const text = createTerminalText();
  let output = "";
  for (const more of outputs) {
    output += more;
    text.update(output);
  }
  return text.lines;
}

function readPlain(output: string): string[] {
  return read(output).map((line) => line.map(({ text }) => text).join(""));
}

describe("output of commands", () => {
  test.each([
    ["lines", "a\nb\n", ["a", "b"]],
    ["line ends of other systems", "a\r\nb\r\n", ["a", "b"]],
    ["progress that writes over itself", "10 %\r50 %\r100 %\n", ["100 %"]],
    ["a shorter text over a longer one", "abcdef\rxy\n", ["xycdef"]],
    ["erase to the end of the line", "abcdef\rxy\u001B[K\n", ["xy"]],
    ["backspace", "abc\b\bX\n", ["aXc"]],
    ["movements are dropped", "a\u001B[2Ab\u001B[10;10Hc\u001B[?25l\n", ["abc"]],
    [
      "titles and links are dropped",
      "\u001B]0;title\u0007a\u001B]8;;https://evil.example\u001B\\b\u001B]8;;\u001B\\\n",
      ["ab"],
    ],
    ["other strings are dropped", "a\u001BPq#0;2;0\u001B\\b\u001B_x\u001B\\c\n", ["abc"]],
    ["controls are dropped", "a\u0000\u0007\u009B31mb\n", ["a31mb"]],
    ["tabs stay", "a\tb\n", ["a\tb"]],
    ["text without an end", "a\nb", ["a", "b"]],
    ["nothing", "", []],
  ])("%s", (_name, output, lines) => {
    expect(readPlain(output)).toEqual(lines);
  });

  test("colours and styles become class names", () => {
    const [line] = read("\u001B[1;31mbold red\u001B[0m plain \u001B[44mon blue\u001B[m\u001B[7mreverse\u001B[0m\n");
    expect(line).toEqual([
      { text: "bold red", style: "front-red text-bold" },
      { text: " plain ", style: "" },
      { text: "on blue", style: "back-blue" },
      { text: "reverse", style: "back-white" },
    ]);
  });

  test("a style continues across lines", () => {
    expect(read("\u001B[32ma\nb\u001B[0m\n").map((line) => line[0]!.style)).toEqual(["front-green", "front-green"]);
  });

  test(verifies("S-60", "invalid parameters do not become class names"), () => {
    const [line] = read('\u001B[38;5;999;"><b>mx\u001B[=1mx\u001B[99999999999mx\n');
    for (const { style } of line!) expect(style).toMatch(/^[a-z -]*$/);
  });

  test("complete lines keep their identity", () => {
    const text = createTerminalText();
    text.update("a\nb");
    const [first] = text.lines;
    text.update("a\nbc\nd");
    expect(text.lines[0]).toBe(first);
  });

  test("different output starts anew", () => {
    const text = createTerminalText();
    text.update("\u001B[31mabc\n");
    text.update("xyz\n");
    expect(text.lines).toEqual([[{ text: "xyz", style: "" }]]);
  });

  test("pieces give the same lines as the whole", () => {
    const part = fc.constantFrom(
      "a",
      "bc",
      "\n",
      "\r",
      "\r\n",
      "\b",
      "\u001B[31m",
      "\u001B[0;1m",
      "\u001B[K",
      "\u001B]0;t\u0007",
      "\u001B",
      "[",
      "3",
      "é",
      "😀",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), fc.integer({ min: 1, max: 5 }), (parts, size) => {
        const whole = `${parts.join("")}.`;
        expect(read(...(whole.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? []))).toEqual(read(whole));
      }),
    );
  });
});

describe("colours", () => {
  test.each([
    ["ansi-red", null, "red"],
    ["ansi-bright-cyan", null, "bright-cyan"],
    ["ansi-palette-9", null, "bright-red"],
    ["ansi-palette-208", null, "bright-yellow"],
    ["ansi-palette-240", null, "bright-black"],
    ["ansi-palette-255", null, "bright-white"],
    ["ansi-truecolor", "10, 200, 30", "green"],
    ["ansi-truecolor", "nonsense", "black"],
    ["ansi-nonsense", null, undefined],
    ["", null, undefined],
    [null, null, undefined],
  ])("%j %j: %j", (name, trueColour, expected) => {
    expect(toNearestColour(name, trueColour)).toBe(expected);
  });
});
