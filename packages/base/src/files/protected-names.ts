/** Finds paths that file tools must not write: their contents run or take effect later (S-22, S-80, S-81, S-224). */
import { join, posix } from "node:path";
import type { ToolError } from "@sheaf/protocol";
import { toComparable } from "./comparable-name.ts";
import { findGitPlace } from "../git/git-places.ts";
import { findOwnPlace } from "./own-places.ts";
import { hasRepositoryShape } from "./repository.ts";
import type { Workspace, WorkspacePath } from "./workspace.ts";

/**
 * Names that are protected at any depth, with everything in them. The list omits files that run only when the user
 * starts the project's own tools, and files before which Sheaf asks (`docs/decisions/permissions.md`).
 */
const protectedNames: ReadonlySet<string> = new Set([
  // version control: hooks and settings run programs
  ".git", ".gitmodules", ".gitconfig", ".hg", ".hgrc", ".svn", ".jj",
  // configuration of Sheaf
  ".sheaf",
  // editors: tasks, language servers and settings run programs
  ".vscode", ".devcontainer", ".devcontainer.json", ".idea", ".cursor", ".zed", ".vs", ".fleet", ".helix", ".theia", ".nova",
  ".vim", ".exrc", ".vimrc", ".gvimrc", ".nvimrc", ".lvimrc", ".nvim", ".nvim.lua", ".lazy.lua", ".neoconf.json", ".nlsp-settings",
  ".dir-locals.el", ".dir-locals-2.el", ".kateproject", ".project", ".externaltoolbuilders",
  // tool servers, and settings of other agents
  ".mcp.json", ".opencode", "opencode.json", "opencode.jsonc", "crush.json", ".crush.json", ".aider.conf.yml",
  // shells and their neighbours
  ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc",
  ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout",
  ".envrc", ".ripgreprc",
  // interpreters and debuggers, which run such a file when they start in its folder
  ".rprofile", ".renviron", ".ghci", ".irbrc", ".pryrc", ".rdbgrc", ".byebugrc", ".pdbrc", ".pythonrc", ".pythonrc.py",
  ".gdbinit", ".lldbinit", ".radare2rc", ".iex.exs", ".erlang", ".ocamlinit", ".octaverc", ".perldb", ".psysh.php", ".tclshrc",
]); // prettier-ignore

/** Files that are protected in their folder only: the rest of the folder is text that people ask for. */
const protectedPairs: ReadonlySet<string> = new Set([
  ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".gemini/settings.json", ".gemini/extensions",
  ".qwen/settings.json", ".qwen/extensions", ".codex/config.toml", ".codex/hooks.json", ".kiro/settings", ".kiro/hooks",
  ".windsurf/hooks.json", ".roo/mcp.json", ".amazonq/mcp.json", ".amazonq/cli-agents", ".junie/mcp", ".copilot/mcp-config.json",
  ".github/hooks", ".continue/config.yaml", ".continue/mcpservers", ".factory/mcp.json", ".factory/settings.json", ".factory/hooks",
  ".clinerules/hooks", ".amp/settings.json", ".vibe/config.toml",
  "fish/config.fish", "fish/conf.d",
]); // prettier-ignore

const pairFolders: ReadonlySet<string> = new Set([...protectedPairs].map((pair) => pair.slice(0, pair.indexOf("/"))));

/** Settings of editors, whose first part users choose freely. */
const protectedEnding = /\.(?:code-workspace|sublime-project|sublime-workspace)$/;

/**
 * Returns the protected name in a relative path, at any depth, if any. It compares names as the most lenient file
 * system would: without regard to case, ignorable characters, trailing dots and blanks, streams (`.git::$DATA`) and
 * short names (`GIT~1`). `kind` is the kind of the path's entry.
 */
export function toProtectedName(relative: string, kind: "file" | "folder" = "file"): string | undefined {
  const names = relative.split(/[\\/]/).map(toComparable);
  for (const [index, name] of names.entries()) {
    if (protectedNames.has(name) || protectedEnding.test(name)) return name;
    if (/^(git|gitmod)~\d$/.test(name)) return ".git";
    const pair = `${names[index - 1] ?? ""}/${name}`;
    if (protectedPairs.has(pair)) return pair;
  }
  const last = names.at(-1) ?? "";
  return kind === "file" && isPairFolder(last) ? last : undefined;
}

/** Matches names that every file system takes as they are, apart from their case. */
const plainName = /^\.?[\w-](?:[\w .+-]*[\w+-])?$/;

/**
 * True if `toProtectedName` protects an entry of a folder. A full comparison is not needed for plain names, of which
 * there may be a hundred thousand. Only the last name of `folder` matters.
 */
export function isProtectedEntry(folder: string, name: string, kind: "file" | "folder"): boolean {
  const parent = folder.slice(folder.lastIndexOf("/") + 1).toLowerCase();
  const own = name.toLowerCase();
  if (plainName.test(own) && plainName.test(parent) && !pairFolders.has(parent)) {
    return protectedNames.has(own) || protectedEnding.test(own) || (kind === "file" && isPairFolder(own));
  }
  return toProtectedName(`${parent}/${name}`, kind) !== undefined;
}

/** True for a protected pair's folder. A link with its name would bring other settings. */
function isPairFolder(name: string): boolean {
  return name.startsWith(".") && pairFolders.has(name);
}

/** Returns the reason why a path must not be written, deleted or moved. Its spelling and its real place decide. */
export function findProtection(workspace: Workspace, path: WorkspacePath): ToolError | undefined {
  const names = path.named === path.relative ? [path.named] : [path.relative, path.named];
  const name = names.map((named) => toProtectedName(named)).find((found) => found !== undefined);
  const reason =
    name ??
    findOwnPlace(workspace, path)?.reason ??
    names.map((named) => findRepositoryAround(workspace.root, named)).find((found) => found !== undefined) ??
    findGitPlace(workspace, path)?.reason;
  if (reason === undefined) return undefined;
  const message = `${path.named} is protected (${reason}): file tools never change it; tell the user what to change there`;
  return { code: "PROTECTED_PATH", message, details: "" };
}

/** True for a relative path in a git folder of any name, whose settings may hold passwords (X32). */
export function isOfGit(root: string, path: string): boolean {
  const parts = path.split(/[\\/]/);
  if (parts.some((part) => toProtectedName(part) === ".git")) return true;
  return parts.some((_, index) => hasRepositoryShape(join(root, ...parts.slice(0, index))));
}

/** Finds a folder with the shape of a repository, whatever its name: git obeys its settings and hooks (S-244). */
function findRepositoryAround(root: string, path: string): string | undefined {
  const parts = posix.relative(root, posix.resolve(root, path)).split("/");
  const at = parts.findIndex((part, index) => hasRepositoryShape(join(root, ...parts.slice(0, index)), part));
  if (at === -1) return undefined;
  return `git takes ${at === 0 ? "the workspace" : parts.slice(0, at).join("/")} for a repository if ${parts[at]} is in it`;
}
