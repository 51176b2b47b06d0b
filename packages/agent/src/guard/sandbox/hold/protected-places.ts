/**
 * Keeps commands from changing what later decides what runs (S-22, S-30): existing places by read-only mounts, new ones by
 * taking them away after the command.
 */
import { type Dirent, readlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { isProtectedEntry } from "../../../workspace/protected-names.ts";
import { createFolderSearch, type FolderContent, readStat, toIdentity } from "./folder-memory.ts";
import { type Mount, toExistingPath } from "./mounts.ts";
import { takeAway } from "./take-away.ts";

/** The protected places of one workspace, over all commands of a run. */
export interface ProtectedPlaces {
  /** For a command that starts now: mounts that keep every place unchanged. */
  begin(): Mount[];
  /**
   * For a command that has ended: takes away new places with protected names, since nothing can be mounted where nothing
   * exists. Returns a sentence for each, for the model and the user.
   */
  end(): string[];
}

/** Places with a mount, outer ones first. More of them would slow the start of a command. */
const maxMounts = 300;

/** `workspace`: absolute, links resolved. `worktree`, `added`: further folders that commands write. */
export function createProtectedPlaces(
  workspace: string,
  worktree: string | undefined,
  added: readonly string[],
): ProtectedPlaces {
  const refresh = createProtectedIndex(workspace, [
    ...(worktree === undefined ? [] : [{ path: worktree, kind: "worktree" as const }]),
    ...added.map((path) => ({ path, kind: "plain" as const })),
  ]);
  let running = 0;
  let known = new Set<string>();
  return {
    begin() {
      // What appears while no command runs was made by the user.
      const places = running === 0 ? refresh() : undefined;
      if (places) known = new Set(places.map(({ identity }) => identity));
      running += 1;
      return (places ?? refresh())
        .filter(({ identity }) => known.has(identity))
        .flatMap(toMount)
        .slice(0, maxMounts);
    },
    end() {
      running -= 1;
      const places = refresh().filter(({ identity }) => !known.has(identity));
      // Inner places move with the outer one.
      const outer = places.filter(({ path }) => !places.some((other) => path.startsWith(`${other.path}/`)));
      return takeAway(
        outer.map(({ path }) => {
          const reason = `"${relative(workspace, path)}" is protected, and commands may not create it`;
          return { path, reason };
        }),
      );
    },
  };
}

/** A mount on a link would cover its target; a link that replaces it is found after the command. */
function toMount({ path, kind }: ProtectedPlace): Mount[] {
  if (kind === "repository") {
    // Commits write in it. A mount point cannot be renamed, so no other folder can replace it.
    return [{ path, access: "writable" }];
  }
  const target = kind === "link" ? toExistingPath(path) : path;
  return target === undefined ? [] : [{ path: target, access: "read-only" }];
}

/** A protected place that exists. */
interface ProtectedPlace {
  /** Absolute; only the last part may be a link. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "repository";
  /** Device and inode: a place may get another name, and another place its name. */
  readonly identity: string;
}

/** What a folder is to git; the same names mean different things in each kind. */
type FolderKind = "plain" | "repository" | "modules" | "worktrees" | "worktree";

export interface Folder {
  readonly path: string;
  readonly kind: FolderKind;
}

/** Folders searched, outer ones first: in a very large workspace deeper places are not found. */
const maxFolders = 4000;

/** Entries of git's folders that decide what git runs or follows. */
const metadataNames: Readonly<Record<Exclude<FolderKind, "plain" | "modules" | "worktrees">, ReadonlySet<string>>> = {
  repository: new Set(["hooks", "config", "config.worktree", "commondir"]),
  worktree: new Set(["commondir", "gitdir", "config.worktree"]),
};

/**
 * Returns what finds all places as they are now, outer folders first, in a workspace (absolute, links resolved) and in
 * further folders that commands write, at any depth.
 */
export function createProtectedIndex(
  workspace: string,
  others: readonly Folder[] = [],
): () => readonly ProtectedPlace[] {
  const search = createFolderSearch<ProtectedPlace, Folder>(maxFolders, (folder, entries) =>
    sortEntries(folder, entries, workspace),
  );
  return () => search([...others, { path: workspace, kind: "plain" }]).places;
}

function sortEntries(
  { path, kind }: Folder,
  entries: readonly Dirent[],
  workspace: string,
): FolderContent<ProtectedPlace, Folder> {
  const names = new Set(entries.map(({ name }) => name));
  const isRepository = kind === "repository" || (names.has("HEAD") && names.has("objects") && names.has("refs"));
  const places: ProtectedPlace[] = [];
  const folders: Folder[] = [];
  const protect = (name: string, placeKind?: "repository"): void => {
    const place = toPlace(join(path, name), placeKind);
    if (place) places.push(place);
  };
  // Git accepts any folder that looks like a repository; without its HEAD it does not.
  if (isRepository && kind === "plain") protect("HEAD");
  for (const entry of entries) {
    const { name } = entry;
    const below = join(path, name);
    if (isRepository && metadataNames.repository.has(name)) protect(name);
    else if (kind === "worktree" && metadataNames.worktree.has(name)) protect(name);
    else if (
      kind === "plain" &&
      isProtectedEntry(relative(workspace, path), name, entry.isDirectory() ? "folder" : "file")
    ) {
      const isGitFolder = name === ".git" && entry.isDirectory();
      protect(name, isGitFolder ? "repository" : undefined);
      if (isGitFolder) folders.push({ path: below, kind: "repository" });
    } else if (entry.isDirectory()) {
      const belowKind = toKindBelow(kind, isRepository, name);
      if (belowKind) folders.push({ path: below, kind: belowKind });
    }
  }
  return { places, folders };
}

/** How an inner folder is searched; undefined: not at all. */
function toKindBelow(kind: FolderKind, isRepository: boolean, name: string): FolderKind | undefined {
  if (isRepository && name === "modules") return "modules";
  if (isRepository && name === "worktrees") return "worktrees";
  if (kind === "repository" || (isRepository && (name === "objects" || name === "refs"))) return undefined;
  if (kind === "modules") return "modules";
  if (kind === "worktrees") return "worktree";
  // Packages contain many such files, and nobody works there.
  return kind === "plain" && name !== "node_modules" ? "plain" : undefined;
}

function toPlace(path: string, kind?: "repository"): ProtectedPlace | undefined {
  const stat = readStat(path);
  if (!stat) return undefined;
  const found = stat.isSymbolicLink() ? "link" : stat.isDirectory() ? "folder" : "file";
  const target = found === "link" ? ` ${readlinkSync(path)}` : "";
  return { path, kind: kind ?? found, identity: toIdentity(stat) + target };
}
