import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { writeFileAtomically } from "../../src/files/atomic-write.ts";
import { openFolder } from "../../src/files/open-folder.ts";
import { readWholeFile } from "../../src/files/read-file.ts";
import { createTemporaryWorkspace } from "./temporary-workspace.ts";

describe("a link that is put in place behind the check", () => {
  test(verifies("S-21", "is not followed as a folder"), async () => {
    const { root, workspace, outside, path, write } = createTemporaryWorkspace();
    write("sub/a.txt", "inside");
    writeFileSync(join(outside, "a.txt"), "secret");
    const checked = path("sub/a.txt");
    renameSync(join(root, "sub"), join(root, "moved"));
    symlinkSync(outside, join(root, "sub"));
    expect(await readWholeFile(root, checked, 100)).toMatchObject({ ok: false, error: { code: "PATH_INVALID" } });
    expect(await writeFileAtomically(workspace, checked, Buffer.from("x"), undefined)).toMatchObject({
      ok: false,
      error: { code: "PATH_INVALID" },
    });
    expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("secret");
  });

  test(verifies("S-21", "is not followed as a file"), async () => {
    const { root, workspace, outside, path, write } = createTemporaryWorkspace();
    const file = write("a.txt", "inside");
    writeFileSync(join(outside, "a.txt"), "secret");
    const checked = path("a.txt");
    rmSync(file);
    symlinkSync(join(outside, "a.txt"), file);
    expect(await readWholeFile(root, checked, 100)).toMatchObject({ ok: false, error: { code: "PATH_INVALID" } });
    expect(await writeFileAtomically(workspace, checked, Buffer.from("x"), undefined)).toMatchObject({ ok: false });
    expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("secret");
  });
});

test("an open folder stays the same one when its name goes to another", () => {
  const { root, write } = createTemporaryWorkspace();
  write("sub/a.txt", "first");
  const folder = openFolder(root, "sub");
  renameSync(join(root, "sub"), join(root, "moved"));
  write("sub/a.txt", "second");
  const expected = process.platform === "linux" ? "first" : "second";
  expect(readFileSync(folder.entry("a.txt"), "utf8")).toBe(expected);
  folder.close();
});

test("missing folders are made only when asked", () => {
  const { root } = createTemporaryWorkspace();
  expect(() => openFolder(root, "a/b")).toThrow(/ENOENT/);
  const folder = openFolder(root, "a/b", { create: true });
  writeFileSync(folder.entry("c"), "x");
  folder.close();
  expect(readFileSync(join(root, "a/b/c"), "utf8")).toBe("x");
});
