import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { toRealArguments } from "../../src/tools/real-arguments.ts";
import { createToolBox } from "../../src/tools/tool-box.ts";
import { createPolicy } from "../guard/permissions/policy.ts";
import { createFileToolContext } from "./file-tool-context.ts";

test("paths become where they lead to; all else stays", () => {
  const { workspace, root, write } = createFileToolContext();
  write("secret/key.txt", "x");
  symlinkSync("secret", join(root, "alias"));
  const args = {
    target_file: "alias/key.txt",
    path: `${root}/alias`,
    target_directories: ["alias", "../out"],
    content: "alias",
    limit: 1,
  };
  expect(toRealArguments(args, workspace)).toEqual({
    target_file: "secret/key.txt",
    path: "secret",
    target_directories: ["secret", "../out"],
    content: "alias",
    limit: 1,
  });
  const plain = { target_file: "secret/key.txt", limit: 1 };
  expect(toRealArguments(plain, workspace)).toBe(plain);
});

test(verifies(["S-06", "S-14"], "a deny rule holds also for a link that leads to what it names"), async () => {
  const { context, root, write, read } = createFileToolContext();
  write("secret/key.txt", "CANARY\n");
  symlinkSync("secret", join(root, "alias"));
  symlinkSync("secret/key.txt", join(root, "harmless.txt"));
  const permissions = createPolicy({ force: true, deny: ["Read(secret/**)", "Write(secret/**)"] });
  const tools = createToolBox({ ...context, permissions });
  const calls = [
    ["read_file", { target_file: "alias/key.txt" }],
    ["read_file", { target_file: "harmless.txt" }],
    ["grep_search", { pattern: "CANARY", path: "alias" }],
    ["glob_search", { pattern: "*", target_directory: "alias" }],
    ["list_dir", { target_directory: "alias" }],
    ["write_file", { target_file: "alias/key.txt", content: "changed" }],
    ["edit_file", { target_file: "harmless.txt", edits: [{ old_string: "CANARY", new_string: "x" }] }],
    ["delete_file", { target_file: "alias/key.txt" }],
    ["rename_file", { source_file: "alias/key.txt", destination_file: "here.txt" }],
  ] as const;
  for (const [toolName, args] of calls) {
    const options = { signal: context.signal, emitOutput: () => undefined };
    const outcome = await tools.execute({ callId: "call_1", toolName, arguments: args }, options);
    expect(outcome, toolName).toMatchObject({ status: "rejected", error: { code: "PERMISSION_DENIED" } });
    expect(JSON.stringify(outcome)).not.toContain("CANARY");
  }
  expect(read("secret/key.txt")).toBe("CANARY\n");
});
