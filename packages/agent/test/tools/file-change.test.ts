import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { MAX_CONTENT_BYTES, toEditChange } from "../../src/tools/file-change.ts";
import { toChangedLines } from "../../src/tools/text-region.ts";

const path = { absolute: "/w/a b.txt", relative: "a b.txt", named: "a b.txt" };
const toState = (text: string) => ({ text, bytes: Buffer.byteLength(text), hash: `hash of ${text.length}` });
const edit = (before: string, after: string) =>
  toEditChange(path, toState(before), toState(after), toChangedLines(before, after));

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
