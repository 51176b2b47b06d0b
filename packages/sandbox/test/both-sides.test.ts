/** File tools and commands agree on what is protected: a command has no way around a file tool's refusal. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { writeFileAtomically } from "@sheaf/base/files/atomic-write";
import { readWholeFile } from "@sheaf/base/files/read-file";
import { createWorkspace } from "@sheaf/base/files/workspace";
import { createRepository, git } from "./git-user.ts";
import { environment } from "./run-command.ts";
import { describeWithSandbox, runHeld } from "./sandbox-run.ts";

const names = [
  ".git/info/attributes", ".git/config", ".git/config.worktree", ".git/hooks/pre-commit", ".git/commondir", ".gitmodules",
  ".mcp.json", ".sheaf/config.json", ".vscode/tasks.json", ".idea/workspace.xml", ".zed/settings.json", ".cursor/mcp.json",
  ".devcontainer/devcontainer.json", ".devcontainer.json", "deep/.devcontainer/x/devcontainer.json", "app.code-workspace",
  "My App.Code-Workspace", "a.sublime-project", ".helix/languages.toml", ".nvim.lua", ".exrc", ".vim/coc-settings.json",
  ".dir-locals-2.el", ".project", ".theia/settings.json", "opencode.json", ".opencode/plugin/x.js", ".aider.conf.yml",
  ".claude/settings.json", ".claude/hooks/x.sh", ".gemini/settings.json", ".codex/config.toml", ".kiro/hooks/x.hook",
  ".github/hooks/x.json", ".continue/mcpServers/x.yaml", ".envrc", "sub/.bashrc",
]; // prettier-ignore

/** What the repository's configuration names. */
const configured = [".githooks/pre-commit", "tools/watch.sh", "team.gitconfig", "etc/attributes"];

const free = ["README.md", ".gitattributes", ".claude/commands/x.md", ".kiro/specs/x.md", ".github/workflows/ci.yml", "tools/other.sh", "package.json"]; // prettier-ignore

function createSetting(files: readonly string[]): string {
  const root = createRepository("repository");
  git(root, "config", "core.hooksPath", ".githooks");
  git(root, "config", "core.fsmonitor", "tools/watch.sh");
  git(root, "config", "include.path", "../team.gitconfig");
  git(root, "config", "core.attributesFile", "etc/attributes");
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "");
  }
  return root;
}

/** Those of the files that both a file tool and a command have left as they were. */
async function listKept(root: string, files: readonly string[]): Promise<Record<"tool" | "command", string[]>> {
  const workspace = createWorkspace(root, { git: { environment, folders: [] } });
  const read = (file: string): string =>
    existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "missing";
  const before = files.map(read);
  const quoted = files.map((file) => `'${file}'`).join(" ");
  const loop = `for f in ${quoted}; do mkdir -p "$(dirname "$f")"; echo command > "$f"; done; true`;
  await runHeld(loop, root);
  const command = files.filter((file, index) => read(file) === before[index]);
  const tool: string[] = [];
  for (const file of files) {
    const resolved = workspace.resolve(file);
    if (!resolved.ok) throw new Error(resolved.error.message);
    const current = await readWholeFile(root, resolved.path, 1000);
    const identity = current.ok ? current.value.identity : undefined;
    const written = await writeFileAtomically(workspace, resolved.path, Buffer.from("tool"), identity);
    if (!written.ok && written.error.code === "PROTECTED_PATH") tool.push(file);
  }
  return { tool, command };
}

describeWithSandbox("a place that file tools refuse", () => {
  test(verifies(["S-22", "S-80", "S-81"], "is not changed by a command either"), async () => {
    const files = [...names, ...configured, ...free].filter(
      (file) => ![".git/commondir", ".git/config"].includes(file),
    );
    const root = createSetting(files);
    const { tool, command } = await listKept(root, files);
    expect(tool).toEqual(files.filter((file) => !free.includes(file)));
    expect(command).toEqual(tool);
  });

  test(verifies(["S-22", "S-80", "S-81"], "is not left behind by a command either"), async () => {
    const files = [...names, ...configured, ...free].filter((file) => file !== ".git/config");
    const root = createSetting([]);
    const { tool, command } = await listKept(root, files);
    expect(tool).toEqual(files.filter((file) => !free.includes(file)));
    expect(command).toEqual(tool);
  });
});
