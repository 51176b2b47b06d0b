import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { BlockStructure } from "../src/block-structure.ts";
import { type ParsedSegment, parseText } from "../src/text-parser.ts";
import { markdownText } from "./markdown-arbitrary.ts";
import {
  type OracleSegment,
  toCommonmarkFences,
  toMicromarkFences,
  toNestedCommonmarkFences,
  toOracleSegments,
} from "./markdown-oracle.ts";
import { parseChunks } from "./text-cuttings.ts";

/** `SHEAF_SOAK=1` is the full figure. */
const runs = chooseRuns(2000, 10_000);
const seed = 20_260_923;

/** The info string as far as the segment tells it: a nested path keeps its blanks, a language stands for itself. */
function toOracleForm(segment: ParsedSegment): OracleSegment {
  const { content, closed } = segment;
  if (segment.type === "text") return { type: "text", info: "", content, closed };
  if (segment.type === "code_block") return { type: "fence", info: segment.info ?? segment.language, content, closed };
  const { startLine, endLine, filePath } = segment;
  return { type: "fence", info: `${startLine}:${endLine}:${filePath}`, content, closed };
}

describe("against complete CommonMark parsers", () => {
  test(verifies(["N15", "N16", "N17", "N18", "N24"], `${runs} texts have the top-level fences of micromark`), () => {
    let disagreements = 0;
    fc.assert(
      fc.property(markdownText, (text) => {
        const ours = parseText(text).map(toOracleForm);
        const byMicromark = toOracleSegments(text, toMicromarkFences(text));
        if (JSON.stringify(ours) === JSON.stringify(byMicromark)) return;
        // micromark takes some lines behind a container wrongly; there the reference implementation decides.
        disagreements += 1;
        const byCommonmark = toOracleSegments(text, toCommonmarkFences(text));
        expect(byCommonmark, "micromark and commonmark.js agree against us").not.toEqual(byMicromark);
        expect(ours).toEqual(byCommonmark);
      }),
      { numRuns: runs, seed },
    );
    expect(disagreements).toBeLessThan(runs / 500);
  });

  test(verifies(["N16", "N17", "N24"], `${runs} texts have the top-level fences of commonmark.js`), () => {
    fc.assert(
      fc.property(markdownText, (text) => {
        expect(parseText(text).map(toOracleForm)).toEqual(toOracleSegments(text, toCommonmarkFences(text)));
      }),
      { numRuns: runs, seed: seed + 1 },
    );
  });

  test(verifies(["N16", "N17"], "a bullet with a control character behind it is no list item"), () => {
    const controls = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code));
    for (const control of [...controls, "\u007F", "\u0085", "\u00A0"]) {
      for (const bullet of ["-", "*", "+", "1."]) {
        const text = `${bullet}${control}one\n  \`\`\`js\n  two\n  \`\`\`\n`;
        const expected = toOracleSegments(text, toMicromarkFences(text));
        expect(parseText(text).map(toOracleForm), JSON.stringify(text)).toEqual(expected);
      }
    }
  });

  test(verifies(["N17"], `${runs} texts have the nested fences of commonmark.js`), () => {
    fc.assert(
      fc.property(markdownText, (text) => {
        const expected = toNestedCommonmarkFences(text);
        const ours = parseText(text).flatMap(({ content, codeBlocks = [] }) =>
          codeBlocks.map(({ offset, length }) => content.slice(offset, offset + length)),
        );
        expect(ours.length).toBe(expected.length);
        for (const [at, lines] of expected.entries()) {
          // The oracle gives whole lines; blanks at the end of a text are cut off from ours.
          const ownLines = ours[at] ?? "";
          expect(ownLines).toMatch(/^(```|~~~)/);
          expect(lines.trimEnd().endsWith(ownLines.trimEnd())).toBe(true);
        }
      }),
      { numRuns: runs, seed: seed + 2 },
    );
  });

  test(verifies(["N25"], `${runs} texts give the same segments however they are cut`), () => {
    fc.assert(
      fc.property(markdownText, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (text, lengths) => {
        const chunks: string[] = [];
        for (let at = 0, round = 0; at < text.length; round += 1) {
          const length = lengths[round % lengths.length] ?? 1;
          chunks.push(text.slice(at, at + length));
          at += length;
        }
        expect(parseChunks(chunks)).toEqual(parseText(text));
      }),
      { numRuns: runs, seed: seed + 3 },
    );
  });
});

describe("lines", () => {
  test("a beginning stands for its line", () => {
    const structure = new BlockStructure();
    structure.takeLine("- a");
    expect(structure.needsWholeLine()).toBe(false);
    structure.takeLine("  <div>");
    expect(structure.needsWholeLine()).toBe(true);
    structure.takeLine("");
    expect(structure.needsWholeLine()).toBe(false);
    structure.takeLine("[a]:");
    expect(structure.needsWholeLine()).toBe(true);
    structure.takeLine("");
    expect(structure.needsWholeLine()).toBe(false);
    structure.takeLine("[a](b) is no definition");
    expect(structure.needsWholeLine()).toBe(false);
  });

  test(verifies(["N17"], "only a fence outside of containers can open at the top level"), () => {
    const structure = new BlockStructure();
    expect([0, 3, 4].map((indent) => structure.canOpenFence(indent))).toEqual([true, true, false]);
    structure.takeLine("- a");
    expect([0, 1, 2, 3].map((indent) => structure.canOpenFence(indent))).toEqual([true, true, false, false]);
    structure.takeLine("> a");
    expect([0, 3].map((indent) => structure.canOpenFence(indent))).toEqual([true, true]);
    structure.takeLine("<div>");
    expect([0, 3].map((indent) => structure.canOpenFence(indent))).toEqual([false, false]);
  });

  test.each([". a", ") a", "1a. b"])(verifies(["N16", "N17"], "%j opens no list item"), (line) => {
    const structure = new BlockStructure();
    structure.takeLine(line);
    expect(structure.canOpenFence(3)).toBe(true);
  });

  test(verifies(["N16", "N17"], "an open fence tells its place and its closing line"), () => {
    const structure = new BlockStructure();
    expect(structure.takeLine("> - ~~~~ js ")).toBe(false);
    expect(structure.fence).toEqual({ marks: "~~~~", offset: 4, indent: 0, info: "js", depth: 2 });
    expect(structure.takeLine(">   ~~~")).toBe(false);
    expect(structure.takeLine(">   ~~~~~ ")).toBe(true);
    expect(structure.fence).toBeUndefined();
  });
});
