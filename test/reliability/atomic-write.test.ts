/** A process that is killed at any moment of a write leaves one whole file. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTestFolder } from "../support/sheaf.ts";
import { chooseRuns, reportFigure, soakTimeout } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const writer = join(import.meta.dirname, "../../packages/base/test/files/write-in-process.ts");
const size = 5_000_000;
const kills = chooseRuns(20, 200);

test(
  verifies("R-16", "a process that is killed while it writes 5 MB leaves the old or the new content"),
  { timeout: soakTimeout },
  async () => {
    const workspace = folders.newFolder();
    const file = join(workspace, "a.txt");
    writeFileSync(file, "o".repeat(size));
    const contents = new Set<string>();
    for (let round = 0; round < kills; round += 1) {
      const child = spawn(process.execPath, [writer, `${size}`, workspace, "endless"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      await sleep((round * 3) % 97);
      child.kill("SIGKILL");
      await once(child, "exit");
      const text = readFileSync(file, "utf8");
      expect(text.length).toBe(size);
      expect(text === text[0]!.repeat(size)).toBe(true);
      contents.add(text[0]!);
    }
    reportFigure("R-16", `${kills} kills, ${contents.size} different contents, all whole`);
    expect(contents.size).toBeGreaterThan(0);
  },
);
