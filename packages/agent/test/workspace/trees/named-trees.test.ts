/** A tree has one run at a time. */
import { expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { holdTree, toNamedTree } from "../../../src/workspace/trees/named-trees.ts";
import { createTemporaryFolder } from "../../../../base/test/files/temporary-workspace.ts";

test(verifies("C70", "a tree that a run holds is refused to others until it is released"), () => {
  const tree = toNamedTree(createTemporaryFolder(), "/repository", "fix");
  const release = holdTree(tree);
  expect(() => holdTree(tree)).toThrow("another run uses the working tree fix: wait for it, or name another one");
  release();
  holdTree(tree)();
});
