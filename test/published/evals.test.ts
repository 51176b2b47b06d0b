/** The behaviours of `npm run evals` as tests of `sheaf test`. */
import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const files = globSync(join(import.meta.dirname, "../../evals/behaviours/*.yaml"));
const folders = createTestFolder();

describeWithBubblewrap("the behaviours", () => {
  test(
    verifies(["C191", "C192", "C193"], "are those of their files, in every run"),
    async () => {
      const { code, stdout } = await runSheaf(["test", "--trust", ...files], { cwd: folders.newFolder() });
      expect([code, stdout]).toEqual([0, expect.stringContaining(`${files.length} of ${files.length} tests passed.`)]);
    },
    300_000,
  );
});
