import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toStartError } from "../src/programs.ts";

const program = "/usr/bin/bwrap";

function readError(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}

test("a folder that cannot be read is named", () => {
  const other = readError(() => readdirSync("/nonexistent"));
  expect(toStartError(other, program, "/")).toBe("ENOENT: no such file or directory, scandir '/nonexistent'");
});

test("of the program itself the reason is told, wherever it lies", () => {
  const path = join(tmpdir(), "bwrap");
  const toError = (code: string): Error => Object.assign(new Error(code), { code, path, syscall: `spawn ${path}` });
  expect(toStartError(toError("ENOENT"), path, "/")).toBe(`${path} does not exist`);
  expect(toStartError(toError("EACCES"), path, "/")).toBe("it is not executable");
});
