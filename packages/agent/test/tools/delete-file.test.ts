import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { deleteFileTool } from "../../src/tools/delete-file.ts";
import { readFileTool } from "../../src/tools/read-file.ts";
import { createFileToolContext, toChange } from "./file-tool-context.ts";

test(verifies("N33", "a deleted file has no content and no diff"), async () => {
  const { context, write } = createFileToolContext();
  const path = write("src/a.txt", "one\ntwo\n");
  await readFileTool.run({ target_file: "src/a.txt" }, context);
  const change = toChange(await deleteFileTool.run({ target_file: "src/a.txt" }, context));
  expect(change).toMatchObject({
    operation: "delete",
    filePath: "src/a.txt",
    content: null,
    bytes: 8,
    linesRemoved: 2,
  });
  expect(change.diff).toBeUndefined();
  expect(change.hashAfter).toBeUndefined();
  expect(existsSync(path)).toBe(false);
  expect(context.state.fileHashes.has(path)).toBe(false);
});

test("a large and a binary file are deleted too", async () => {
  const { context, write } = createFileToolContext();
  write("large.txt", "x".repeat(2_000_000));
  write("a.bin", Buffer.from([0, 1]));
  expect(toChange(await deleteFileTool.run({ target_file: "large.txt" }, context))).toMatchObject({ bytes: 2_000_000 });
  expect(toChange(await deleteFileTool.run({ target_file: "a.bin" }, context))).toMatchObject({
    bytes: 2,
    linesRemoved: 0,
  });
});

test("a link is deleted itself, not what it leads to", async () => {
  const { context, write, root } = createFileToolContext();
  const target = write("target.txt", "kept");
  symlinkSync("target.txt", join(root, "link.txt"));
  expect(toChange(await deleteFileTool.run({ target_file: "link.txt" }, context))).toMatchObject({
    filePath: "link.txt",
  });
  expect(readFileSync(target, "utf8")).toBe("kept");
  expect(existsSync(join(root, "link.txt"))).toBe(false);
});

test(verifies(["S-20", "S-22"], "what must stay stays"), async () => {
  const { context, write, root, outside } = createFileToolContext();
  mkdirSync(join(root, "folder"));
  write(".git/config", "x");
  writeFileSync(join(outside, "secret"), "x");
  symlinkSync(outside, join(root, "out"));
  const changed = write("changed.txt", "old");
  await readFileTool.run({ target_file: "changed.txt" }, context);
  writeFileSync(changed, "theirs");
  const table = [
    ["folder", "IS_A_DIRECTORY"],
    [".", "IS_A_DIRECTORY"],
    [".git/config", "PROTECTED_PATH"],
    ["out/secret", "PATH_OUTSIDE_WORKSPACE"],
    ["../w-evil/secret", "PATH_OUTSIDE_WORKSPACE"],
    ["none.txt", "FILE_NOT_FOUND"],
    ["changed.txt", "STALE_FILE"],
  ] as const;
  for (const [target_file, code] of table) {
    expect(await deleteFileTool.run({ target_file }, context), target_file).toMatchObject({
      status: "error",
      error: { code },
    });
  }
  expect(existsSync(join(outside, "secret"))).toBe(true);
  expect(existsSync(join(root, ".git/config"))).toBe(true);
});
