/** What the source of the page must not hold. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";

const root = join(import.meta.dirname, "../../packages/web");
const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/;

test(verifies("S-61", "no source of the page turns a string into elements or code"), () => {
  const files = globSync(["src/**/*", "index.html", "public/**/*"], { cwd: root }).filter((path) =>
    /\.\w+$/.test(path),
  );
  expect(files.length).toBeGreaterThan(60);
  const found = files.filter((path) => forbidden.test(readFileSync(join(root, path), "utf8")));
  expect(found).toEqual([]);
});
