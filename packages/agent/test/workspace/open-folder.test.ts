import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { writeFileAtomically } from "../../src/workspace/atomic-write.ts";
import { openFolder } from "../../src/workspace/open-folder.ts";
import { readWholeFile } from "../../src/workspace/read-file.ts";
import { createTemporaryWorkspace } from "./temporary-workspace.ts";

describe("a link that is put in place behind the check", () => {
  test(verifies("S-21", "is not followed as a folder"), async () => {
    const { root, outside, path, write } = createTemporaryWorkspace();
    write("sub/a.txt", "inside");
    writeFileSync(join(outside, "a.txt"), "secret");
    const checked = path("sub/a.txt");
    renameSync(join(root, "sub"), join(root, "moved"));
    symlinkSync(outside, join(root, "sub"));
    expect(await readWholeFile(root, checked, 100)).toMatchObject({ ok: false, error: { code: "PATH_INVALID" } });
    expect(await writeFileAtomically(root, checked, Buffer.from("x"), undefined)).toMatchObject({
      ok: false,
      error: { code: "PATH_INVALID" },
    });
    expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("secret");
  });

  test(verifies("S-21", "is not followed as a file"), async () => {
    const { root, outside, path, write } = createTemporaryWorkspace();
    const file = write("a.txt", "inside");
    writeFileSync(join(outside, "a.txt"), "secret");
    const checked = path("a.txt");
    rmSync(file);
    symlinkSync(join(outside, "a.txt"), file);
    expect(await readWholeFile(root, checked, 100)).toMatchObject({ ok: false, error: { code: "PATH_INVALID" } });
    expect(await writeFileAtomically(root, checked, Buffer.from("x"), undefined)).toMatchObject({ ok: false });
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

/** Swaps `sub` between a folder and a link that leads out, as fast as it can. */
const swapping = `
  const { renameSync, symlinkSync, mkdirSync } = require("node:fs");
  const { workerData: { root, outside } } = require("node:worker_threads");
  symlinkSync(outside, root + "/link");
  for (;;) {
    try { renameSync(root + "/sub", root + "/folder"); renameSync(root + "/link", root + "/sub"); } catch {}
    try { renameSync(root + "/sub", root + "/link"); renameSync(root + "/folder", root + "/sub"); } catch {}
  }`;

test(
  verifies("S-21", "a folder swapped for a link all the time: no read and no write leaves the workspace"),
  async () => {
    const { root, outside, workspace, write } = createTemporaryWorkspace();
    write("sub/a.txt", "inside");
    writeFileSync(join(outside, "a.txt"), "secret");
    mkdirSync(join(outside, "deep"));
    const worker = new Worker(swapping, { eval: true, workerData: { root, outside } });
    onTestFinished(() => void worker.terminate());
    const seen = new Set<string>();
    for (let round = 0; round < 2000; round += 1) {
      const resolved = workspace.resolve("sub/a.txt");
      if (!resolved.ok) continue;
      const file = await readWholeFile(root, resolved.path, 100);
      if (file.ok) seen.add(file.value.bytes.toString());
      const fresh = workspace.resolve(`sub/deep/${round}.txt`);
      if (round % 10 === 0 && fresh.ok) await writeFileAtomically(root, fresh.path, Buffer.from("x"), undefined);
    }
    await worker.terminate();
    expect([...seen]).toEqual(["inside"]);
    expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("secret");
    expect(readdirSync(join(outside, "deep"))).toEqual([]);
  },
);
