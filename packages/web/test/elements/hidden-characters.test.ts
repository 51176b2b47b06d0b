import { describe, expect, test } from "vitest";
import { toVisibleParts, toVisibleText } from "../../src/elements/hidden-characters.ts";
import { verifies } from "../../../../test/support/verifies.ts";

function show(text: string): string {
  return toVisibleParts(text)
    .map((part) => (part.code === undefined ? part.text : `<${part.code}>`))
    .join("");
}

describe("hidden characters", () => {
  test.each([
    ["reordering marks", "rm \u202Efdp.exe\u202C", "rm <U+202E>fdp.exe<U+202C>"],
    ["isolates", "a\u2066b\u2069", "a<U+2066>b<U+2069>"],
    ["zero width", "a\u200Bb\u200Dc\uFEFFd", "a<U+200B>b<U+200D>c<U+FEFF>d"],
    ["blanks that are none", "a\u00A0b\u3000c\u2800d", "a<U+00A0>b<U+3000>c<U+2800>d"],
    ["controls", "a\u0000\u001B[31m\u007F", "a<U+0000><U+001B>[31m<U+007F>"],
    ["carriage return", "a\rb", "a<U+000D>b"],
    ["line separators", "a\u2028b", "a<U+2028>b"],
    ["tags", "a\u{E0041}b", "a<U+E0041>b"],
    ["variation selectors and fillers", "a\uFE0F\u3164", "a<U+FE0F><U+3164>"],
    ["private use and halves", "\uE000\uD800", "<U+E000><U+D800>"],
    ["runs of blanks", `a${" ".repeat(80)}b`, "a<U+0020 ×80>b"],
    ["runs of lines", "a\n\n\n\n\n\nb", "a<U+000A ×6>b"],
    ["what is plain stays", "echo 'ä 漢字 😀'\n\tnext  line\n\n", "echo 'ä 漢字 😀'\n\tnext  line\n\n"],
    ["nothing", "", ""],
  ])(verifies("S-16", "%s"), (_name, text, shown) => {
    expect(show(text)).toBe(shown);
  });

  test(verifies("S-16", "titles of notifications show them too"), () => {
    expect(toVisibleText("Fix \u202Etxt.exe\u202C")).toBe("Fix U+202Etxt.exeU+202C");
  });

  test("nothing is lost", () => {
    const text = "a\u202Eb\u0000c    d\n";
    expect(
      toVisibleParts(text)
        .map((part) => part.text)
        .join(""),
    ).toBe(text);
  });
});
