import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { writeFileAtomically } from "../../src/files/atomic-write.ts";
import { moveFile, removeFile, resolveEntry } from "../../src/files/move-file.ts";
import { findProtection, isProtectedEntry, toProtectedName } from "../../src/files/protected-names.ts";
import { readWholeFile } from "../../src/files/read-file.ts";
import { createTemporaryWorkspace } from "./temporary-workspace.ts";

const refused: readonly (readonly [path: string, name: string])[] = [
  // version control
  [".git", ".git"],
  [".git/config", ".git"],
  [".git/hooks/pre-commit", ".git"],
  ["packages/x/.git/config", ".git"],
  ["vendor/.git", ".git"],
  [".gitmodules", ".gitmodules"],
  ["sub/.gitmodules", ".gitmodules"],
  [".gitconfig", ".gitconfig"],
  [".hg/hgrc", ".hg"],
  [".svn/entries", ".svn"],
  // own configuration
  [".sheaf/config.json", ".sheaf"],
  ["deep/er/.sheaf/rules", ".sheaf"],
  // editors
  [".vscode/settings.json", ".vscode"],
  [".vscode/tasks.json", ".vscode"],
  ["app/.vscode/launch.json", ".vscode"],
  [".idea/workspace.xml", ".idea"],
  [".cursor/mcp.json", ".cursor"],
  [".cursor/settings.json", ".cursor"],
  [".cursor/rules/x.mdc", ".cursor"],
  [".devcontainer/devcontainer.json", ".devcontainer"],
  ["app/.devcontainer/a/devcontainer.json", ".devcontainer"],
  [".devcontainer.json", ".devcontainer.json"],
  ["app.code-workspace", "app.code-workspace"],
  ["sub/App.Code-Workspace", "app.code-workspace"],
  ["app.code-workspace.", "app.code-workspace"],
  ["a b.sublime-project", "a b.sublime-project"],
  [".helix/languages.toml", ".helix"],
  [".zed/tasks.json", ".zed"],
  [".theia/settings.json", ".theia"],
  [".nvim.lua", ".nvim.lua"],
  [".nvim/init.lua", ".nvim"],
  [".lvimrc", ".lvimrc"],
  [".exrc", ".exrc"],
  [".vim/coc-settings.json", ".vim"],
  [".neoconf.json", ".neoconf.json"],
  [".dir-locals.el", ".dir-locals.el"],
  ["src/.dir-locals-2.el", ".dir-locals-2.el"],
  [".project", ".project"],
  [".externalToolBuilders/x.launch", ".externaltoolbuilders"],
  // other agents
  ["opencode.json", "opencode.json"],
  [".opencode/plugin/x.js", ".opencode"],
  [".aider.conf.yml", ".aider.conf.yml"],
  [".claude/settings.json", ".claude/settings.json"],
  [".Claude/Settings.Local.json", ".claude/settings.local.json"],
  [".claude/hooks/x.sh", ".claude/hooks"],
  [".gemini/settings.json", ".gemini/settings.json"],
  [".codex/config.toml", ".codex/config.toml"],
  [".qwen/settings.json", ".qwen/settings.json"],
  [".kiro/settings/mcp.json", ".kiro/settings"],
  [".kiro/hooks/x.kiro.hook", ".kiro/hooks"],
  [".windsurf/hooks.json", ".windsurf/hooks.json"],
  [".github/hooks/x.json", ".github/hooks"],
  [".continue/mcpServers/x.yaml", ".continue/mcpservers"],
  // in the place of a folder: a link to other settings
  [".claude", ".claude"],
  ["sub/.Claude.", ".claude"],
  [".kiro", ".kiro"],
  // tool servers
  [".mcp.json", ".mcp.json"],
  ["a/b/.mcp.json", ".mcp.json"],
  // shells
  [".bashrc", ".bashrc"],
  [".bash_profile", ".bash_profile"],
  [".profile", ".profile"],
  [".zshrc", ".zshrc"],
  [".zshenv", ".zshenv"],
  ["home/me/.zprofile", ".zprofile"],
  [".envrc", ".envrc"],
  [".ripgreprc", ".ripgreprc"],
  [".config/fish/config.fish", "fish/config.fish"],
  // interpreters and debuggers
  [".Rprofile", ".rprofile"],
  ["a/.ghci", ".ghci"],
  [".irbrc", ".irbrc"],
  [".pdbrc", ".pdbrc"],
  [".gdbinit", ".gdbinit"],
  // spellings that some file systems take for the same name
  [".GIT/config", ".git"],
  [".Git", ".git"],
  [".gIt/HEAD", ".git"],
  [".VSCode/settings.json", ".vscode"],
  [".BASHRC", ".bashrc"],
  [".MCP.JSON", ".mcp.json"],
  [".git.", ".git"],
  [".git...", ".git"],
  [".git ", ".git"],
  [".git . .", ".git"],
  [" .git", ".git"],
  [".git\u200c/config", ".git"],
  [".g\u200dit/config", ".git"],
  [".g\u00adit/config", ".git"],
  ["\ufeff.git/config", ".git"],
  [".gi\u2060t", ".git"],
  [".git\ufe0f", ".git"],
  [".g\u034fit", ".git"],
  [".\u202egit", ".git"],
  ["．git/config", ".git"],
  [".ｇｉｔ/config", ".git"],
  [".bash\u200brc", ".bashrc"],
  [".profile\u00a0", ".profile"],
  [".git::$INDEX_ALLOCATION", ".git"],
  [".git:stream/config", ".git"],
  [".bashrc::$DATA", ".bashrc"],
  ["GIT~1/config", ".git"],
  ["git~2", ".git"],
  ["sub\\.git\\config", ".git"],
  [".git\\config", ".git"],
];

