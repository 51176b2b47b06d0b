/** Changes of a tree that are not in its bytes. */
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { mergeChanges } from "../../../src/workspace/trees/merge-changes.ts";
import { createTemporaryFolder } from "../../../../base/test/files/temporary-workspace.ts";
import { git, gitProgram } from "./repository.ts";

test(verifies("C73", "a file that has only become a program is one after the merge"), async () => {
  const root = createTemporaryFolder();
  const file = join(root, "run.sh");
  git(root, "init", "-q", "-b", "main");
  writeFileSync(file, "true\n", { mode: 0o644 });
  git(root, "add", "-A");
  git(root, "commit", "-qm", "Begin");
  chmodSync(file, 0o755);
  git(root, "commit", "-qam", "Make it a program");
  chmodSync(file, 0o644);
  const mirror = { program: gitProgram, gitFolder: join(root, ".git"), environment: process.env };
  const order = {
    from: "HEAD~1",
    to: "HEAD",
    root,
    environment: process.env,
    name: "fix",
    onConflict: "refuse",
  } as const;
  expect(await mergeChanges(mirror, order)).toMatchObject({ merged: true, files: ["run.sh"] });
  expect(statSync(file).mode & 0o111).toBe(0o111);
});
