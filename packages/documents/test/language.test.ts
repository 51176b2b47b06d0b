import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { toLanguage } from "../src/language.ts";

describe("toLanguage", () => {
  test.each([
    ["src/main.py", "python"],
    ["a.ts", "typescript"],
    ["a.test.tsx", "tsx"],
    ["a.d.mts", "typescript"],
    ["c:\\Users\\Admin\\a b.CS", "csharp"],
    ["vscode-remote://ssh:22/a.rs", "rust"],
    ["Dockerfile", "dockerfile"],
    ["docker/Dockerfile.dev", "dockerfile"],
    ["Makefile", "makefile"],
    ["CMakeLists.txt", "cmake"],
    [".gitignore", "ignore"],
    [".env.local", "properties"],
    [".bashrc", "bash"],
    ["a.yml", "yaml"],
    ["a.h++", "cpp"],
    ["src/a.py/", ""],
    ["", ""],
    ["README", ""],
    ["a.", ""],
    ["a.unknown", ""],
    ["constructor", ""],
    ["a.constructor", ""],
    ["a.py\u0000", ""],
  ])(verifies(["N12", "N20"], "%j is %j"), (path, language) => {
    expect(toLanguage(path)).toBe(language);
  });
});
