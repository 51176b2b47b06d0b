import { existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { editFileTool } from "../../src/tools/edit-file.ts";
import { readFileTool } from "../../src/tools/read-file.ts";
import { renameFileTool } from "../../src/tools/rename-file.ts";
import { createFileToolContext, toChange } from "./file-tool-context.ts";

test(verifies("N32", "a renamed file tells both names, and its folders are made"), async () => {
  const { context, write, read, root } = createFileToolContext();
  write("a.txt", "one\n");
  await readFileTool.run({ target_file: "a.txt" }, context);
  const outcome = await renameFileTool.run({ source_file: "a.txt", destination_file: "deep/er/b.txt" }, context);
  expect(toChange(outcome)).toMatchObject({
    operation: "rename",
    filePath: "a.txt",
    path: `${root}/a.txt`,
    newFilePath: "deep/er/b.txt",
    content: null,
    bytes: 4,
  });
  expect(read("deep/er/b.txt")).toBe("one\n");
  expect(existsSync(join(root, "a.txt"))).toBe(false);
  // What was read under the old name is known under the new one.
  const edits = [{ old_string: "one", new_string: "1" }];
  expect(await editFileTool.run({ target_file: "deep/er/b.txt", edits }, context)).toMatchObject({ status: "success" });
});

test(verifies("S-252", "a link gets no place from which it leads out of the workspace"), async () => {
  const { root, context } = createFileToolContext();
  mkdirSync(join(root, "a"));
  symlinkSync("../.local/share", join(root, "a/link"));
  const outcome = await renameFileTool.run({ source_file: "a/link", destination_file: "link" }, context);
  expect(outcome).toMatchObject({ status: "error", error: { code: "PATH_OUTSIDE_WORKSPACE" } });
  expect(existsSync(join(root, "link"))).toBe(false);
});

test("a link is renamed itself", async () => {
  const { context, write, root } = createFileToolContext();
  write("target.txt", "x");
  symlinkSync("target.txt", join(root, "link"));
  await renameFileTool.run({ source_file: "link", destination_file: "other" }, context);
  expect(readlinkSync(join(root, "other"))).toBe("target.txt");
  expect(existsSync(join(root, "target.txt"))).toBe(true);
});

test(verifies(["S-20", "S-22", "N32"], "what must not be renamed, or renamed to, is left alone"), async () => {
  const { context, write, read, root, outside } = createFileToolContext();
  write("a.txt", "a");
  write("b.txt", "b");
  write(".git/config", "x");
  mkdirSync(join(root, "folder"));
  symlinkSync("nowhere", join(root, "dangling"));
  symlinkSync(outside, join(root, "out"));
  writeFileSync(join(outside, "secret"), "x");
  const table = [
    ["a.txt", "b.txt", "FILE_EXISTS"],
    ["a.txt", "a.txt", "FILE_EXISTS"],
    ["a.txt", "dangling", "FILE_EXISTS"],
    ["a.txt", "folder", "FILE_EXISTS"],
    ["a.txt", "b.txt/below", "NOT_A_DIRECTORY"],
    ["a.txt", ".git/hooks/pre-commit", "PROTECTED_PATH"],
    ["a.txt", "sub/.bashrc", "PROTECTED_PATH"],
    [".git/config", "c.txt", "PROTECTED_PATH"],
    ["folder", "other", "IS_A_DIRECTORY"],
    ["none.txt", "other", "FILE_NOT_FOUND"],
    ["a.txt", "out/stolen", "PATH_OUTSIDE_WORKSPACE"],
    ["out/secret", "c.txt", "PATH_OUTSIDE_WORKSPACE"],
    ["a.txt", "../a.txt", "PATH_OUTSIDE_WORKSPACE"],
  ] as const;
  for (const [source_file, destination_file, code] of table) {
    const outcome = await renameFileTool.run({ source_file, destination_file }, context);
    expect(outcome, `${source_file} to ${destination_file}`).toMatchObject({ status: "error", error: { code } });
  }
  expect(read("a.txt") + read("b.txt")).toBe("ab");
});
