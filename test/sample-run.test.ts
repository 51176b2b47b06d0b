import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { findCalledFunctions } from "../scripts/sample-run.ts";

let root: string;
/** What the samples make lies in here. */
let temporary: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sheaf-test-"));
  temporary = join(root, "temporary");
  mkdirSync(temporary);
  vi.stubEnv("TMPDIR", temporary);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

function writeProgram(text: string): string {
  const file = join(root, "program.js");
  writeFileSync(file, text);
  return file;
}

describe("the sample runs of the build", () => {
  test("tell which functions were called, in any of them", async () => {
    const always = "function always() { return 1; }";
    const once = "function once() { return 2; }";
    const text = `${always}\n${once}\nfunction never() { return 3; }\nalways();\nif (process.argv.includes("google/m")) once();\n`;
    const file = writeProgram(text);
    const called = (await findCalledFunctions(file)).get(file);
    expect(called).toEqual(
      new Set([`0:${text.length}`, `0:${always.length}`, `${always.length + 1}:${always.length + 1 + once.length}`]),
    );
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("fail with what the program said, when all have ended, and leave nothing", async () => {
    const late = join(root, "late");
    const file = writeProgram(`
      const { appendFileSync } = require("node:fs");
      if (process.argv.includes("openai-compatible/m")) {
        console.error("no such thing");
        process.exit(4);
      }
      setTimeout(() => appendFileSync(${JSON.stringify(late)}, "x"), 500);
    `);
    await expect(findCalledFunctions(file)).rejects.toThrow(
      /^sheaf -p --model openai-compatible\/m .* ended with 4; .* 127\.0\.0\.1, which must be reachable: no such thing\n$/,
    );
    expect(readdirSync(root)).toContain("late");
    expect(readdirSync(temporary)).toEqual([]);
  });
});