const allowed: readonly string[] = [
  ".", "a.txt", ".gitignore", ".gitattributes", ".gitkeep", ".github/workflows/ci.yml", "git", "git/config", "x.git/config",
  ".git2", "a.git", ".gitlab-ci.yml", ".vscodeignore", "vscode/settings.json", ".editorconfig", ".npmrc", ".env", ".bashrc.txt",
  "bashrc", "profile", ".profiles", "mcp.json", ".claude/commands/x.md", ".claude/skills/hooks/x.md", ".kiro/specs/x.md", ".github/copilot-instructions.md", ".cursorrules", "code-workspace",
  "a.code-workspace.md", "project", "a.project", ".projectile", "claude/settings.json", "fish", ".pre-commit-config.yaml", "package.json", ".mise.toml", ".tool-versions", "sheaf", ".sheaf.md", "docs/.git.md", "README.md", "fish/readme", "..git", "~.git",
]; // prettier-ignore

describe("names", () => {
  test.each(refused)(verifies(["S-22", "S-81"], "%j is protected by %s"), (path, name) => {
    expect(toProtectedName(path)).toBe(name);
  });

  test.each([...refused.map(([path]) => path), ...allowed])(
    verifies("S-22", "the quick comparison agrees: %j"),
    (path) => {
      const names = path.split("/");
      for (const kind of ["file", "folder"] as const) {
        const isRefused = names.some((name, index) => isProtectedEntry(names.slice(0, index).join("/"), name, kind));
        const expected = names.some(
          (_, index) => toProtectedName(names.slice(0, index + 1).join("/"), kind) !== undefined,
        );
        expect(isRefused).toBe(expected);
      }
    },
  );

  test.each(allowed)("%j is not protected", (path) => {
    expect(toProtectedName(path)).toBeUndefined();
  });
});

describe("a folder in the shape of a repository", () => {
  const save = (folder: ReturnType<typeof createTemporaryWorkspace>, path: string) =>
    writeFileAtomically(folder.workspace, folder.path(path), Buffer.from("x"), undefined);

  test.each([
    ["vend/config", "vend/objects/x", "vend/refs/x", "vend/HEAD"],
    ["vend/HEAD", "vend/refs/x", "vend/objects/x"],
    ["vend/objects/x", "vend/refs/x", "vend/head"],
    ["a/b/HEAD", "a/b/commondir"],
    ["a/b/commondir", "a/b/HEAD"],
    ["HEAD", "objects/x", "refs/x"],
  ])(verifies("S-244", "is not completed: %s, %s"), async (...paths) => {
    const folder = createTemporaryWorkspace();
    const last = paths.pop()!;
    for (const path of paths) expect(await save(folder, path), path).toMatchObject({ ok: true });
    expect(await save(folder, last)).toMatchObject({ ok: false, error: { code: "PROTECTED_PATH" } });
    folder.write("free.txt", "x");
    symlinkSync(".", join(folder.root, "link"));
    for (const path of [last, `link/${last}`]) {
      const moved = await moveFile(folder.workspace, folder.path("free.txt"), folder.path(path));
      expect(moved, path).toMatchObject({ ok: false, error: { code: "PROTECTED_PATH" } });
    }
  });

  test(verifies("S-244", "is not changed"), async () => {
    const folder = createTemporaryWorkspace();
    for (const path of ["HEAD", "config", "objects/x", "refs/x"]) folder.write(`vend/${path}`, "x");
    expect(await save(folder, "vend/hooks/post-checkout")).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("git takes vend for a repository if hooks is in it") },
    });
    expect(await removeFile(folder.workspace, folder.path("vend/config"))).toMatchObject({ ok: false });
    expect(await save(folder, "HEAD")).toMatchObject({ ok: true });
  });
});

