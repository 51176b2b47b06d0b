/** A tree has one run at a time. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { holdTree, toNamedTree } from "../../../src/workspace/trees/named-trees.ts";
import { createTemporaryFolder } from "../../../../base/test/files/temporary-workspace.ts";

test(verifies("C70", "a tree that a process holds is refused; what a dead one left is taken over"), async () => {
  const tree = toNamedTree(createTemporaryFolder(), "/repository", "fix");
  const release = holdTree(tree);
  expect(() => holdTree(tree)).toThrow(
    `the working tree fix is used by process ${process.pid}: wait for it, or name another one`,
  );
  await release();
  for (const left of ["4194305", ""]) {
    await holdTree(tree)();
    writeFileSync(join(tree.folder, "lock"), left);
    await holdTree(tree)();
    expect(readdirSync(tree.folder)).toEqual([]);
  }
});
