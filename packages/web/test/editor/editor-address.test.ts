import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { toEditorAddress } from "../../src/editor/editor-address.ts";

const toAddress = (path: string, folder = "/home/me/{workspace}/", line = 7) =>
  toEditorAddress("vscode", folder, { path, line, workspace: "shop" });

test("a file of the workspace, at its line, in the folder that the user typed", () => {
  expect(toAddress("src/a b.ts")).toBe("vscode://file/home/me/shop/src/a%20b.ts:7");
  expect(toAddress("src\\a.ts", "C:\\code")).toBe("vscode://file/C:/code/src/a.ts:7");
  expect(toEditorAddress("idea", "/w", { path: "a&b.ts", line: 0, workspace: "" })).toBe(
    "idea://open?file=/w/a%26b.ts&line=1",
  );
  const place = { path: "a.ts", line: 1, workspace: "$&" };
  expect(toEditorAddress("vscode", "/w/{workspace}", place)).toBe("vscode://file/w/%24%26/a.ts:1");
});

test.each([
  ["../secret", "/w"],
  ["a/../../secret", "/w"],
  ["a\\..\\secret", "/w"],
  ["/etc/passwd", "/w"],
  ["C:\\secret", "/w"],
  ["a\u0000b", "/w"],
  ["", "/w"],
  ["a", ""],
  ["a", "relative"],
  ["a", "//host/share"],
  ["a", "javascript:hit()"],
])(verifies("S-114", "%j in %j has no address"), (path, folder) => {
  expect(toAddress(path, folder)).toBeUndefined();
});

test(verifies("S-114", "a path cannot add to the address"), () => {
  expect(toAddress("a?b#c%2e.ts:1")).toBe("vscode://file/home/me/shop/a%3Fb%23c%252e.ts%3A1:7");
});
