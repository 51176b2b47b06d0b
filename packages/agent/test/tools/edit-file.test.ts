import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { applyPatch } from "diff";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { editFileTool } from "../../src/tools/edit-file.ts";
import { readFileTool } from "../../src/tools/read-file.ts";
import { writeFileTool } from "../../src/tools/write-file.ts";
import { createFileToolContext, toChange } from "./file-tool-context.ts";

const toHash = (text: string): string => createHash("sha256").update(text).digest("hex");
const edit = (old_string: string, new_string: string, replace_all?: boolean) => ({
  old_string,
  new_string,
  ...(replace_all !== undefined && { replace_all }),
});

describe("an edit", () => {
  test(verifies(["N31", "R7"], "is one exact replacement, with rule, hashes and the whole file"), async () => {
    const { context, write, read } = createFileToolContext();
    const before = "a\nb\napp.register(api)\nc\n";
    const after = "a\nb\napp.register(api)\napp.register(auth)\nc\n";
    write("src/main.py", before);
    const edits = [edit("app.register(api)", "app.register(api)\napp.register(auth)")];
    const outcome = await editFileTool.run({ target_file: "src/main.py", edits }, context);
    const change = toChange(outcome);
    expect(change).toMatchObject({
      operation: "edit",
      filePath: "src/main.py",
      content: "app.register(api)\napp.register(auth)",
      after,
      diff: {
        oldString: "app.register(api)",
        newString: "app.register(api)\napp.register(auth)",
        startLine: 3,
        endLine: 3,
      },
      linesAdded: 1,
      linesRemoved: 0,
      bytes: after.length,
      hashBefore: toHash(before),
      hashAfter: toHash(after),
    });
    expect(applyPatch(before, change.patch!)).toBe(after);
    expect(outcome.effect).toMatchObject({ matched: ["exact"] });
    expect(outcome.output).toBe("Edited src/main.py: lines 3-4, +1 -0.");
    expect(read("src/main.py")).toBe(after);
  });

  test("keeps line ends, byte order mark and encoding", async () => {
    const { context, write, root } = createFileToolContext();
    write("a.txt", Buffer.from("\uFEFFone\r\ntwo\r\n", "utf16le"));
    const outcome = await editFileTool.run({ target_file: "a.txt", edits: [edit("one\ntwo", "1\n2\n3")] }, context);
    expect(outcome.status).toBe("success");
    expect(readFileSync(`${root}/a.txt`).toString("utf16le")).toBe("\uFEFF1\r\n2\r\n3\r\n");
  });

  test("with an empty old_string writes a new file, and one that is empty", async () => {
    const { context, write, read } = createFileToolContext();
    write("empty.txt", "");
    const edits = [edit("", "new\n")];
    expect(toChange(await editFileTool.run({ target_file: "new.txt", edits }, context))).toMatchObject({
      operation: "create",
    });
    expect(toChange(await editFileTool.run({ target_file: "empty.txt", edits }, context))).toMatchObject({
      operation: "edit",
      diff: { oldString: "", newString: "new\n", startLine: 1, endLine: 0 },
    });
    expect(read("new.txt") + read("empty.txt")).toBe("new\nnew\n");
  });
});

describe("nothing is written", () => {
  test.each([
    ["unless all edits fit", "one\ntwo\n", [edit("one", "1"), edit("three", "3")], "NO_MATCH", /edit 2 of 2/, ""],
    [
      "where nothing fits",
      "x\nf(a) + 2;\n",
      [edit("f(a) + 3;", "")],
      "NO_MATCH",
      /nearest place is at line 2/,
      "f(a) + 2;",
    ],
    ["where several places fit", "x\ny\nx\n", [edit("x", "z")], "AMBIGUOUS_EDIT", /1, 3/, ""],
  ])("%s", async (_title, text, edits, code, message, shown) => {
    const { context, write, read } = createFileToolContext();
    write("a.txt", text);
    const outcome = await editFileTool.run({ target_file: "a.txt", edits }, context);
    expect(outcome).toMatchObject({ status: "error", error: { code, message: expect.stringMatching(message) } });
    expect(outcome.output).toContain(shown);
    expect(outcome.effect).toBeUndefined();
    expect(read("a.txt")).toBe(text);
  });

  test("where the quoted text has changed since it was read", async () => {
    const { context, write, read } = createFileToolContext();
    write("a.txt", "old\n");
    await readFileTool.run({ target_file: "a.txt" }, context);
    write("a.txt", "theirs\n");
    const outcome = await editFileTool.run({ target_file: "a.txt", edits: [edit("old", "new")] }, context);
    expect(outcome).toMatchObject({ error: { code: "STALE_FILE" } });
    expect(read("a.txt")).toBe("theirs\n");
  });

  test("where there is no file", async () => {
    const { context, write } = createFileToolContext();
    write("src/index.ts", "x");
    const outcome = await editFileTool.run({ target_file: "src/indx.ts", edits: [edit("x", "y")] }, context);
    expect(outcome).toMatchObject({
      error: { code: "FILE_NOT_FOUND", message: expect.stringContaining("src/index.ts") },
    });
  });

  test(verifies("S-22", "where the name is protected"), async () => {
    const { context, write, read } = createFileToolContext();
    write(".vscode/settings.json", "{}");
    const outcome = await editFileTool.run(
      { target_file: ".vscode/settings.json", edits: [edit("{}", "{ }")] },
      context,
    );
    expect(outcome).toMatchObject({ error: { code: "PROTECTED_PATH" } });
    expect(read(".vscode/settings.json")).toBe("{}");
  });
});

test("an edit works where other parts of the file have changed, which stay protected from write_file", async () => {
  const { context, write, read } = createFileToolContext();
  write("a.txt", "old\n");
  await readFileTool.run({ target_file: "a.txt" }, context);
  write("a.txt", "old\ntheirs\n");
  const outcome = await editFileTool.run({ target_file: "a.txt", edits: [edit("old", "new")] }, context);
  expect(outcome).toMatchObject({
    status: "success",
    note: expect.stringContaining("Other parts of this file have changed"),
  });
  const replaced = await writeFileTool.run({ target_file: "a.txt", content: "mine\n" }, context);
  expect(replaced).toMatchObject({ error: { code: "STALE_FILE" } });
  expect(read("a.txt")).toBe("new\ntheirs\n");
});

test("the result shows the lines where they are not what the model wrote", async () => {
  const { context, write } = createFileToolContext();
  write("a.py", "if x:\n    if y:\n        run()\n    done()\n");
  const edits = [edit("if y:\n    run()", "if y:\n    walk()")];
  const outcome = await editFileTool.run({ target_file: "a.py", edits }, context);
  expect(outcome.output).toBe(
    "Edited a.py: lines 2-3, +1 -1. Matched with indentation shifted; it is now:\n1\tif x:\n    if y:\n        walk()\n    done()",
  );
});
