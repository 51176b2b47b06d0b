/** Another process that changes paths as fast as it can while tools use them: nothing outside is read or written (S-21). */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { chooseRuns, reportFigure, soakTimeout } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";
import { deleteFileTool } from "../../packages/agent/src/tools/delete-file.ts";
import { editFileTool } from "../../packages/agent/src/tools/edit-file.ts";
import { readFileTool } from "../../packages/agent/src/tools/read-file.ts";
import { renameFileTool } from "../../packages/agent/src/tools/rename-file.ts";
import { writeFileTool } from "../../packages/agent/src/tools/write-file.ts";
import { createFileToolContext } from "../../packages/agent/test/tools/file-tool-context.ts";

/** Tries for each race. */
const TRIES = chooseRuns(200, 10_000);

/** What the other side does without end. `root` is the workspace, `outside` is next to it. */
const races: Readonly<Record<string, string>> = {
  "a link in the place of a file": `
    try { fs.renameSync(root + "/sub/a.txt", root + "/kept"); } catch {}
    try { fs.symlinkSync(outside + "/a.txt", root + "/sub/a.txt"); } catch {}
    try { fs.unlinkSync(root + "/sub/a.txt"); } catch {}
    try { fs.renameSync(root + "/kept", root + "/sub/a.txt"); } catch {}`,
  "a folder swapped for a link": `
    try { fs.renameSync(root + "/sub", root + "/folder"); fs.renameSync(root + "/link", root + "/sub"); } catch {}
    try { fs.renameSync(root + "/sub", root + "/link"); fs.renameSync(root + "/folder", root + "/sub"); } catch {}`,
  "a rename under way": `
    try { fs.renameSync(root + "/sub", root + "/other"); } catch {}
    try { fs.mkdirSync(root + "/sub"); fs.symlinkSync(outside + "/deep", root + "/sub/deep"); } catch {}
    try { fs.renameSync(root + "/sub", root + "/gone-" + (count += 1)); } catch {}
    try { fs.renameSync(root + "/other", root + "/sub"); } catch {}
    try { fs.rmSync(root + "/gone-" + count, { recursive: true }); } catch {}`,
};

const runner = (body: string): string => `
  const fs = require("node:fs");
  const { workerData: { root, outside } } = require("node:worker_threads");
  let count = 0;
  fs.symlinkSync(outside, root + "/link");
  for (;;) {${body}
  }`;

/** Everything below a folder: names, contents, and when each was changed. */
function readState(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const rows = entries.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return `${path} ${statSync(path).mtimeMs} ${entry.isFile() ? readFileSync(path, "utf8") : ""}`;
  });
  return rows.toSorted().join("\n");
}

describe.each(Object.entries(races))("%s", (name, body) => {
  test(verifies("S-21", `${TRIES} tries: no tool leaves the workspace`), { timeout: soakTimeout }, async () => {
    const { context, root, outside, write } = createFileToolContext();
    write("sub/a.txt", "inside\n");
    write("sub/deep/b.txt", "inside\n");
    writeFileSync(join(outside, "a.txt"), "secret\n");
    mkdirSync(join(outside, "deep"));
    writeFileSync(join(outside, "deep", "b.txt"), "secret\n");
    const before = readState(outside);
    const worker = new Worker(runner(body), { eval: true, workerData: { root, outside } });
    onTestFinished(() => void worker.terminate());
    let successes = 0;
    for (let index = 0; index < TRIES; index += 1) {
      const file = index % 2 === 0 ? "sub/a.txt" : "sub/deep/b.txt";
      const fresh = `sub/${index % 3 === 0 ? "deep/" : ""}new-${index}.txt`;
      // Nothing is remembered from one try to the next.
      context.state.fileHashes.clear();
      const outcomes = [
        await readFileTool.run({ target_file: file }, context),
        await editFileTool.run({ target_file: file, edits: [{ old_string: "i", new_string: "i" }] }, context),
        await writeFileTool.run({ target_file: fresh, content: "new\n" }, context),
        await renameFileTool.run({ source_file: fresh, destination_file: `${fresh}.moved` }, context),
        await deleteFileTool.run({ target_file: `${fresh}.moved` }, context),
        await writeFileTool.run({ target_file: file, content: "inside\n" }, context),
      ];
      for (const { output, error } of outcomes) expect(`${output} ${error?.details}`).not.toContain("secret");
      successes += outcomes.filter(({ status }) => status === "success").length;
    }
    await worker.terminate();
    expect(readState(outside)).toBe(before);
    reportFigure("S-21", `${name}: ${TRIES} tries, 0 escapes, ${successes} of ${TRIES * 6} calls got through`);
    // The race was one: some calls got through, and some did not.
    expect(successes).toBeGreaterThan(0);
    expect(successes).toBeLessThan(TRIES * 6);
  });
});
