import { execFileSync } from "node:child_process";
import { lstatSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { writeOutputFile } from "../src/output-file.ts";

const folder = mkdtempSync(join(tmpdir(), "sheaf-output-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a file is written whole; a pipe or a device never gives way to one", () => {
  const file = join(folder, "a.md");
  writeOutputFile(file, "one");
  writeOutputFile(file, "two");
  expect(readFileSync(file, "utf8")).toBe("two");
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  expect(() => writeOutputFile(pipe, "text")).toThrow("pipe is not a file");
  expect(lstatSync(pipe).isFIFO()).toBe(true);
});
