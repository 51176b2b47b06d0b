import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { describeWithStrace } from "../../../../test/support/strace.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const folders = createTestFolder();

/** Paths of one entry: its own, and those by which an open folder names it. */
const toNames = (folder: string, name: string): string[] => [
  join(folder, name),
  ...Array.from({ length: 90 }, (_, descriptor) => `/proc/self/fd/${descriptor + 10}/${name}`),
];

describeWithStrace("a slow disk", () => {
  test.each([
    ["a file is read", "readLines(root, path, range, signal)", "a.txt"],
    ["a folder is listed", '(await createFolderReader(createWorkspace(root), ".")).read(".")', "."],
  ])(verifies("R-81", "while %s, other events have their turn"), (_, work, name) => {
    const root = folders.newFolder();
    writeFileSync(join(root, "a.txt"), "text\n");
    const from = (file: string): string => JSON.stringify(import.meta.resolve(`../../src/files/${file}.ts`));
    const script = `
      import { readLines } from ${from("read-file")};
      import { createFolderReader } from ${from("read-folder")};
      import { createWorkspace } from ${from("workspace")};
      const root = ${JSON.stringify(root)};
      const path = { absolute: root + "/a.txt", relative: "a.txt", named: "a.txt" };
      const range = { startLine: 1, maxLines: 9, maxBytes: 99 };
      const { signal } = new AbortController();
      let turns = 0, isDone = false;
      const count = () => { turns += 1; if (!isDone) setImmediate(count); };
      setImmediate(count);
      const { ok } = await ${work};
      isDone = true;
      console.log(JSON.stringify({ ok, turns }));`;
    const slow = ["-e", "trace=openat,statx,getdents64", "-e", "inject=openat,statx,getdents64:delay_enter=300000"];
    const paths = toNames(root, name).flatMap((path) => ["-P", path]);
    const program = [process.execPath, "--conditions=sheaf-source", "--input-type=module", "-e", script];
    const output = execFileSync("strace", ["-f", "-qq", "-o", "/dev/null", ...slow, ...paths, ...program]);
    const { ok, turns } = JSON.parse(output.toString()) as { ok: boolean; turns: number };
    expect(ok).toBe(true);
    // The folder itself is opened before.
    expect(turns).toBeGreaterThan(500);
  });
});
