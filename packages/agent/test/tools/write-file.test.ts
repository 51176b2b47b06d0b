import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { readFileTool } from "../../src/tools/read-file.ts";
import { applyToState, createToolState } from "../../src/tools/tool-state.ts";
import { writeFileTool } from "../../src/tools/write-file.ts";
import { createFileToolContext, toChange } from "./file-tool-context.ts";

const toHash = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("a new file", () => {
  test(verifies("R7", "is a create with its content"), async () => {
    const { context, read, root } = createFileToolContext();
    const outcome = await writeFileTool.run({ target_file: "src/new.ts", content: "a\nb\n" }, context);
    expect(toChange(outcome)).toEqual({
      operation: "create",
      filePath: "src/new.ts",
      path: `${root}/src/new.ts`,
      content: "a\nb\n",
      patch: "--- /dev/null\n+++ b/src/new.ts\n@@ -0,0 +1,2 @@\n+a\n+b\n",
      linesAdded: 2,
      linesRemoved: 0,
      bytes: 4,
      hashAfter: toHash("a\nb\n"),
    });
    expect(outcome.note).toBeUndefined();
    expect(read("src/new.ts")).toBe("a\nb\n");
    expect(context.state.fileHashes.get(`${root}/src/new.ts`)).toBe(toHash("a\nb\n"));
  });

  test(verifies("N33", 'that is empty has the content ""'), async () => {
    const { context } = createFileToolContext();
    const outcome = await writeFileTool.run({ target_file: "a.txt", content: "" }, context);
    expect(toChange(outcome)).toMatchObject({ operation: "create", content: "", linesAdded: 0, bytes: 0 });
  });

  test(verifies("N34", "above 1 MiB is cut in the result, not on the disk"), async () => {
    const { context, read } = createFileToolContext();
    const content = "ä".repeat(600_000);
    const change = toChange(await writeFileTool.run({ target_file: "a.txt", content }, context));
    expect(change).toMatchObject({ truncated: true, bytes: 1_200_000 });
    expect(Buffer.byteLength(change.content ?? "")).toBe(1024 * 1024);
    expect(read("a.txt")).toBe(content);
  });

  test(verifies("N34", "with a NUL is binary"), async () => {
    const { context } = createFileToolContext();
    const change = toChange(await writeFileTool.run({ target_file: "a.bin", content: "a\0b" }, context));
    expect(change).toMatchObject({ content: null, binary: true, bytes: 3 });
    expect(change.patch).toBeUndefined();
  });
});

describe("a file that is there", () => {
  test.each([
    ["that was never read is replaced", "old", "new", "new", /had not been read/],
    ["with the same content already changes nothing", "same", "same", "same", /^The file already had this content\.$/],
    [
      "keeps its line ends and its byte order mark",
      "\uFEFFa\r\nb\r\n",
      "a\nc\n",
      "\uFEFFa\r\nc\r\n",
      /CRLF.*byte order mark/,
    ],
  ])("%s, and the note says so", async (_title, before, content, after, note) => {
    const { context, write, read } = createFileToolContext();
    write("a.txt", before);
    const outcome = await writeFileTool.run({ target_file: "a.txt", content }, context);
    expect(outcome).toMatchObject({ status: "success", note: expect.stringMatching(note) });
    expect(toChange(outcome)).toMatchObject({ operation: "edit", linesAdded: before === content ? 0 : 1 });
    expect(read("a.txt")).toBe(after);
  });

  test.each([
    ["function a() {}\n// ... rest of the file unchanged ...\n", "PLACEHOLDER"],
    ["def a(): pass\n# (remaining methods stay the same)\n", "PLACEHOLDER"],
    ["<!-- existing code ... -->\n", "PLACEHOLDER"],
    ["function a() {}\n// the rest of the numbers\n", undefined],
    ["// ... existing code, as before\n", undefined],
    ["let x = [...rest, ...existing];\n", undefined],
    [`${"long ".repeat(60)}\n// ... rest unchanged\n`, undefined],
  ])("is not replaced by a shorter one with a placeholder: %j", async (content, code) => {
    const { context, write, read } = createFileToolContext();
    const before = `${"line of code\n".repeat(20)}// ... existing code, as before\n`;
    write("a.txt", before);
    const { error } = await writeFileTool.run({ target_file: "a.txt", content }, context);
    expect([error?.code, read("a.txt") === before]).toEqual([code, code !== undefined]);
  });

  test("that was read is replaced without a note", async () => {
    const { context, write } = createFileToolContext();
    write("a.txt", "old");
    await readFileTool.run({ target_file: "a.txt" }, context);
    const outcome = await writeFileTool.run({ target_file: "a.txt", content: "new" }, context);
    expect(outcome.note).toBeUndefined();
    expect(await writeFileTool.run({ target_file: "a.txt", content: "newer" }, context)).toMatchObject({
      status: "success",
    });
  });

  test("that has changed since it was read is left alone", async () => {
    const { context, write, read } = createFileToolContext();
    write("a.txt", "old");
    await readFileTool.run({ target_file: "a.txt" }, context);
    write("a.txt", "theirs");
    const outcome = await writeFileTool.run({ target_file: "a.txt", content: "new" }, context);
    expect(outcome).toMatchObject({
      status: "error",
      error: { code: "STALE_FILE", message: expect.stringContaining("a.txt") },
    });
    expect(read("a.txt")).toBe("theirs");
    await readFileTool.run({ target_file: "a.txt" }, context);
    expect(await writeFileTool.run({ target_file: "a.txt", content: "new" }, context)).toMatchObject({
      status: "success",
    });
  });

  test("that is binary, or no valid UTF-8, is refused", async () => {
    const { context, write } = createFileToolContext();
    write("a.bin", Buffer.from([1, 0, 2]));
    write("latin.txt", Buffer.from("gr\xFCn", "latin1"));
    expect(await writeFileTool.run({ target_file: "a.bin", content: "x" }, context)).toMatchObject({
      error: { code: "BINARY_FILE" },
    });
    expect(await writeFileTool.run({ target_file: "latin.txt", content: "x" }, context)).toMatchObject({
      error: { code: "INVALID_ENCODING" },
    });
  });
});

test(verifies("S-22", "a protected name is refused, and nothing is made"), async () => {
  const { context } = createFileToolContext();
  for (const target_file of [".git/hooks/pre-commit", ".bashrc", "sub/.mcp.json", ".SHEAF/config.json"]) {
    const outcome = await writeFileTool.run({ target_file, content: "x" }, context);
    expect(outcome, target_file).toMatchObject({ status: "error", error: { code: "PROTECTED_PATH" } });
    expect(await readFileTool.run({ target_file }, context)).toMatchObject({ error: { code: "FILE_NOT_FOUND" } });
  }
});

test("a file that was read before a restart, and has changed since, is not replaced", async () => {
  const { context, write, read } = createFileToolContext();
  write("a.txt", "read\n");
  const outcome = await readFileTool.run({ target_file: "a.txt" }, context);
  const state = createToolState();
  applyToState(state, { type: "tool_result", callId: "call_1", durationMs: 1, seq: 1, time: 1, ...outcome });
  write("a.txt", "changed\n");
  const written = await writeFileTool.run({ target_file: "a.txt", content: "mine\n" }, { ...context, state });
  expect(written).toMatchObject({ status: "error", error: { code: "STALE_FILE" } });
  expect(read("a.txt")).toBe("changed\n");
});
