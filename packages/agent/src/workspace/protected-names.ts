/** Names that file tools never write: their contents run or take effect later (S-22). */
import type { ToolError } from "@sheaf/protocol";
import type { WorkspacePath } from "./workspace.ts";

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

/** Characters that some file systems ignore when they compare names. */
const ignorable = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;

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
export function findProtection(path: WorkspacePath): ToolError | undefined {
  const names = path.named === path.relative ? [path.named] : [path.relative, path.named];
  const name = names.map(toProtectedName).find((found) => found !== undefined);
  if (name === undefined) return undefined;
  const message = `${path.named} is protected (${name}): file tools never change it; tell the user what to change there`;
  return { code: "PROTECTED_PATH", message, details: "" };
}

/** A name as the most lenient file system would compare it. */
export function toComparable(name: string): string {
  const [stem = ""] = toFolded(name).split(":", 1);
  return trimTail(stem.trimStart());
}

/** Without regard to case and ignorable characters. */
export function toFolded(text: string): string {
  return text.normalize("NFKC").replaceAll(ignorable, "").toLowerCase();
}

/** Without dots and blanks at the end. */
function trimTail(name: string): string {
  let end = name.length;
  while (end > 0 && /[.\s]/.test(name[end - 1]!)) end -= 1;
  return name.slice(0, end);
}
