import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { chooseWorkspace, listPaths, listSpellings } from "../../src/tools/real-arguments.ts";
import { createToolBox } from "../../src/tools/tool-box.ts";
import { createWorkspace } from "@sheaf/base/files/workspace";
import { createPolicy } from "../../../permissions/test/policy.ts";
import { createFileToolContext } from "./file-tool-context.ts";

test("paths become the entries that they name and the places where they lead; all else stays", () => {
  const { workspace, root, write } = createFileToolContext();
  write("secret/key.txt", "x");
  symlinkSync("secret", join(root, "alias"));
  symlinkSync("../open.txt", join(root, "secret", "link"));
  const tool = { paths: { files: ["target_file", "other_file"], folders: ["path", "target_directories"] } };
  const args = {
    target_file: "alias/link",
    other_file: 7,
    path: `${root}/alias`,
    target_directories: ["alias/key.txt", "../out"],
    content: "alias",
  };
  const said = listPaths(tool, args)!;
  expect(said).toEqual({ files: ["alias/link"], folders: [`${root}/alias`, "alias/key.txt", "../out"] });
  expect(listSpellings(said, workspace)).toEqual([
    { ...said, root },
    { files: ["secret/link"], folders: ["alias", "secret/key.txt", "../out"], root },
    { files: ["open.txt"], folders: ["secret", "secret/key.txt", "../out"], root },
  ]);
  expect(listPaths(tool, {})).toEqual({ files: [], folders: ["."] });
});

test("a call works in an added folder also if it names it by a link", () => {
  const { workspace, root, outside } = createFileToolContext();
  const added = createWorkspace(outside, { isAdded: true });
  symlinkSync(outside, `${outside}-alias`);
  onTestFinished(() => rmSync(`${outside}-alias`));
  const choose = (path: string) => chooseWorkspace({ files: [path], folders: [] }, workspace, [added]);
  expect([`${outside}/a.txt`, `${outside}-alias/a.txt`].map(choose)).toEqual([added, added]);
  expect([`${root}/a.txt`, "a.txt", `${outside}-evil/a.txt`].map(choose)).toEqual([workspace, workspace, workspace]);
});

test.each([
  ["", "deny"],
  ["ROOT/", "deny"],
  ["ROOT/", "ask"],
] as const)(
  verifies(["S-06", "S-14"], "a rule for %ssecret/** holds for links that lead there: %s"),
  async (start, effect) => {
    const { context, root, write, read } = createFileToolContext();
    const place = `${start.replace("ROOT", root)}secret/**`;
    write("secret/key.txt", "CANARY\n");
    symlinkSync("secret", join(root, "alias"));
    symlinkSync("secret/key.txt", join(root, "harmless.txt"));
    symlinkSync("../open.txt", join(root, "secret", "link"));
    const permissions = createPolicy({ force: true, [effect]: [`Read(${place})`, `Write(${place})`] });
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
      ["delete_file", { target_file: "alias/link" }],
      ["rename_file", { source_file: "alias/key.txt", destination_file: "here.txt" }],
      ["rename_file", { source_file: "alias/link", destination_file: "here.txt" }],
    ] as const;
    for (const [toolName, args] of calls) {
      const outcome = await tools.execute({ callId: "call_1", toolName, arguments: args }, context);
      expect(outcome, toolName).toMatchObject({ status: "rejected", error: { code: "PERMISSION_DENIED" } });
      expect(JSON.stringify(outcome)).not.toContain("CANARY");
    }
    expect(read("secret/key.txt")).toBe("CANARY\n");
  },
);

test(verifies("S-84", "a folder that is swapped for a link once it was judged is not followed"), async () => {
  const { context, root, outside, write, read } = createFileToolContext();
  write("docs/key.txt", "open\n");
  write("secret/key.txt", "CANARY\n");
  writeFileSync(`${outside}/key.txt`, "CANARY\n");
  const policy = createPolicy({ force: true, deny: ["Read(secret/**)", "Write(secret/**)"] });
  const calls = [
    ["read_file", { target_file: "docs/key.txt" }],
    ["list_dir", { target_directory: "docs" }],
    ["glob_search", { pattern: "*", target_directory: "docs" }],
    ["write_file", { target_file: "docs/key.txt", content: "changed" }],
    ["edit_file", { target_file: "docs/key.txt", edits: [{ old_string: "CANARY", new_string: "x" }] }],
    ["delete_file", { target_file: "docs/key.txt" }],
    ["rename_file", { source_file: "docs/key.txt", destination_file: "here.txt" }],
    ["rename_file", { source_file: "here.txt", destination_file: "docs/new.txt" }],
  ] as const;
  for (const target of ["secret", outside]) {
    symlinkSync(target, join(root, "link"));
    const swap = (one: string, other: string): void => {
      renameSync(join(root, one), join(root, "aside"));
      renameSync(join(root, other), join(root, one));
      renameSync(join(root, "aside"), join(root, other));
    };
    const permissions: typeof policy = {
      ...policy,
      async decide(request) {
        const decision = await policy.decide(request);
        swap("docs", "link");
        return decision;
      },
    };
    const tools = createToolBox({ ...context, permissions });
    for (const [toolName, args] of calls) {
      write("here.txt", "here\n");
      const outcome = await tools.execute({ callId: "call_1", toolName, arguments: args }, context);
      swap("docs", "link");
      expect(outcome.error?.code, toolName).toMatch(/^(?:PATH_INVALID|FILE_NOT_FOUND)$/);
      expect(JSON.stringify(outcome)).not.toContain("CANARY");
    }
    renameSync(join(root, "link"), join(root, `link-to-${target === "secret" ? "secret" : "outside"}`));
  }
  expect([read("docs/key.txt"), read("secret/key.txt")]).toEqual(["open\n", "CANARY\n"]);
});

test(
  verifies("S-20", "a path of Windows is refused with the path that is meant, unless a file has that name"),
  async () => {
    const { context, write } = createFileToolContext();
    const tools = createToolBox({ ...context, permissions: createPolicy({}) });
    const save = (target_file: string) =>
      tools.execute({ callId: "call_1", toolName: "write_file", arguments: { target_file, content: "x" } }, context);
    expect((await save("src\\new.txt")).error).toMatchObject({
      code: "PATH_INVALID",
      message: expect.stringContaining('did you mean "src/new.txt"?') as string,
    });
    write("a\\b.txt", "old");
    expect((await save("a\\b.txt")).status).toBe("success");
  },
);

test(verifies("S-245", "a result names the changed files that start later"), async () => {
  const { context } = createFileToolContext();
  const tools = createToolBox({ ...context, permissions: createPolicy({}) });
  for (const target_file of [".github/workflows/ci.yml", "open.txt"]) {
    const call = { callId: "call_1", toolName: "write_file", arguments: { target_file, content: "x" } };
    const { note } = await tools.execute(call, context);
    expect(note?.includes(".github/workflows/ci.yml (CI starts it)") ?? false).toBe(target_file !== "open.txt");
  }
});
