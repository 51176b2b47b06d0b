import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";
import { listRuntimes } from "../../src/assemble/prepare-notes.ts";

test(verifies("C38", "the runtimes on PATH have the versions that their paths show"), () => {
  const root = createTemporaryFolder();
  const bin = join(root, "7", "bin");
  mkdirSync(bin, { recursive: true });
  const programs = {
    node: "versions/node/v20.3.1/bin/node",
    python3: "lib/python3.11",
    java: "jvm/java-17-openjdk-amd64/bin/java",
    go: "lib/go-1.19/bin/go",
    gcc: "lib/x86_64-linux-gnu-gcc-12",
    deno: "7/lib/deno",
    php: "lib/php3",
    bun: process.execPath,
  };
  for (const [name, place] of Object.entries(programs)) {
    const target = place.startsWith("/") ? place : join(root, place);
    if (target !== place) {
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, "", { mode: 0o755 });
    }
    symlinkSync(target, join(bin, name));
  }
  writeFileSync(join(bin, "ruby"), "");
  const found = [
    "node 20.3.1",
    `bun ${process.versions.node}`,
    "deno",
    "python3 3.11",
    "php",
    "java 17",
    "go 1.19",
    "gcc 12",
  ];
  expect(listRuntimes({ PATH: `relative:${bin}` })).toEqual(found);
});
