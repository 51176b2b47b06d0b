import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { readNamedFile } from "../src/read-named-file.ts";

const folder = mkdtempSync(join(tmpdir(), "sheaf-named-"));
afterAll(() => rmSync(folder, { recursive: true }));

const makePipe = (name: string): string => {
  const path = join(folder, name);
  execFileSync("mkfifo", [path]);
  return path;
};

test("a file, and a pipe whose writer comes late and writes more than a pipe holds", async () => {
  const text = "über\n".repeat(100_000);
  const file = join(folder, "file");
  writeFileSync(file, text);
  expect(await readNamedFile(file)).toBe(text);
  const pipe = makePipe("late");
  const reading = readNamedFile(pipe);
  await wait(50);
  await writeFile(pipe, text);
  expect(await reading).toBe(text);
});

test("a pipe that nobody writes is waited for until the signal comes", async () => {
  const controller = new AbortController();
  const reading = readNamedFile(makePipe("silent"), controller.signal);
  const reason = new Error("enough");
  setTimeout(() => controller.abort(reason), 50);
  await expect(reading).rejects.toBe(reason);
});

test("what never ends is not read", async () => {
  await expect(readNamedFile("/dev/zero")).rejects.toThrow("neither a file nor a pipe");
  await expect(readNamedFile(folder)).rejects.toThrow("it is a folder");
  await expect(readNamedFile(join(folder, "none"))).rejects.toThrow("the file does not exist");
});
