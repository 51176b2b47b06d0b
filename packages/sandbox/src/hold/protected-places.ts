/** Finds what decides which programs run later: protected names, and what git discovers (S-22, S-76, S-77). */
import type { Dirent } from "node:fs";
import { join } from "node:path";
import { isProtectedEntry, toProtectedName } from "@sheaf/base/files/protected-names";
import { createFolderSearch, type FolderContent, type SearchResult } from "./folder-memory.ts";
import {
  type GitFolder,
  hasContentPlaces,
  isRepositoryShape,
  listEntryPlaces,
  toInnerGitFolder,
} from "./git-folders.ts";
import { isForbiddenLink } from "./forbidden-links.ts";
import { type HeldPlace, toHeldPlace, toShownPath } from "./held-place.ts";

/** A folder to search. */
export interface ProtectedFolder {
  /** Absolute, links resolved. */
  readonly path: string;
  /**
   * Which names are protected in it, at any depth: all, or only those by which git discovers a repository, since packages
   * contain many others, and nobody works there.
   */
  readonly names: "all" | "git" | "none";
  readonly git?: GitFolder | undefined;
}

/**
 * Returns what finds all places as they are now, outer folders first, at any depth. `workspace`: absolute, links
 * resolved; `others`: further folders that commands write; `hidden`: folders into which no link may point. `limit`: of folders.
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
  const { git, places: ownPlaces } = readShape(folder, entries, workspace);
  const places = [...ownPlaces];
  const folders: ProtectedFolder[] = [];
  for (const entry of entries) {
    const isHeld = isProtected(entry, folder);
    // Nearly all entries are ordinary files; joining their paths takes a fifth of the search.
    if (!isHeld && !git && !entry.isDirectory() && !entry.isSymbolicLink()) continue;
    const path = join(folder.path, entry.name);
    if (isHeld) {
      const isGitFolder = entry.name === ".git" && entry.isDirectory();
      // Commits write in it. A mount point cannot be renamed, so no other folder can replace it.
      const access = isGitFolder ? "writable" : "read-only";
      places.push(...toHeldPlace(path, { access, refusal: toRefusal(path, workspace) }));
      if (isGitFolder) folders.push({ path, names: "none", git: { kind: "root" } });
      continue;
    }
    if (git) places.push(...listEntryPlaces(path, toShownPath(path, workspace), entry, git));
    else if (entry.isSymbolicLink() && isForbiddenLink(path, hidden)) {
      const refusal = `${toShownPath(path, workspace)} points into a folder of git or of Sheaf, and commands may not create it`;
      places.push(...toHeldPlace(path, { refusal }));
    }
    if (!entry.isDirectory()) continue;
    const names = folder.names === "all" && entry.name === "node_modules" ? "git" : folder.names;
    const inner = git && toInnerGitFolder(git, entry.name);
    if (names !== "none" || inner) folders.push({ path, names, git: inner });
  }
  return { places, folders, isVolatile: hasContentPlaces(git) };
}

/** Git accepts any folder that looks like a repository, but none without its HEAD. */
function readShape(
  { path, git }: ProtectedFolder,
  entries: readonly Dirent[],
  workspace: string,
): { readonly git: GitFolder | undefined; readonly places: readonly HeldPlace[] } {
  const isModule = git?.kind === "modules";
  if ((git && !isModule) || !isRepositoryShape(entries)) return { git, places: [] };
  if (isModule)
    return { git: { kind: "root", isModule, basis: git.basis }, places: toHeldPlace(path, { access: "writable" }) };
  const heads = entries.filter(({ name }) => name.toLowerCase() === "head");
  const places = heads.flatMap(({ name }) => {
    const head = join(path, name);
    return toHeldPlace(head, { access: "read-only", refusal: toRefusal(head, workspace) });
  });
  return { git: { kind: "root", basis: places[0]?.keys[0] }, places };
}

function toRefusal(path: string, workspace: string): string {
  return `${toShownPath(path, workspace)} is protected, and commands may not create it`;
}

function isProtected(entry: Dirent, { path, names }: ProtectedFolder): boolean {
  if (names === "none") return false;
  if (names === "git") return entry.name.startsWith(".") && toProtectedName(entry.name) === ".git";
  return isProtectedEntry(path, entry.name, entry.isDirectory() ? "folder" : "file");
}
