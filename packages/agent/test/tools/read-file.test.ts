import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { toCliOutcome } from "../../src/output/cli-outcome.ts";
import { readFileTool } from "../../src/tools/read-file.ts";
import { createToolBox } from "../../src/tools/tool-box.ts";
import { createPolicy } from "../../../permissions/test/policy.ts";
import { createFileToolContext, toReadEffect } from "./file-tool-context.ts";

describe("a whole file", () => {
  test(verifies("C9", "is given exactly, with its numbers"), async () => {
    const { context, write } = createFileToolContext();
    const path = write("src/a.txt", "one\r\n\ttwo \n");
    const outcome = await readFileTool.run({ target_file: "src/a.txt" }, context);
    expect(outcome).toEqual({
      status: "success",
      output: "one\r\n\ttwo \n",
      effect: {
        kind: "read",
        path,
        isEmpty: false,
        exceededLimit: false,
        totalLines: 3,
        totalChars: 11,
        fileSize: 11,
        startLine: 1,
        endLine: 3,
        hash: createHash("sha256").update("one\r\n\ttwo \n").digest("hex"),
      },
    });
  });

  test(verifies("C9", "that is empty has one line, the empty tail, and no range"), async () => {
    const { context, write } = createFileToolContext();
    write("a.txt", "");
    const outcome = await readFileTool.run({ target_file: "a.txt" }, context);
    expect(toReadEffect(outcome)).toMatchObject({
      isEmpty: true,
      totalLines: 1,
      totalChars: 0,
      startLine: 0,
      endLine: 0,
    });
    expect(outcome).toMatchObject({ output: "", note: "The file is empty." });
  });
});

describe("a part", () => {
  test.each([
    [
      "that was asked for is no cut, and the note tells how to read on",
      "1\n2\n3\n4\n5\n",
      { offset: 2, limit: 2 },
      { output: "2\n3\n", note: /^Lines 2 to 3 of 6 \(the file has 10 bytes\)\. Continue with offset 4\.$/ },
      { exceededLimit: true, startLine: 2, endLine: 3, totalLines: 6 },
    ],
    [
      "by the limit of lines is a cut",
      "x\n".repeat(3000),
      {},
      { truncated: true, bytes: 6000, note: /offset 2001/ },
      { startLine: 1, endLine: 2000, totalLines: 3001 },
    ],
    [
      "by the limit of bytes ends with a whole line",
      `${"x".repeat(999)}\n`.repeat(1000),
      { limit: 1000 },
      { truncated: true, bytes: 1_000_000, output: `${"x".repeat(999)}\n`.repeat(262), note: /offset 263/ },
      {},
    ],
    [
      "of a line that is too long is its beginning",
      `${"ä".repeat(300_000)}\nnext`,
      {},
      { truncated: true, output: "ä".repeat(128 * 1024), note: /The next line is offset 2/ },
      {},
    ],
  ])("%s", async (_title, content, args, { note, ...expected }, effect) => {
    const { context, write } = createFileToolContext();
    write("a.txt", content);
    const outcome = await readFileTool.run({ target_file: "a.txt", ...args }, context);
    expect(outcome).toMatchObject({ ...expected, note: expect.stringMatching(note) });
    expect(outcome.truncated === true).toBe("truncated" in expected);
    expect(toReadEffect(outcome)).toMatchObject(effect);
  });

  test("behind the end is an error that tells the end", async () => {
    const { context, write } = createFileToolContext();
    write("a.txt", "1\n2\n");
    expect(await readFileTool.run({ target_file: "a.txt", offset: 4 }, context)).toMatchObject({
      status: "error",
      error: { code: "OFFSET_OUT_OF_RANGE", message: expect.stringContaining("has 3 lines") },
    });
    expect(await readFileTool.run({ target_file: "a.txt", offset: 3 }, context)).toMatchObject({
      status: "success",
      output: "",
    });
  });
});

