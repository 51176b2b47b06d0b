import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { toAbsolutePath, toWorkspacePath } from "../src/workspace-path.ts";

test.each([
  ["src/a.ts", "/w", "src/a.ts"],
  ["/w/src/a.ts", "/w", "src/a.ts"],
  ["/w/src/a.ts", "/w/", "src/a.ts"],
  ["./src//a.ts", "/w", "src/a.ts"],
  ["src/../a.ts", "/w", "a.ts"],
  ["/w/x/../a b.ts", "/w", "a b.ts"],
  ["../b.ts", "/w", "../b.ts"],
  ["/w/../b.ts", "/w", "/w/../b.ts"],
  ["/w-evil/a.ts", "/w", "/w-evil/a.ts"],
  ["/other/a.ts", "/w", "/other/a.ts"],
  ["/w", "/w", "/w"],
  ["/a.ts", "/", "a.ts"],
  [".", "/w", "."],
  ["", "/w", ""],
  ["a\\b.ts", "/w", "a\\b.ts"],
  [String.raw`c:\Users\Admin\a b.c`, "/w", String.raw`c:\Users\Admin\a b.c`],
  ["c:/Users/x/../a.c", "/w", "c:/Users/x/../a.c"],
  ["vscode-remote://ssh:22/a.ts", "/w", "vscode-remote://ssh:22/a.ts"],
  ["file:///w/a.ts", "/w", "file:///w/a.ts"],
  [String.raw`C:\w\src\a.ts`, String.raw`C:\w`, "src/a.ts"],
  [String.raw`c:\W\src\a.ts`, String.raw`C:\w`, "src/a.ts"],
  ["C:/w/src/a.ts", String.raw`C:\w`, "src/a.ts"],
  [String.raw`src\a.ts`, String.raw`C:\w`, "src/a.ts"],
  [String.raw`D:\w\a.ts`, String.raw`C:\w`, String.raw`D:\w\a.ts`],
  ["/w/a.ts", String.raw`C:\w`, "/w/a.ts"],
  [String.raw`\\server\share\a.ts`, String.raw`\\server\share`, "a.ts"],
  [String.raw`\\server\share\a.ts`, "/w", String.raw`\\server\share\a.ts`],
])(verifies("N21", "%s in %s is %s"), (path, workspace, expected) => {
  expect(toWorkspacePath(path, workspace)).toBe(expected);
});

test.each([
  ["", "/w", "/w"],
  [".", "/w", "/w"],
  ["src", "/w", "/w/src"],
  ["./src", "/w/", "/w/src"],
  ["/tmp", "/w", "/tmp"],
  ["src", String.raw`C:\w`, String.raw`C:\w\src`],
  [String.raw`D:\x`, String.raw`C:\w`, String.raw`D:\x`],
])(verifies("N38", "the directory %j in %s is %s"), (path, workspace, expected) => {
  expect(toAbsolutePath(path, workspace)).toBe(expected);
});
