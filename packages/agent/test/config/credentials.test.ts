import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { changeCredentials, readCredentials } from "../../src/config/credentials.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";

const root = createTemporaryFolder(undefined, afterAll);

let count = 0;
let folder = "";
let file = "";
beforeEach(() => {
  folder = join(root, `${(count += 1)}`, "sheaf");
  file = join(folder, "credentials.json");
});

const keys = new Map([
  ["openai", "CANARY-1"],
  ["anthropic", "CANARY-2"],
]);
const toMode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

const writeKeys = (written: ReadonlyMap<string, string>): void => changeCredentials(file, () => written);

/** What reading fails with. */
function fail(): { code: string; message: string } {
  try {
    readCredentials(file);
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error("it did not fail");
}

describe("writing", () => {
  test(verifies("S-42", "file 0600 in a folder 0700, whatever the mask, nothing but an empty lock beside it"), () => {
    const mask = process.umask(0);
    try {
      writeKeys(keys);
    } finally {
      process.umask(mask);
    }
    expect([toMode(file), toMode(folder)]).toEqual(["600", "700"]);
    expect(readdirSync(folder)).toEqual(["credentials.json", "credentials.json.lock"]);
    expect([toMode(`${file}.lock`), statSync(`${file}.lock`).size]).toEqual(["600", 0]);
    expect(readCredentials(file)).toEqual(keys);
  });

  test.each([0o755, 0o775, 0o1777])(
    verifies("S-42", "a folder that is there keeps its mode %o, and the file in it is the user's alone"),
    (mode) => {
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, mode);
      writeKeys(keys);
      expect([toMode(folder), toMode(file)]).toEqual([(mode & 0o777).toString(8), "600"]);
    },
  );

  test(verifies("S-42", "a new file takes the place of the old one: who has it open keeps the old keys"), () => {
    writeKeys(keys);
    const before = statSync(file).ino;
    writeKeys(new Map([["openai", "new"]]));
    expect(statSync(file).ino).not.toBe(before);
    expect(toMode(file)).toBe("600");
    expect([...readCredentials(file)]).toEqual([["openai", "new"]]);
  });

  test(verifies("S-42", "a link in its place is refused, not followed"), () => {
    mkdirSync(folder, { recursive: true });
    const target = join(root, "target");
    writeFileSync(target, "untouched");
    symlinkSync(target, file);
    expect(fail().message).toContain("is a link");
    expect(() => writeKeys(keys)).toThrow("is a link");
    expect(readFileSync(target, "utf8")).toBe("untouched");
  });

  test("a write that fails leaves the old file and no other", () => {
    writeKeys(keys);
    const text = readFileSync(file, "utf8");
    rmSync(file);
    mkdirSync(file);
    expect(() => writeKeys(keys)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(readdirSync(folder)).toEqual(["credentials.json", "credentials.json.lock"]);
    expect(text).toContain("CANARY-1");
  });

  test("without a key the file goes", () => {
    writeKeys(keys);
    writeKeys(new Map());
    expect(existsSync(file)).toBe(false);
    expect(readCredentials(file).size).toBe(0);
  });
});

describe("reading", () => {
  test.each([0o640, 0o604, 0o660, 0o666])(verifies("S-42", "a file of mode %o is refused"), (mode) => {
    writeKeys(keys);
    chmodSync(file, mode);
    expect(fail()).toMatchObject({ code: "CONFIG_INVALID" });
    expect(fail().message).toContain(`can be opened by others (mode 0${mode.toString(8)}): run chmod 600`);
  });

  test.each([
    ["", "damaged"],
    ['{"version":1,"keys":{"openai":"CANARY', "damaged"],
    ['{"version":1,"keys":{"openai":"CANARY"},}', "damaged"],
    ["CANARY", "damaged"],
    ["null", "damaged"],
    ["[]", "damaged"],
    ['{"version":2,"keys":{}}', "damaged"],
    ['{"version":1,"keys":{"openai":17}}', "damaged"],
    ['{"version":1,"keys":{"openai":"CANARY with blanks"}}', "damaged"],
  ])(verifies(["S-04", "S-41"], "%j is told without its content"), (text, message) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
    expect(fail()).toMatchObject({ code: "CONFIG_INVALID" });
    expect(fail().message).toContain(file);
    expect(fail().message).toContain(message);
    expect(fail().message).not.toContain("CANARY");
    expect((fail() as { cause?: unknown }).cause).toBeUndefined();
  });

  test("a folder in its place is told", () => {
    mkdirSync(file, { recursive: true });
    expect(fail()).toMatchObject({ code: "CONFIG_INVALID" });
  });
});
