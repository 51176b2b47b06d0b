import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sheafVersion } from "../src/version.ts";

test("the version is that of every package", () => {
  for (const name of ["protocol", "documents", "client", "cli"]) {
    const text = readFileSync(join(import.meta.dirname, `../../${name}/package.json`), "utf8");
    expect((JSON.parse(text) as { version: string }).version, name).toBe(sheafVersion);
  }
});
