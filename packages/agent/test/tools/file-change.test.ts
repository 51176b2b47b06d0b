import { applyPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { MAX_CONTENT_BYTES, toCreateChange, toEditChange } from "../../src/tools/file-change.ts";
import { toChangedLines } from "../../src/tools/text-region.ts";

const path = { absolute: "/w/a b.txt", relative: "a b.txt", named: "a b.txt" };
const toState = (text: string) => ({ text, bytes: Buffer.byteLength(text), hash: `hash of ${text.length}` });
const edit = (before: string, after: string) =>
  toEditChange(path, toState(before), toState(after), toChangedLines(before, after));

const lines = fc
  .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 30 })
  .chain((parts) => fc.constantFrom(parts.join("\n"), `${parts.join("\n")}\n`, parts.join("\r\n")));

test("a patch makes the new text of the old one, wherever the change is", () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      fc.pre(before !== after);
      const { patch, linesAdded, linesRemoved } = edit(before, after);
      expect(applyPatch(before, patch!, { autoConvertLineEndings: false })).toBe(after);
      expect(linesAdded + linesRemoved).toBeGreaterThan(0);
    }),
  );
});

test(verifies("N31", "the diff stands where it says"), () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      fc.pre(before !== after);
      const { oldString, newString, startLine, endLine } = edit(before, after).diff!;
      const all = before.split(/(?<=\n)/);
      const head = all.slice(0, startLine - 1).join("");
      expect(head + newString + before.slice(head.length + oldString.length)).toBe(after);
      expect(all.slice(startLine - 1, endLine).join("")).toBe(oldString);
    }),
  );
});

test("a patch of a new file makes it out of nothing", () => {
  const { patch } = toCreateChange(path, toState("a\nb"));
  expect(applyPatch("", patch!)).toBe("a\nb");
});

test(verifies("N34", "a diff above the limit is left out, not cut"), () => {
  const before = "x\n".repeat(MAX_CONTENT_BYTES / 4);
  const change = edit(before, "y\n".repeat(MAX_CONTENT_BYTES / 2));
  expect(change.diff).toBeUndefined();
  expect(change.patch).toBeUndefined();
  expect(change.linesAdded).toBe(MAX_CONTENT_BYTES / 2);
});

test("a small change of a large file costs little", () => {
  const before = "line\n".repeat(1_000_000);
  const after = `${before.slice(0, 2_500_000)}new\n${before.slice(2_500_000)}`;
  const change = edit(before, after);
  expect(change).toMatchObject({ linesAdded: 1, linesRemoved: 0 });
  expect(change.after).toBeUndefined();
  expect(change.patch!.length).toBeLessThan(200);
});
