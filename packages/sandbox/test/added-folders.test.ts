/** Folders beside the workspace: which may be added, and what commands may do in them. */
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { toAddedFolders } from "../src/hold/writable-folders.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { environment, toFileRules } from "./run-command.ts";
import { createFolder, describeWithSandbox, runHeld } from "./sandbox-run.ts";

const add = (folders: readonly string[], workspace = createFolder("workspace"), variables = environment): string[] =>
  toAddedFolders({ folders, workspace, environment: variables });

test("links are resolved, each folder counts once, and the outer one of two", () => {
  const folder = createFolder("added", { "inner/a.txt": "" });
  const workspace = createFolder("workspace", { "sub/a.txt": "" });
  symlinkSync(folder, join(workspace, "link"));
  expect(add([join(workspace, "link"), folder, join(folder, "inner"), join(workspace, "sub")], workspace)).toEqual([
    folder,
  ]);
});

test(
  verifies(["S-20", "S-34"], "what would open too much, or does not exist, is refused with the folder and the reason"),
  () => {
    const home = createFolder("home", {
      ".ssh/id": "",
      "work/a.txt": "",
      "data/sheaf.db": "",
      ".config/gh/hosts.yml": "",
    });
    const workspace = createFolder("workspace", { ".git/hooks/x": "", ".vscode/a/b.json": "", "file.txt": "" });
    const variables = { ...environment, HOME: home, SHEAF_HOME: join(home, "data") };
    const link = join(createFolder("links"), "to-root");
    symlinkSync("/", link);
    const other = createFolder("other", { ".git/hooks/x": "" });
    const refused: readonly (readonly [string, RegExp])[] = [
      ["/", /whole file system/],
      [link, /whole file system/],
      [home, /is the home folder/],
      [dirname(home), /is the home folder or contains it/],
      [homedir(), /is the home folder/],
      [join(home, ".ssh"), /secret/],
      [join(home, ".config"), /secret/],
      [join(home, ".config/gh"), /secret/],
      [join(home, "data"), /secret/],
      [join(other, ".git/hooks"), /protected place \(\.git\)/],
      [join(workspace, "file.txt"), /is not a folder/],
      [join(home, "nothing"), /does not exist/],
    ];
    for (const [folder, reason] of refused)
      expect(() => add([folder], workspace, variables), folder).toThrow(
        expect.objectContaining({ code: "USAGE", message: expect.stringMatching(reason) }),
      );
    expect(() => add([dirname(workspace)], workspace, { ...variables, HOME: "/nowhere" })).toThrow(
      /home|contains the workspace/,
    );
    expect(add([join(home, "work")], workspace, variables)).toEqual([join(home, "work")]);
  },
);

describeWithSandbox("a command", () => {
  test(verifies(["S-30", "S-33"], "writes in an added folder and no other one; its permissions say so"), async () => {
    const [workspace, folder, other] = [createFolder("workspace"), createFolder("added"), createFolder("other")];
    const command = `echo x > ${folder}/a; echo x > ${folder}-evil; echo x > ${other}/a; echo x > b`;
    const { permissions } = await runHeld(command, workspace, {}, environment, { addedFolders: [folder] });
    expect(permissions).toEqual(["write_outside_workspace"]);
    expect([join(folder, "a"), join(workspace, "b"), `${folder}-evil`, join(other, "a")].map(existsSync)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test(verifies(["S-22", "S-06"], "finds protected places and denied files held there too"), async () => {
    const workspace = createFolder("workspace");
    const folder = createFolder("added", {
      ".git/hooks/x": "old",
      ".git/HEAD": "x",
      "a/.env": "CANARY",
      "db/1.sql": "old",
    });
    const denials = toFileRules("Read(.env)", "Write(db/**)");
    const command = `cd ${folder}; echo new > .git/hooks/x; echo new > .envrc; cat a/.env; echo new > db/1.sql; echo ok > free`;
    const { output, refusals } = await runHeld(command, workspace, {}, environment, {
      addedFolders: [folder],
      denials,
    });
    expect(output).not.toContain("CANARY");
    expect(refusals.join()).toContain(".envrc");
    expect(existsSync(join(folder, ".envrc"))).toBe(false);
    expect([".git/hooks/x", "db/1.sql", "free"].map((name) => readFileSync(join(folder, name), "utf8").trim())).toEqual(
      ["old", "old", "ok"],
    );
  });
});
