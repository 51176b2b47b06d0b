import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { notLinux, skipIfMissing } from "../../../test/support/describe-where.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { makeFolder } from "../src/make-folder.ts";

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test(verifies("S-42", "what is missing is made for this user alone, what is there stays as it is"), () => {
  const folder = createFolder();
  mkdirSync(join(folder, "open"), { mode: 0o755 });
  makeFolder(join(folder, "open/a/b"));
  expect(["open", "open/a", "open/a/b"].map((name) => modeOf(join(folder, name)))).toEqual([0o755, 0o700, 0o700]);
  makeFolder(join(folder, "open"));
  expect(modeOf(join(folder, "open"))).toBe(0o755);
});

test("where none can be made it says so at once", () => {
  const folder = createFolder();
  writeFileSync(join(folder, "file"), "");
  symlinkSync(join(folder, "nowhere/at/all"), join(folder, "link"));
  const toCode = (path: string): unknown => {
    try {
      makeFolder(path);
      return undefined;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
  };
  expect(toCode(join(folder, "file"))).toBe("EEXIST");
  expect(toCode(join(folder, "file/a/b"))).toBe("ENOTDIR");
  expect(toCode(join(folder, "link"))).toBe("EEXIST");
  expect(toCode(join(folder, "link/a"))).toBe("EEXIST");
});

test("below /proc as well, where Node would try for ever", () => {
  skipIfMissing(notLinux);
  expect(() => makeFolder("/proc/none/a")).toThrow(/ENOENT/);
  expect(() => makeFolder("/proc/none")).toThrow(/ENOENT/);
});
