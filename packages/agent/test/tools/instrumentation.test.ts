import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addInstrumentationTool } from "../../src/tools/add-instrumentation.ts";
import { findCommentForm, hasMark, insertBlock, removeBlocks } from "../../src/tools/instrumentation-blocks.ts";
import { removeInstrumentationTool } from "../../src/tools/remove-instrumentation.ts";
import { renameFileTool } from "../../src/tools/rename-file.ts";
import { deleteFileTool } from "../../src/tools/delete-file.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { createFileToolContext, toChange } from "./file-tool-context.ts";

const source = "function total(list) {\n  let sum = 0;\n  for (const x of list) sum += x;\n  return sum;\n}\n";

function createDebugContext() {
  const files = createFileToolContext();
  files.context.state.todos = [
    { id: "h1", content: "the list is empty", status: "in_progress", dependencies: [] },
    { id: "h 2*/", content: "an odd id", status: "pending", dependencies: [] },
  ];
  let calls = 0;
  const add = (args: Partial<Parameters<typeof addInstrumentationTool.run>[0]>): Promise<ToolOutcome> =>
    addInstrumentationTool.run(
      { hypothesis: "h1", target_file: "a.js", anchor: "let sum = 0;", code: "  console.log(list);", ...args },
      { ...files.context, callId: `call_${(calls += 1)}` },
    );
  const remove = (args: Parameters<typeof removeInstrumentationTool.run>[0] = {}): Promise<ToolOutcome> =>
    removeInstrumentationTool.run(args, files.context);
  return { ...files, add, remove };
}

