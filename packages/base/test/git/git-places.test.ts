import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseRows } from "../../../../test/support/depth.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { writeFileAtomically } from "../../src/files/atomic-write.ts";
import { listGitPlaces } from "../../src/git/git-places.ts";
import { moveFile, removeFile, resolveEntry } from "../../src/files/move-file.ts";
import { createWorkspace, type Workspace } from "../../src/files/workspace.ts";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "../files/temporary-workspace.ts";

/** A workspace whose user has the home folder `outside`, and nothing else. */
function createSetting(userConfig = "") {
  const temporary = createTemporaryWorkspace();
  const { root, outside } = temporary;
  const environment = { HOME: outside, GIT_CONFIG_NOSYSTEM: "1" };
  execFileSync("git", ["init", "-q", root]);
  writeConfig(temporary, "../w-evil/.gitconfig", userConfig);
  const list = (inside: readonly string[] = [root], folders: readonly string[] = [root]): string[] =>
    listGitPlaces({ folders, inside, environment })
      .map(({ path }) => relative(root, path))
      .toSorted();
  return { ...temporary, environment, list, workspace: createWorkspace(root, { git: { environment, folders: [] } }) };
}

function writeConfig({ write }: Pick<TemporaryWorkspace, "write">, path: string, lines: string): void {
  write(path, `${lines}\n`);
}

async function isWritable(workspace: Workspace, path: string): Promise<boolean> {
  const resolved = workspace.resolve(path);
  if (!resolved.ok) throw new Error(resolved.error.message);
  const result = await writeFileAtomically(workspace, resolved.path, Buffer.from("x"), undefined);
  if (!result.ok) expect(result.error.code).toBe("PROTECTED_PATH");
  return result.ok;
}

/** A line of the user's configuration, and the places it names in a workspace that has tools/run.sh, watch.py and src/. */
const settings: readonly (readonly [config: string, places: readonly string[]])[] = [
  ["[core] hooksPath = .githooks", [".githooks"]],
  ["[core] hooksPath = .husky/_", [".husky"]],
  ["[core] hooksPath = _", ["_"]],
  ["[core] hooksPath = node_modules/x/hooks", ["node_modules/x/hooks"]],
  ["[core] hooksPath = a/../b/./c//", ["b/c"]],
  ["[core] hooksPath = ~/w-evil-elsewhere", []],
  ["[core] hooksPath = ../w/inner", ["inner"]],
  ["[core] hooksPath = ./_/", ["_"]],
  ["[core] hooksPath = ..", []],
  ["[core] hooksPath = /", []],
  ["[core] hooksPath", []],
  ["[core] attributesFile = etc/attributes", ["etc/attributes"]],
  ["[init] templateDir = etc/template", ["etc/template"]],
  ["[include] path = ../w/shared.gitconfig", ["shared.gitconfig"]],
  ['[includeIf "onbranch:x"] path = ../w/shared.gitconfig', ["shared.gitconfig"]],
  ["[core] fsmonitor = true", []],
  ["[core] fsmonitor = tools/run.sh", ["tools/run.sh"]],
  ["[core] fsmonitor = python3 watch.py --all", ["watch.py"]],
  ["[core] fsmonitor = python3 missing.py", []],
  ["[core] editor = tools/new.sh --wait", ["tools/new.sh"]],
  ["[core] editor = vim", []],
  ['[core] pager = sh -c \\"./tools/run.sh | less\\"', ["tools/run.sh"]],
  ['[core] sshCommand = \\"my tools/ssh\\" -i key', ["my tools/ssh", "tools/ssh"]],
  ["[core] sshCommand = my\\\\ tools/ssh -i key", ["my tools/ssh", "tools/ssh"]],
  ["[core] askPass = tools/ask", ["tools/ask"]],
  ["[core] gitProxy = tools/proxy for example.org", ["tools/proxy"]],
  ["[sequence] editor = tools/run.sh", ["tools/run.sh"]],
  ["[diff] external = tools/run.sh", ["tools/run.sh"]],
  ['[diff "a.b"] command = tools/run.sh', ["tools/run.sh"]],
  ['[diff "png"] textconv = $(git rev-parse --show-toplevel)/tools/exif', ["tools/exif"]],
  ['[diff "png"] textconv = cd src && ${PWD}/tools/exif', ["tools/exif"]],
  ['[filter "x"] clean = tools/run.sh %f', ["tools/run.sh"]],
  ['[filter "x"] smudge = tools/run.sh %f', ["tools/run.sh"]],
  ['[filter "x"] process = TOOLS=tools/more tools/run.sh', ["tools/more", "tools/run.sh"]],
  ['[filter "x"] required = true', []],
  ['[merge "x"] driver = tools/run.sh %O %A %B', ["tools/run.sh"]],
  ['[mergetool "x"] cmd = tools/run.sh $LOCAL', ["tools/run.sh"]],
  ['[difftool "x"] path = tools/run.sh', ["tools/run.sh"]],
  ["[merge] tool = ../../tools/x", []],
  ["[gpg] program = tools/run.sh", ["tools/run.sh"]],
  ['[gpg "ssh"] program = tools/run.sh', ["tools/run.sh"]],
  ['[gpg "ssh"] defaultKeyCommand = tools/run.sh', ["tools/run.sh"]],
  ["[credential] helper = !tools/run.sh", ["tools/run.sh"]],
  ['[credential "https://example.org"] helper = ../w/tools/run.sh', ["tools/run.sh"]],
  ["[credential] helper = store", []],
  ["[alias] x = !tools/run.sh", ["tools/run.sh"]],
  ["[alias] x = !f() { sh ./tools/run.sh; }; f", ["tools/run.sh"]],
  ["[alias] x = !cat src", []],
  ["[alias] x = log -- src/main.c", []],
  ["[alias] x = -c core.pager=tools/run.sh log", ["tools/run.sh"]],
  ["[interactive] diffFilter = tools/run.sh", ["tools/run.sh"]],
  ["[pager] log = tools/run.sh", ["tools/run.sh"]],
  ["[pager] log = false", []],
  ['[trailer "x"] command = tools/run.sh', ["tools/run.sh"]],
  ['[trailer "x"] cmd = tools/run.sh', ["tools/run.sh"]],
  ['[remote "x"] uploadpack = tools/run.sh', ["tools/run.sh"]],
  ['[remote "x"] receivepack = tools/run.sh', ["tools/run.sh"]],
  ['[remote "x"] url = https://example.org/a/b', []],
  ['[submodule "x"] update = !tools/run.sh', ["tools/run.sh"]],
  ['[submodule "x"] update = rebase', []],
  ["[uploadpack] packObjectsHook = tools/run.sh", ["tools/run.sh"]],
  ['[tar "x"] command = tools/run.sh', ["tools/run.sh"]],
  ['[browser "x"] cmd = tools/run.sh', ["tools/run.sh"]],
  ['[man "x"] path = tools/run.sh', ["tools/run.sh"]],
  ["[user] name = a/b", []],
  ["[core] worktree = src", []],
]; // prettier-ignore

