import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createQuoteFinder } from "../../src/assemble/find-quote.ts";
import type { PermissionDecision } from "@sheaf/permissions/decision";
import type { Permissions } from "@sheaf/permissions/permissions";
import { createTemporaryWorkspace } from "../../../base/test/files/temporary-workspace.ts";

const allow: PermissionDecision = { decision: "allow", reason: "" };
const deny: PermissionDecision = { decision: "deny", reason: "", rule: "" };
/** A rule that keeps one file from the model. */
const permissions = {
  decide: async ({ paths }) => (paths?.files.includes("secret.ts") ? deny : allow),
} as Permissions;

test.each([
  ["where it is said to be", "1:2:a.ts", "one\ntwo", [1, 2]],
  ["elsewhere", "1:2:a.ts", "three\nthree and more", [3, 4]],
  ["elsewhere, at the end", "9:9:a.ts", "last", [9, 9]],
  ["there, but with another number of lines", "1:5:a.ts", "one\ntwo", [1, 2]],
  ["in a file with other line ends", "1:1:crlf.ts", "two\nthree", [2, 3]],
  ["part of a line", "1:1:a.ts", "three and", undefined],
  ["at several places", "1:1:a.ts", "twice", undefined],
  ["without a letter or digit", "1:1:a.ts", "}", undefined],
  ["nowhere", "1:1:a.ts", "nothing", undefined],
  ["in a file that a rule denies", "1:1:secret.ts", "key", undefined],
  ["outside of the workspace", "1:1:../w-evil/a.ts", "one", undefined],
  ["in a file that is not there", "1:1:b.ts", "one", undefined],
] as const)(verifies("N61", "a quote is found: %s"), async (_, reference, content, lines) => {
  const { workspace, write } = createTemporaryWorkspace();
  write("a.ts", "one\ntwo\nthree\nthree and more\n}\ntwice\ntwice\n\nlast");
  write("crlf.ts", "one\r\ntwo\r\nthree\r\n");
  write("secret.ts", "none\nkey\n");
  write("../w-evil/a.ts", "two\none\n");
  const find = createQuoteFinder(workspace, permissions, new AbortController().signal);
  const [start = "", end = "", filePath = ""] = reference.split(":");
  const found = await find({ filePath, startLine: Number(start), endLine: Number(end), content });
  expect(found).toEqual(lines && { startLine: lines[0], endLine: lines[1] });
});