describe("add_instrumentation", () => {
  test("puts marked lines behind or before a place, and the result tells all that stands in files", async () => {
    const { add, write, read, context } = createDebugContext();
    write("a.js", source);
    const change = toChange(await add({}));
    expect(change).toMatchObject({ operation: "edit", filePath: "a.js", linesAdded: 3, linesRemoved: 0 });
    const [block] = context.state.instrumentation;
    expect(read("a.js")).toBe(
      source.replace(
        "  for",
        `  // sheaf-debug:begin ${block!.id}\n  console.log(list);\n  // sheaf-debug:end ${block!.id}\n  for`,
      ),
    );
    const outcome = await add({ anchor: "return sum;", position: "before", code: "\n  console.log(sum);\n\n" });
    expect(read("a.js")).toMatch(
      / {2}\/\/ sheaf-debug:begin \S+\n {2}console\.log\(sum\);\n {2}\/\/ sheaf-debug:end \S+\n {2}return sum;/,
    );
    expect(outcome.effect).toMatchObject({
      instrumentation: [{ hypothesis: "h1", filePath: "a.js" }, { hypothesis: "h1" }],
    });
    expect(new Set(context.state.instrumentation.map(({ id }) => id)).size).toBe(2);
  });

  test("is refused without a hypothesis, with marks of its own, at several places, and where no comment can stand", async () => {
    const { add, write, read, context } = createDebugContext();
    write("a.js", source);
    write("data.json", '{"a": 1}\n');
    const codes: readonly (readonly [Parameters<typeof add>[0], string, RegExp])[] = [
      [{ hypothesis: "h9" }, "UNKNOWN_HYPOTHESIS", /no todo has the id "h9", known ids are h1, h 2\*\//],
      [{ code: "// sheaf-debug:end h1" }, "INVALID_ARGUMENTS", /marks/],
      [{ code: " \n " }, "INVALID_ARGUMENTS", /empty/],
      [{ anchor: "sum" }, "AMBIGUOUS_EDIT", /anchor fits/],
      [{ anchor: "product" }, "NO_MATCH", /anchor is not in the file/],
      [{ target_file: "data.json", anchor: '{"a": 1}' }, "NO_COMMENTS", /data\.json/],
      [{ target_file: "missing.js" }, "FILE_NOT_FOUND", /missing\.js/],
      [{ target_file: "../out.js" }, "PATH_OUTSIDE_WORKSPACE", /leads out/],
    ];
    for (const [args, code, message] of codes) {
      expect(await add(args), code).toMatchObject({
        status: "error",
        error: { code, message: expect.stringMatching(message) as string },
      });
    }
    context.state.todos = [];
    expect(await add({})).toMatchObject({
      error: { message: expect.stringContaining("no todos exist yet") as string },
    });
    expect(read("a.js")).toBe(source);
    expect(context.state.instrumentation).toEqual([]);
  });

  test("an id of a todo never ends the comment that it stands in", async () => {
    const { add, write, read } = createDebugContext();
    write("a.css", "a {\n  color: red;\n}\n");
    await add({ hypothesis: "h 2*/", target_file: "a.css", anchor: "color: red;", code: "  outline: 1px solid;" });
    expect(read("a.css")).toMatch(/ {2}\/\* sheaf-debug:begin h_2__-[0-9a-f]{8} \*\/\n/);
  });
});

describe("remove_instrumentation", () => {
  test("gives the very text of before, whatever else changed", async () => {
    const { add, remove, write, read, root } = createDebugContext();
    const files: readonly (readonly [string, string, string])[] = [
      ["a.js", source, "let sum = 0;"],
      ["b.py", "def f():\r\n    x = 1\r\n    return x", "    return x"],
      ["c.sh", "echo one", "echo one"],
      ["d.html", "<p>\n  text\n</p>\n", "text\n"],
      ["e.sql", "SELECT 1;\n\n\n", "SELECT 1;"],
    ];
    for (const [file, text, anchor] of files) {
      write(file, text);
      for (const position of ["before", "after"] as const) {
        expect(await add({ target_file: file, anchor, position, code: "    print(1)\n    print(2)" })).toMatchObject({
          status: "success",
        });
      }
      expect(read(file)).not.toBe(text);
    }
    // A change by hand beside a block, which no tool has read.
    writeFileSync(join(root, "a.js"), read("a.js").replace("return sum", "return sum + 1"));
    const outcome = await remove();
    expect(outcome).toMatchObject({ status: "success", effect: { instrumentation: [] } });
    for (const [file, text] of files)
      expect(read(file)).toBe(file === "a.js" ? text.replace("return sum", "return sum + 1") : text);
    expect(await remove()).toMatchObject({ status: "error", error: { code: "NO_INSTRUMENTATION" } });
  });

  test("takes one hypothesis or one file alone, and follows files that move or go", async () => {
    const { add, remove, write, read, context } = createDebugContext();
    for (const file of ["a.js", "b.js", "c.js"]) write(file, source);
    for (const file of ["a.js", "b.js", "c.js"]) await add({ target_file: file });
    await add({ hypothesis: "h 2*/", target_file: "b.js" });
    await remove({ target_file: "a.js" });
    expect(read("a.js")).toBe(source);
    await remove({ hypothesis: "h 2*/" });
    expect(context.state.instrumentation.map(({ filePath }) => filePath)).toEqual(["b.js", "c.js"]);
    await renameFileTool.run({ source_file: "b.js", destination_file: "lib/b.js" }, context);
    await deleteFileTool.run({ target_file: "c.js" }, context);
    expect(context.state.instrumentation.map(({ filePath }) => filePath)).toEqual(["lib/b.js"]);
    await remove();
    expect(read("lib/b.js")).toBe(source);
  });

  test("tells of a block that is damaged and leaves it; one that is gone is gone", async () => {
    const { add, remove, write, read, root, context } = createDebugContext();
    write("a.js", source);
    write("b.js", source);
    write("c.js", source);
    for (const file of ["a.js", "b.js", "c.js"]) await add({ target_file: file });
    writeFileSync(join(root, "a.js"), read("a.js").replace(/.*sheaf-debug:begin.*\n/, ""));
    write("b.js", source);
    renameSync(join(root, "c.js"), join(root, "elsewhere.js"));
    const damaged = read("a.js");
    const outcome = await remove();
    expect(outcome).toMatchObject({ status: "error", error: { code: "INSTRUMENTATION_LEFT" } });
    expect(outcome.error!.message).toMatch(
      /a\.js: left, a mark is missing: h1-\w+; b\.js: already gone: h1-\w+; c\.js: already gone/,
    );
    expect(read("a.js")).toBe(damaged);
    expect(context.state.instrumentation.map(({ filePath }) => filePath)).toEqual(["a.js"]);
  });
});

describe("blocks", () => {
  test("put into any text, in any order, and taken out in any other, leave it as it was", () => {
    const line = fc.constantFrom("", "  x", "y", "// sheaf-debug:begin h9", "\tz ");
    const text = fc
      .tuple(fc.array(line), fc.constantFrom("\n", "\r\n"), fc.boolean())
      .map(([lines, lineEnd, isOpen]) => lines.join(lineEnd) + (isOpen ? "" : lineEnd));
    fc.assert(
      fc.property(
        text,
        fc.array(fc.tuple(fc.nat(), fc.constantFrom("a", "  b\n\n  c")), { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (before, blocks, isReversed) => {
          let current = before;
          const ids = blocks.map((_, index) => `h1-${index === 0 ? "" : index}`);
          for (const [index, [place, code]] of blocks.entries()) {
            const starts = [0, ...[...current.matchAll(/\n/g)].map((match) => match.index + 1), current.length];
            const offset = starts[place % starts.length]!;
            const lineEnd = before.includes("\r\n") ? "\r\n" : "\n";
            current = insertBlock(current, offset, { id: ids[index]!, code, form: { open: "//", close: "" }, lineEnd });
          }
          expect(hasMark(current)).toBe(true);
          const order = isReversed ? ids.toReversed() : ids;
          const removed = removeBlocks(current, order);
          // A block that was put into another one goes with it.
          expect(removed).toMatchObject({ text: before, damaged: [] });
        },
      ),
      { numRuns: Number(process.env.SHEAF_SOAK_RUNS ?? 300) },
    );
  });

  test("every language of comments has one form, and data has none", () => {
    for (const [file, open] of [
      ["a.ts", "//"],
      ["a.py", "#"],
      ["Makefile", "#"],
      ["a.hs", "--"],
      ["a.el", undefined],
      ["a.erl", "%"],
      ["a.clj", ";"],
      ["a.html", "<!--"],
      ["a.json", undefined],
      ["a.csv", undefined],
      ["a.vue", undefined],
      ["LICENSE", undefined],
    ] as const) {
      expect(findCommentForm(file)?.open, file).toBe(open);
    }
  });
});