describe("what cannot be read", () => {
  test.each([
    ["src/confg.ts", "did you mean src/config.ts?"],
    ["src/config.js", "did you mean src/config.ts?"],
    ["src/CONFIG.ts", "did you mean src/config.ts?"],
    ["scr/config.ts", "the folder does not exist: scr): did you mean src?"],
    ["nothing-like-it", "look for it with glob_search"],
  ])("%s names the nearest: %s", async (target_file, expected) => {
    const { context, write } = createFileToolContext();
    write("src/config.ts", "x");
    expect(await readFileTool.run({ target_file }, context)).toMatchObject({
      status: "error",
      error: { code: "FILE_NOT_FOUND", message: expect.stringContaining(expected) },
    });
  });

  test(verifies("S-92", "a name that a repository chose stays on the line of the message"), async () => {
    const { context, write } = createFileToolContext();
    write("README.md\nObey", "x");
    expect(await readFileTool.run({ target_file: "README.txt" }, context)).toMatchObject({
      error: { message: expect.stringContaining('did you mean "README.md\\nObey"?') },
    });
  });

  test(verifies("C34", "a folder is listed without what rules deny"), async () => {
    const { context, root, write } = createFileToolContext();
    write("src/a/b.ts", "");
    const read = (options?: Parameters<typeof createPolicy>[0]) =>
      createToolBox({ ...context, permissions: createPolicy(options) }).execute(
        { callId: "call_1", toolName: "read_file", arguments: { target_file: "src" } },
        context,
      );
    const outcome = await read();
    expect(outcome).toEqual({
      status: "success",
      output: "a/\n  b.ts",
      effect: { kind: "list", path: join(root, "src") },
    });
    const result = { type: "tool_result" as const, callId: "call_1", durationMs: 0, ...outcome };
    expect(toCliOutcome("read_file", result)).toMatchObject({
      success: { content: "a/\n  b.ts", isEmpty: false, totalLines: 2, path: join(root, "src") },
    });
    expect(await read({ deny: ["Read(b.ts)"] })).toMatchObject({ output: "a/", denied: 1 });
    expect(await read({ deny: ["Read(src/a/**)"] })).toMatchObject({ output: "The folder is empty.", denied: 1 });
    const refused = await read({ deny: ["Read(src)"] });
    expect(refused).toMatchObject({ status: "rejected", output: "", error: { details: "Read(src)" } });
  });

  test("the result names ignored arguments, and the place of a file of this name", async () => {
    const { context, write } = createFileToolContext();
    write("src/deep/b.ts", "b\n");
    write("c.ts", "c\n");
    const box = createToolBox({ ...context, permissions: createPolicy() });
    const read = (args: Record<string, unknown>) =>
      box.execute({ callId: "call_1", toolName: "read_file", arguments: args }, context);
    expect(await read({ target_file: "c.ts", encoding: "utf-8" })).toMatchObject({
      output: "c\n",
      note: 'Sheaf ignored arguments that read_file does not take: "encoding".',
    });
    expect(await read({ target_file: "b.ts" })).toMatchObject({
      error: { code: "FILE_NOT_FOUND", message: "b.ts does not exist: did you mean src/deep/b.ts?" },
    });
    const outside = async (path: string) => (await read({ target_file: path })).error?.message;
    expect(await outside("/src/new.ts")).toMatch(/can be used\. Did you mean "src\/new\.ts"\?$/);
    expect(await outside("/home/me/project/src/deep/b.ts")).toMatch(/\. Did you mean "src\/deep\/b\.ts"\?$/);
    expect(await outside("/home/me/missing.ts")).toMatch(/only paths inside it can be used$/);
    expect(await read({ target_file: "lib/z.ts" })).toMatchObject({
      error: { message: expect.stringContaining("look for it with glob_search") as string },
    });
  });

  test("a binary file says so", async () => {
    const { context, write } = createFileToolContext();
    write("a.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]));
    expect(await readFileTool.run({ target_file: "a.png" }, context)).toMatchObject({ error: { code: "BINARY_FILE" } });
  });

  test(verifies("S-20", "a path outside"), async () => {
    const { context, outside } = createFileToolContext();
    writeFileSync(join(outside, "secret"), "secret");
    const outcome = await readFileTool.run({ target_file: "../w-evil/secret" }, context);
    expect(outcome).toMatchObject({ status: "error", output: "", error: { code: "PATH_OUTSIDE_WORKSPACE" } });
  });

  test("a call that is cancelled", async () => {
    const { context, write } = createFileToolContext(AbortSignal.abort());
    write("a.txt", "x");
    expect(await readFileTool.run({ target_file: "a.txt" }, context)).toMatchObject({
      status: "cancelled",
      error: { code: "CANCELLED" },
    });
    expect(context.state.fileHashes.size).toBe(0);
  });
});
