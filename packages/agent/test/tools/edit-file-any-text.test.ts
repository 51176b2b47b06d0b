import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { applyPatch } from "diff";
import * as fc from "fast-check";
import type { FileChange } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { chooseRuns } from "../../../../test/support/soak.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { deleteFileTool } from "../../src/tools/delete-file.ts";
import { editFileTool } from "../../src/tools/edit-file.ts";
import { readFileTool } from "../../src/tools/read-file.ts";
import { renameFileTool } from "../../src/tools/rename-file.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { writeFileTool } from "../../src/tools/write-file.ts";
import { createFileToolContext, toChange } from "./file-tool-context.ts";

const MARK = "\ufeff";

type Step =
  | { readonly content: string }
  | { readonly edits: { old_string: string; new_string: string; replace_all: boolean }[] }
  /** Where the part begins, and how long it is. */
  | { readonly part: readonly [number, number]; readonly put: string };

/** What a client does with a diff (N31): the first place at or behind the line where `oldString` stands. */
function applyDiff(before: string, { diff }: FileChange): string {
  const { oldString, newString, startLine, endLine } = diff!;
  let lineStart = 0;
  for (let line = 1; line < startLine; line += 1) lineStart = before.indexOf("\n", lineStart) + 1;
  const start = before.indexOf(oldString, lineStart);
  expect(start).toBeGreaterThanOrEqual(lineStart);
  expect(before.slice(lineStart, start)).not.toContain("\n");
  const breaks = oldString.replace(/\n$/, "").split("\n").length - 1;
  expect(endLine).toBe(oldString === "" ? startLine - 1 : startLine + breaks);
  return before.slice(0, start) + newString + before.slice(start + oldString.length);
}

const piece = fc.constantFrom("a", "b", "foo", " ", "  ", "\t", "\n", "\n", "“", '"', "…", "🎈", "é", "}");
const someText = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
const someEdits = fc.array(
  fc.record({ old_string: someText.map((text) => text.slice(0, 4)), new_string: someText, replace_all: fc.boolean() }),
  { minLength: 1, maxLength: 3 },
);
const someStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ content: someText }),
  fc.record({ edits: someEdits }),
  fc.record({ part: fc.tuple(fc.nat(), fc.nat(12)), put: someText }),
);

test(verifies("N31", "whatever is written and edited, diff, patch, hashes and file agree"), async () => {
  const { context, root, write } = createFileToolContext();
  const path = join(root, "f.txt");
  const run = fc.asyncProperty(
    someText,
    fc.boolean(),
    fc.boolean(),
    fc.array(someStep, { minLength: 1, maxLength: 5 }),
    async (start, isCrlf, isMarked, steps) => {
      write("f.txt", (isMarked ? MARK : "") + (isCrlf ? start.replaceAll("\n", "\r\n") : start));
      await readFileTool.run({ target_file: "f.txt" }, context);
      for (const step of steps) {
        const before = readFileSync(path, "utf8");
        const outcome = await runStep(before.replace(MARK, ""), step);
        checkStep(before, readFileSync(path, "utf8"), outcome);
      }
    },
  );

  async function runStep(text: string, step: Step): Promise<ToolOutcome> {
    if ("content" in step) return writeFileTool.run({ target_file: "f.txt", content: step.content }, context);
    if ("edits" in step) return editFileTool.run({ target_file: "f.txt", edits: step.edits }, context);
    const [from, length] = step.part;
    const start = text.length === 0 ? 0 : from % text.length;
    const edit = { old_string: text.slice(start, start + length), new_string: step.put };
    return editFileTool.run({ target_file: "f.txt", edits: [edit] }, context);
  }

  function checkStep(before: string, after: string, outcome: ToolOutcome): void {
    if (outcome.status !== "success") {
      expect(outcome.error?.message).not.toContain("\n");
      expect(after).toBe(before);
      return;
    }
    const change = toChange(outcome);
    const [textBefore, textAfter] = [before.replace(MARK, ""), after.replace(MARK, "")];
    expect(after.startsWith(MARK)).toBe(before.startsWith(MARK));
    expect(change.after).toBe(textAfter);
    expect(applyDiff(textBefore, change)).toBe(textAfter);
    expect(change.content).toBe(change.diff?.newString);
    expect(applyPatch(textBefore, change.patch!, { autoConvertLineEndings: false })).toBe(textAfter);
    expect(change.bytes).toBe(Buffer.byteLength(after));
    expect(change.hashAfter).toBe(createHash("sha256").update(after).digest("hex"));
    expect(change.hashBefore).toBe(createHash("sha256").update(before).digest("hex"));
  }

  await fc.assert(run, {
    numRuns: chooseRuns(150, 1000),
    // The same text stands twice in its line, and the second one is replaced.
    examples: [["aa", false, false, [{ edits: [{ old_string: "a\t", new_string: "🎈", replace_all: false }] }]]],
  });
});

test("calls that were cancelled before they began change nothing", async () => {
  const { context, root, write, read } = createFileToolContext(AbortSignal.abort());
  write("a.txt", "a");
  const outcomes = [
    await writeFileTool.run({ target_file: "a.txt", content: "b" }, context),
    await writeFileTool.run({ target_file: "new/b.txt", content: "b" }, context),
    await editFileTool.run({ target_file: "a.txt", edits: [{ old_string: "a", new_string: "b" }] }, context),
    await deleteFileTool.run({ target_file: "a.txt" }, context),
    await renameFileTool.run({ source_file: "a.txt", destination_file: "new/b.txt" }, context),
  ];
  for (const outcome of outcomes) expect(outcome).toMatchObject({ status: "cancelled", error: { code: "CANCELLED" } });
  expect(read("a.txt")).toBe("a");
  expect(readdirSync(root)).toEqual(["a.txt"]);
});
