/** What file tools never write: contents that run or take effect later (S-22, S-80, S-81). */
import type { ToolError } from "@sheaf/protocol";
import { toComparable } from "./comparable-name.ts";
import { findGitPlace } from "./git-places.ts";
import type { Workspace, WorkspacePath } from "./workspace.ts";

/** Files and folders that are protected at any depth, with everything in them. */
const protectedNames: ReadonlySet<string> = new Set([
  // version control: hooks and settings run programs
  ".git", ".gitmodules", ".gitconfig", ".hg", ".hgrc", ".svn", ".jj",
  // own configuration
  ".sheaf",
  // editors: tasks and settings run programs
  ".vscode", ".idea", ".cursor", ".zed", ".vs", ".fleet", ".exrc", ".nvimrc", ".vimrc", ".dir-locals.el",
  // tool servers
  ".mcp.json",
  // shells and their neighbours
  ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc",
  ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout",
  ".envrc", ".ripgreprc",
]); // prettier-ignore

/** Protected by the names of folder and file together. */
const protectedPairs: ReadonlySet<string> = new Set([
  ".claude/settings.json", ".claude/settings.local.json", ".gemini/settings.json", ".codex/config.toml",
  "fish/config.fish", "fish/conf.d",
]); // prettier-ignore

/**
 * The protected name that a relative path meets, at any depth; undefined if there is none.
 * Names are compared as the most lenient file system would: without regard to case, ignorable characters, trailing
 * dots and blanks, streams (`.git::$DATA`) and short names (`GIT~1`).
 */
export function toProtectedName(relative: string): string | undefined {
  const names = relative.split(/[\\/]/).map(toComparable);
  for (const [index, name] of names.entries()) {
    if (protectedNames.has(name)) return name;
    if (/^(git|gitmod)~\d$/.test(name)) return ".git";
    const pair = `${names[index - 1] ?? ""}/${name}`;
    if (protectedPairs.has(pair)) return pair;
  }
  return undefined;
}

/** Why a path must not be written, deleted or moved; undefined if it may. Its name and its real place both count. */
export function findProtection(workspace: Workspace, path: WorkspacePath): ToolError | undefined {
  const names = path.named === path.relative ? [path.named] : [path.relative, path.named];
  const name = names.map(toProtectedName).find((found) => found !== undefined);
  const reason = name ?? findGitPlace(workspace, path)?.reason;
  if (reason === undefined) return undefined;
  const message = `${path.named} is protected (${reason}): file tools never change it; tell the user what to change there`;
  return { code: "PROTECTED_PATH", message, details: "" };
}