describe("a setting of git", () => {
  test.each(chooseRows(settings, 15))(verifies("S-80", "%s protects %j"), (config, places) => {
    const { write, list } = createSetting(config);
    write("tools/run.sh", "");
    write("watch.py", "");
    write("src/main.c", "");
    expect(list()).toEqual(places);
  });

  test(verifies("S-80", "counts in every file that git reads, and for every repository"), () => {
    const setting = createSetting("[core] hooksPath = hooks");
    const { root, write, list } = setting;
    writeConfig(
      setting,
      ".git/config",
      "[core]\nrepositoryformatversion = 0\nfsmonitor = a/own\n[extensions] worktreeConfig = true",
    );
    writeConfig(setting, ".git/config.worktree", "[core] editor = a/worktree");
    expect(list()).toEqual(["a/own", "a/worktree", "hooks"]);
    writeConfig(setting, ".gitmodules", '[submodule "s"]\npath = lib/s\n[submodule "out"]\npath = ../w-evil');
    mkdirSync(join(root, "lib/s"), { recursive: true });
    writeConfig(setting, "lib/s/.git", "gitdir: ../../.git/modules/s");
    writeConfig(setting, ".git/modules/s/config", "[core] pager = ../../a/inner");
    expect(list()).toEqual(["a/inner", "a/own", "a/worktree", "hooks", "lib/s/hooks"]);
    write("src/x", "");
    expect(list([join(root, "src")], [join(root, "src")])).toEqual([]);
    execFileSync("git", ["init", "-q", "--bare", join(root, "bare")]);
    expect(list([root], [join(root, "bare")])).toContain("bare/hooks");
  });

  test(verifies("S-80", "that is broken, huge or unreadable ends nothing"), () => {
    const setting = createSetting("[core\nhooksPath = a/b\n[core] pager = c/d");
    expect(setting.list()).toEqual(["c/d"]);
    writeConfig(setting, ".git/config", `[core] pager = "${"x/y ".repeat(50_000)}"`);
    expect(setting.list()).toEqual(["c/d", "x/y"]);
    execFileSync("mkfifo", [join(setting.root, ".git/config.worktree")]);
    writeConfig(setting, ".gitmodules", "[");
    expect(setting.list()).toEqual(["c/d", "x/y"]);
  });
});