describe("a protected name", () => {
  test.each(refused)(verifies("S-22", "is not written, also when it is missing: %j"), async (path) => {
    const folder = createTemporaryWorkspace();
    const resolved = folder.path(path);
    const result = await writeFileAtomically(folder.workspace, resolved, Buffer.from("x"), undefined);
    expect(result).toMatchObject({ ok: false, error: { code: "PROTECTED_PATH" } });
    expect(readdirSync(folder.root)).toEqual([]);
    expect(findProtection(folder.workspace, resolved)?.message).toContain("protected");
  });

  test(verifies("S-22", "is not reached by a rename, in either direction"), async () => {
    const folder = createTemporaryWorkspace();
    folder.write("a.txt", "a");
    folder.write(".git/config", "c");
    folder.write(".bashrc", "b");
    for (const target of [".git/config", ".git/new", ".GIT/hooks/post-commit", ".zshrc", "sub/.vscode/tasks.json"]) {
      const result = await moveFile(folder.workspace, folder.path("a.txt"), folder.path(target));
      expect(result).toMatchObject({ ok: false, error: { code: "PROTECTED_PATH" } });
    }
    for (const source of [".git/config", ".git", ".bashrc"]) {
      const result = await moveFile(folder.workspace, folder.path(source), folder.path("free.txt"));
      expect(result).toMatchObject({ ok: false, error: { code: "PROTECTED_PATH" } });
    }
    expect(readdirSync(folder.root).toSorted()).toEqual([".bashrc", ".git", "a.txt"]);
    expect(readdirSync(join(folder.root, ".git"))).toEqual(["config"]);
  });

  test(verifies("S-22", "is not deleted"), async () => {
    const folder = createTemporaryWorkspace();
    folder.write(".git/config", "c");
    expect(await removeFile(folder.workspace, folder.path(".git/config"))).toMatchObject({ ok: false });
    expect(folder.read(".git/config")).toBe("c");
  });

  test(verifies("S-22", "is not reached through a link to it, to its folder or to its place"), async () => {
    const folder = createTemporaryWorkspace();
    folder.write(".git/config", "c");
    mkdirSync(join(folder.root, "sub"));
    symlinkSync(".git", join(folder.root, "folder"));
    symlinkSync(".git/config", join(folder.root, "file"));
    symlinkSync("../.git/hooks/new", join(folder.root, "sub", "dangling"));
    symlinkSync("folder", join(folder.root, "chain"));
    for (const path of ["folder/config", "folder/hooks/x", "file", "sub/dangling", "chain/config"]) {
      const resolved = folder.path(path);
      const current = await readWholeFile(folder.root, resolved, 1000);
      const identity = current.ok ? current.value.identity : undefined;
      const result = await writeFileAtomically(folder.workspace, resolved, Buffer.from("x"), identity);
      expect(result).toMatchObject({ ok: false, error: { code: "PROTECTED_PATH" } });
    }
    expect(folder.read(".git/config")).toBe("c");
    expect(readdirSync(join(folder.root, ".git"))).toEqual(["config"]);
  });

  test(verifies("S-22", "that is a link to another place is not written either"), async () => {
    const folder = createTemporaryWorkspace();
    mkdirSync(join(folder.root, "settings"));
    symlinkSync("settings", join(folder.root, ".vscode"));
    const result = await writeFileAtomically(
      folder.workspace,
      folder.path(".vscode/tasks.json"),
      Buffer.from("x"),
      undefined,
    );
    expect(result).toMatchObject({ ok: false, error: { code: "PROTECTED_PATH" } });
    const entry = resolveEntry(folder.workspace, ".vscode");
    expect(entry.ok && (await removeFile(folder.workspace, entry.path))).toMatchObject({ ok: false });
    expect(lstatSync(join(folder.root, ".vscode")).isSymbolicLink()).toBe(true);
  });

  test(verifies("S-22", "with a second name keeps its content when the second name is written"), async () => {
    const folder = createTemporaryWorkspace();
    const config = folder.write(".git/config", "c");
    linkSync(config, join(folder.root, "second"));
    const second = await readWholeFile(folder.root, folder.path("second"), 1000);
    const identity = second.ok ? second.value.identity : undefined;
    const result = await writeFileAtomically(folder.workspace, folder.path("second"), Buffer.from("x"), identity);
    expect(result).toMatchObject({ ok: true });
    expect(readFileSync(config, "utf8")).toBe("c");
    expect(folder.read("second")).toBe("x");
  });
});
