import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createOutputSink, foldControls } from "../../src/workspace/whole-output.ts";
import { createResults } from "./results-folder.ts";

describe("control sequences", () => {
  test.each([
    ["colours", "\u001b[31mred\u001b[0m \u001b[1;38;5;12mblue\u001b[m\n", "red blue\n"],
    ["a progress line", "10%\r50%\r100%\ndone\n", "100%\ndone\n"],
    ["line ends of Windows", "a\r\nb\r\r\nc", "a\nb\nc"],
    [
      "the spinner of npm",
      "\u001b[1G\u001b[0K⠙\u001b[1G\u001b[0K⠹\u001b[1G\u001b[0Kadded 5 packages\n",
      "added 5 packages\n",
    ],
    ["an erased line", "Resolving\u001b[2K\u001b[1GLinking\u001b[2K\u001b[GDone\n", "Done\n"],
    ["titles and links", "\u001b]0;title\u0007a \u001b]8;;https://e.org\u001b\\link\u001b]8;;\u001b\\\n", "a link\n"],
    ["a sequence without an end", "a \u001b]0;title\nb\n", "a \nb\n"],
    ["overstrikes", "N\bNA\bA_\bM\n", "NAM\n"],
    ["other controls", "a\0b\u0007c\td\u009b32me\u007f\n", "abc\tde\n"],
    ["nothing", "日本語 ü\t\n", "日本語 ü\t\n"],
  ])(verifies("N58", "%s"), (_, text, expected) => {
    expect(foldControls(text)).toBe(expected);
  });

  test(verifies("N58", "what is kept does not depend on how the text is cut, and folding ends"), () => {
    const piece = fc.constantFrom("a", "ü", "\n", "\r", "\r\n", "\u001b[31m", "50%", "\u001b[1G", "x".repeat(300));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const [sink, whole] = [createOutputSink(), createOutputSink()];
        for (const text of pieces) sink.append(Buffer.from(text));
        whole.append(Buffer.from(pieces.join("")));
        expect({ ...sink.end(), keep: 0 }).toEqual({ ...whole.end(), keep: 0 });
        const folded = foldControls(pieces.join(""));
        expect(foldControls(folded)).toBe(folded);
      }),
    );
  });

  test("a long line costs linear time", () => {
    const start = performance.now();
    foldControls(`\u001b[0m${"x\u001b".repeat(300_000)}${" ".repeat(300_000)}\b${"\r ".repeat(100_000)}`);
    foldControls("\u001b]".repeat(300_000));
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

describe("the whole of a text", () => {
  test(verifies("N57", "is in its file; long lines are wrapped there, and lines are counted as they are there"), () => {
    const { results, read } = createResults();
    const sink = createOutputSink({ results });
    const text = `first\n${"x".repeat(4000)}y\n${Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join("")}end`;
    for (let at = 0; at < text.length; at += 1000) sink.append(Buffer.from(text.slice(at, at + 1000)));
    const whole = sink.end();
    const file = whole.keep()!;
    const kept = read(file.name);
    expect(kept.split("\n").slice(0, 5)).toEqual(["first", "x".repeat(2000), "x".repeat(2000), "y", "line 0"]);
    expect(kept.replace(/x\n/g, "x")).toBe(text);
    expect(whole.bytes).toBe(text.length);
    expect([whole.lines, file.lines]).toEqual([kept.split("\n").length, kept.split("\n").length]);
    expect(text.startsWith(whole.head) && text.endsWith(whole.tail)).toBe(true);
  });

  test(verifies("N57", "one line without an end is wrapped, whatever its length"), () => {
    const { results, read } = createResults();
    const sink = createOutputSink({ results });
    for (let round = 0; round < 50; round += 1) sink.append(Buffer.from("日".repeat(1234)));
    const file = sink.end().keep()!;
    const kept = read(file.name).split("\n");
    expect(kept.join("")).toBe("日".repeat(50 * 1234));
    expect(kept.every((line) => line.length <= 2000)).toBe(true);
    expect(file.lines).toBe(kept.length);
  });

  test(verifies(["N57", "R-14"], "larger than a file may be: the file has the beginning, the rest is counted"), () => {
    const { results, read } = createResults();
    const sink = createOutputSink({ results });
    const lines = Buffer.from("a line of twenty cha\n".repeat(1000));
    for (let round = 0; round < 1000; round += 1) sink.append(lines);
    sink.append(Buffer.from("\u001b[32mthe end\u001b[0m"));
    const whole = sink.end();
    const file = whole.keep()!;
    const kept = read(file.name);
    expect(kept.length).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(kept.length).toBeGreaterThan(15 * 1024 * 1024);
    expect(file.lines).toBe(kept.split("\n").length - 1);
    expect(whole.lines).toBe(1_000_001);
    expect(whole.tail.endsWith("a line of twenty cha\nthe end")).toBe(true);
  });

  test("nothing is written for a text that nobody shortens", () => {
    const { results, read } = createResults();
    const sink = createOutputSink({ results });
    sink.append(Buffer.from("short\n"));
    const whole = sink.end();
    expect(whole).toMatchObject({ bytes: 6, lines: 1, head: "short\n", tail: "" });
    expect(read(whole.keep()!.name)).toBe("short\n");
    const nowhere = createOutputSink();
    nowhere.append(Buffer.from("x".repeat(200_000)));
    expect(nowhere.end().keep()).toBeUndefined();
  });
});