describe("a place that git's configuration names", () => {
  test(verifies("S-80", "is not written, deleted or moved by file tools, whether it exists or not"), async () => {
    const setting = createSetting("[core] hooksPath = .githooks\neditor = tools/new.sh");
    const { workspace, write, path, root } = setting;
    write(".githooks/pre-commit", "old");
    write("free.txt", "");
    for (const name of [
      ".githooks/pre-commit",
      ".githooks/new",
      ".githooks/deep/er",
      "tools/new.sh",
      ".GitHooks/x",
      ".githooks./x",
      `${root}/.githooks/y`,
    ]) {
      expect(await isWritable(workspace, name), name).toBe(false);
      expect(await moveFile(workspace, path("free.txt"), path(name)), name).toMatchObject({ ok: false });
      expect(await removeFile(workspace, path(name)), name).toMatchObject({
        ok: false,
        error: { code: "PROTECTED_PATH" },
      });
    }
    for (const name of [".githooks2/x", "tools/other.sh", "x.githooks"])
      expect(await isWritable(workspace, name), name).toBe(true);
    const refused = await removeFile(workspace, path(".githooks/pre-commit"));
    expect(refused.ok ? "" : refused.error.message).toMatch(/core\.hookspath in .*\.gitconfig/);
  });

  test(verifies("S-80", "is protected as soon as the configuration names it, and no longer"), async () => {
    const setting = createSetting();
    expect(await isWritable(setting.workspace, ".githooks/a")).toBe(true);
    writeConfig(setting, ".git/config", "[core] hooksPath = .githooks");
    expect(await isWritable(setting.workspace, ".githooks/b")).toBe(false);
    writeConfig(setting, ".git/config", "");
    expect(await isWritable(setting.workspace, ".githooks/c")).toBe(true);
  });

  test(verifies("S-80", "keeps the links that lead to it"), async () => {
    const setting = createSetting("[core] hooksPath = one/hooks");
    const { workspace, root, write, list } = setting;
    write("real/hooks/pre-commit", "");
    symlinkSync("two", join(root, "one"));
    symlinkSync("real", join(root, "two"));
    write("other/hooks/pre-commit", "");
    symlinkSync("other", join(root, "third"));
    expect(list()).toEqual(["one/hooks", "real/hooks", "two/hooks"]);
    for (const link of ["one", "two"]) {
      const entry = resolveEntry(workspace, link);
      expect(entry.ok && (await removeFile(workspace, entry.path))).toMatchObject({ ok: false });
    }
    for (const name of ["one/hooks/x", "two/hooks/x", "real/hooks/x"])
      expect(await isWritable(workspace, name)).toBe(false);
    expect(await isWritable(workspace, "real/x")).toBe(true);
    writeConfig(setting, ".git/config", "[core] hooksPath = one/hooks/../more");
    expect(list()).toContain("real/more");
    symlinkSync("loop", join(root, "loop"));
    writeConfig(setting, ".git/config", "[core] hooksPath = loop/x");
    expect(list()).toContain("loop/x");
  });

  test(verifies("S-80", "is not hidden by a commondir that a command creates"), async () => {
    const setting = createSetting();
    writeConfig(setting, ".git/config", "[core] hooksPath = .githooks");
    writeConfig(setting, ".git/commondir", "elsewhere");
    expect(await isWritable(setting.workspace, ".githooks/x")).toBe(false);
  });

  test(verifies("S-80", "can be the root of the workspace: then each hook is one"), async () => {
    const { workspace, list } = createSetting("[core] hooksPath = .");
    expect(list()).toContain("pre-commit");
    expect(await isWritable(workspace, "pre-commit")).toBe(false);
    expect(await isWritable(workspace, "src/pre-commit")).toBe(true);
  });

  test(verifies("S-80", "can be what a hook links to, or a configuration file itself"), async () => {
    const setting = createSetting();
    const { workspace, root, outside, write } = setting;
    write("scripts/check.sh", "");
    write("dotfiles/gitconfig", "");
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    symlinkSync("../../scripts/check.sh", join(root, ".git/hooks/pre-push"));
    execFileSync("ln", ["-sf", join(root, "dotfiles/gitconfig"), join(outside, ".gitconfig")]);
    for (const name of ["scripts/check.sh", "dotfiles/gitconfig"])
      expect(await isWritable(workspace, name), name).toBe(false);
    expect(await isWritable(workspace, "scripts/other.sh")).toBe(true);
  });

  test(verifies("S-80", "is found in a nested repository and in an added folder"), async () => {
    const setting = createSetting();
    const { root, outside, environment, workspace } = setting;
    writeConfig(setting, "lib/.git/config", "[core] hooksPath = ../lib-hooks");
    writeConfig(setting, "lib/.git/HEAD", "ref: refs/heads/main");
    writeConfig(setting, "lib/a", "");
    writeConfig(setting, ".git/config", `[core] pager = ${join(outside, "tools/x")}`);
    expect(await isWritable(workspace, "lib-hooks/x")).toBe(true);
    expect(await isWritable(workspace, "lib/b")).toBe(true);
    writeConfig(setting, "lib/.git/config", "[core] hooksPath = hooks");
    expect(await isWritable(workspace, "lib/hooks/x")).toBe(false);
    const added = createWorkspace(outside, { isAdded: true, git: { environment, folders: [root] } });
    expect(await isWritable(added, join(outside, "tools/x"))).toBe(false);
    expect(await isWritable(added, join(outside, "tools/y"))).toBe(true);
  });
});
