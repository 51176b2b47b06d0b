import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { changeUserConfig } from "../../src/config/config-file.ts";
import { holdFileLock, withFileLock } from "@sheaf/base/file-lock";
import { changePrivateFile } from "../../src/config/private-file.ts";
import { startHolder } from "./lock-holder.ts";

const folders = createTestFolder();

describe("the lock of a file", () => {
  test(verifies("R-74", "that another process keeps is an error with its path, until that one is dead"), async () => {
    const file = join(folders.newFolder(), "a file.json");
    const kill = await startHolder(file);
    const held = {
      code: "STORAGE_LOCKED",
      message: `another process has held the lock ${file}.lock for 0.01 s: find it with fuser "${file}.lock", end it, and try again`,
    };
    expect(() => withFileLock(file, () => "never", 10)).toThrow(expect.objectContaining(held));
    await expect(holdFileLock(file, async () => "never", { patienceMs: 10 })).rejects.toMatchObject(held);
    kill();
    expect(withFileLock(file, () => "done")).toBe("done");
    await expect(holdFileLock(file, async () => "done", { patienceMs: 10_000 })).resolves.toBe("done");
  });

  test(verifies("R-74", "is free after a failure in it"), () => {
    const file = join(folders.newFolder(), "a.json");
    const fail = (): never => {
      throw new Error("failed");
    };
    expect(() => withFileLock(file, fail)).toThrow("failed");
    expect(withFileLock(file, () => "done", 0)).toBe("done");
  });

  test.each([
    ["a folder", (path: string) => mkdirSync(path), "it is not a file"],
    ["a link", (path: string) => symlinkSync("elsewhere", path), "it is not a file"],
    ["another file", (path: string) => writeFileSync(path, "not empty ".repeat(100)), "file is not a database"],
  ])(verifies("R-74", "cannot be %s: the error names it, and nothing is written"), (_name, make, problem) => {
    const folder = folders.newFolder({ "config.json": "{}\n" });
    const file = join(folder, "config.json");
    make(`${file}.lock`);
    const message = `the lock ${file}.lock cannot be used (${problem}): remove it, and try again`;
    expect(() => changeUserConfig(file, () => ({ model: "offline" }))).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message }),
    );
    expect(readFileSync(file, "utf8")).toBe("{}\n");
    expect(existsSync(join(folder, "elsewhere"))).toBe(false);
  });

  test(verifies(["R-74", "S-42"], "is opened by its user alone, and needed only for a change"), () => {
    const target = { file: join(folders.newFolder(), "new/a.json"), subject: "the file", remedy: "remove it" };
    changePrivateFile(target, (text) => text);
    expect(existsSync(join(target.file, ".."))).toBe(false);
    changePrivateFile(target, () => "one");
    expect(statSync(`${target.file}.lock`).mode & 0o777).toBe(0o600);
    rmSync(`${target.file}.lock`);
    expect(changePrivateFile(target, (text) => text)).toEqual({ before: "one", after: "one" });
    expect(existsSync(`${target.file}.lock`)).toBe(false);
  });

  test(verifies("R-74", "that cannot be made says what to do about its folder"), () => {
    const file = join(folders.newFolder({ file: "" }), "file/config.json");
    expect(() => withFileLock(file, () => "never")).toThrow(
      `the lock ${file}.lock cannot be written (EEXIST): check the permissions of its folder, or set SHEAF_HOME`,
    );
  });
});
