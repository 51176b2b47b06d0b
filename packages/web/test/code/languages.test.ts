import { expect, test } from "vitest";
import { toGrammar, toLanguage } from "../../src/code/languages.ts";

test.each([
  ["src/main.py", "python"],
  ["src/View.TSX", "typescript"],
  ["C:\\a\\b.rs", "rust"],
  ["Dockerfile", "dockerfile"],
  ["deploy/Makefile", "makefile"],
  ["a/CMakeLists.txt", "cmake"],
  ["c.txt", undefined],
  ["go", undefined],
  ["notes", undefined],
  ["x.constructor", undefined],
  ["", undefined],
])("%s is highlighted as %s", (path, grammar) => {
  expect(toGrammar(toLanguage(path))).toBe(grammar);
});
