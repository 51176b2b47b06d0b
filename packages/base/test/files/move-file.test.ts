/** What is deleted is what was looked at. */
import { lstatSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { removeFile, resolveEntry } from "../../src/files/move-file.ts";
import { toFileIdentity } from "../../src/files/open-file.ts";
import { createWorkspace } from "../../src/files/workspace.ts";
import { createTemporaryWorkspace } from "./temporary-workspace.ts";

test(verifies("S-211", "a file or a link that was changed or replaced meanwhile stays"), async () => {
  const { root, write } = createTemporaryWorkspace();
  const workspace = createWorkspace(root, { git: { environment: {}, folders: [] } });
  const file = join(root, "notes.txt");
  const look = () => toFileIdentity(lstatSync(file, { bigint: true }));
  const remove = (expected: ReturnType<typeof look>) => {
    const resolved = resolveEntry(workspace, "notes.txt");
    if (!resolved.ok) throw new Error(resolved.error.message);
    return removeFile(workspace, resolved.path, expected);
  };
  write("notes.txt", "looked at");
  const seen = look();
  write("notes.txt", "the user's later words");
  expect(await remove(seen)).toMatchObject({ ok: false, error: { code: "STALE_FILE" } });
  expect(readFileSync(file, "utf8")).toBe("the user's later words");
  rmSync(file);
  symlinkSync("one", file);
  const link = look();
  rmSync(file);
  symlinkSync("other", file);
  expect(await remove(link)).toMatchObject({ ok: false, error: { code: "STALE_FILE" } });
  expect(await remove(look())).toMatchObject({ ok: true });
});
