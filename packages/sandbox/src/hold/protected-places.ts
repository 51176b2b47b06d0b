/** Finds places that decide which programs run later: protected names, and repositories for git (S-22, S-76). */
import type { Dirent } from "node:fs";
import { join } from "node:path";
import { isProtectedEntry, toProtectedName } from "@sheaf/base/files/protected-names";
import { createFolderSearch, type FolderContent, type SearchResult } from "./folder-memory.ts";
import { isForbiddenLink } from "./forbidden-links.ts";
import { type HeldPlace, toHeldPlace, toShownPath } from "./held-place.ts";

/** A folder to search. */
export interface ProtectedFolder {
  /** Absolute path, links resolved. */
  readonly path: string;
  /**
   * The names protected in it, at any depth. "git" means only names by which git discovers a repository: packages
   * contain many of the others, and users do not work there.
   */
  readonly names: "all" | "git";
}

/**
 * Returns a function that finds all places as they are now, outer folders first, at any depth. `workspace` is absolute,
 * links resolved. `others` are further folders that commands write. `hidden` are folders into which no link may point.
 * `limit` is the most folders that it searches.
 */
export function createProtectedIndex(
  workspace: string,
  others: readonly ProtectedFolder[] = [],
  hidden: readonly string[] = [],
  limit?: number,
): (makeAccessible?: (path: string) => void) => SearchResult<HeldPlace> {
  const search = createFolderSearch<HeldPlace, ProtectedFolder>(
    (folder, entries) => sortEntries(folder, entries, { workspace, hidden }),
    limit,
  );
  return (makeAccessible) => search([...others, { path: workspace, names: "all" }], makeAccessible);
}

function sortEntries(
  folder: ProtectedFolder,
  entries: readonly Dirent[],
  { workspace, hidden }: { readonly workspace: string; readonly hidden: readonly string[] },
): FolderContent<HeldPlace, ProtectedFolder> {
  const places = listShapePlaces(folder, entries, workspace);
  const folders: ProtectedFolder[] = [];
  for (const entry of entries) {
    const isHeld = isProtected(entry, folder);
    // Nearly all entries are ordinary files, and joining their paths takes a fifth of the search.
    if (!isHeld && !entry.isDirectory() && !entry.isSymbolicLink()) continue;
    const path = join(folder.path, entry.name);
    if (isHeld) {
      // Outer mounts cover it with the command's copy of its repository (S-77).
      places.push(...toHeldPlace(path, { access: "read-only", refusal: toRefusal(path, workspace) }));
    } else if (entry.isDirectory()) {
      folders.push({ path, names: folder.names === "all" && entry.name === "node_modules" ? "git" : folder.names });
    } else if (isForbiddenLink(path, hidden)) {
      const refusal = `${toShownPath(path, workspace)} points into a folder of git or of Sheaf, and commands may not create it`;
      places.push(...toHeldPlace(path, { refusal }));
    }
  }
  return { places, folders };
}

/** Git accepts any folder that looks like a repository and has a HEAD. An existing one is read-only. */
function listShapePlaces({ path }: ProtectedFolder, entries: readonly Dirent[], workspace: string): HeldPlace[] {
  if (!isRepositoryShape(entries)) return [];
  const heads = entries.filter(({ name }) => name.toLowerCase() === "head");
  const places = heads.flatMap(({ name }) => {
    const head = join(path, name);
    return toHeldPlace(head, { refusal: toRefusal(head, workspace) });
  });
  return [...places, ...toHeldPlace(path, { access: "read-only" })];
}

/** True if git accepts a folder with these entries as a repository, whatever its name (git's `is_git_directory`). */
function isRepositoryShape(entries: readonly Dirent[]): boolean {
  const hasName = (wanted: string): boolean => entries.some(({ name }) => name.toLowerCase() === wanted);
  return hasName("head") && (hasName("commondir") || (hasName("objects") && hasName("refs")));
}

function toRefusal(path: string, workspace: string): string {
  return `${toShownPath(path, workspace)} is protected, and commands may not create it`;
}

function isProtected(entry: Dirent, { path, names }: ProtectedFolder): boolean {
  if (names === "git") return entry.name.startsWith(".") && toProtectedName(entry.name) === ".git";
  return isProtectedEntry(path, entry.name, entry.isDirectory() ? "folder" : "file");
}
