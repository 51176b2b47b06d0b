/** Keeps commands from changing what decides later what runs: existing places by mounts, new ones behind the command. */
import { type Dirent, readlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { toProtectedName } from "../../../workspace/protected-names.ts";
import { createFolderMemory, readStat, toIdentity } from "./folder-memory.ts";
import { type Mount, toExistingPath } from "./mounts.ts";
import { takeAway } from "./take-away.ts";

/** The protected places of one workspace, over all commands of a run. */
export interface ProtectedPlaces {
  /** For a command that starts now: mounts that keep every place as it is. */
  begin(): Mount[];
  /**
   * For a command that has ended: takes away what is protected by its name and was not there before, for no mount can
   * be put where nothing is. A sentence for each, for the model and the user.
   */
  end(): string[];
}

/** Places that get a mount of their own, outer ones first; behind more of them a command would start slowly. */
const maxMounts = 300;

/** What commands write beside the workspace: the folder of a linked worktree, and folders that the user added. */
export interface WritableFolders {
  readonly worktree?: string | undefined;
  readonly added?: readonly string[];
}

/** `workspace`: absolute, links resolved. */
export function createProtectedPlaces(
  workspace: string,
  { worktree, added = [] }: WritableFolders = {},
): ProtectedPlaces {
  const index = createProtectedIndex(workspace, [
    ...(worktree === undefined ? [] : [{ path: worktree, kind: "worktree" as const }]),
    ...added.map((path) => ({ path, kind: "plain" as const })),
  ]);
  let running = 0;
  let known = new Set<string>();
  return {
    begin() {
      // What appears while no command runs is the user's own.
      const places = running === 0 ? index.refresh() : undefined;
      if (places) known = new Set(places.map(({ identity }) => identity));
      running += 1;
      return (places ?? index.refresh())
        .filter(({ identity }) => known.has(identity))
        .flatMap(toMount)
        .slice(0, maxMounts);
    },
    end() {
      running -= 1;
      const places = index.refresh().filter(({ identity }) => !known.has(identity));
      // What lies in another one goes with it.
      const outer = places.filter(({ path }) => !places.some((other) => path.startsWith(`${other.path}/`)));
      return takeAway(
        outer.map(({ path }) => {
          const reason = `"${relative(workspace, path)}" is protected, and commands never make it`;
          return { path, reason };
        }),
      );
    },
  };
}

/** A mount on a link would be one on its target; a new link in its place is seen behind the command. */
function toMount({ path, kind }: ProtectedPlace): Mount[] {
  if (kind === "repository") {
    // Commits write in it. A mount of its own cannot be renamed, so no other folder can take its place.
    return [{ path, access: "writable" }];
  }
  const target = kind === "link" ? toExistingPath(path) : path;
  return target === undefined ? [] : [{ path: target, access: "read-only" }];
}

/** One protected place that is there. */
interface ProtectedPlace {
  /** Absolute; the last part may be a link, the folders before it are none. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "repository";
  /** Device and inode: the same place may get another name, another place may get the same. */
  readonly identity: string;
}

export interface ProtectedIndex {
  /** All places as they are now, outer folders first. */
  refresh(): readonly ProtectedPlace[];
}

/** What a folder is to git; its names mean something else in each. */
type FolderKind = "plain" | "repository" | "modules" | "worktrees" | "worktree";

export interface Folder {
  readonly path: string;
  readonly kind: FolderKind;
}

interface FolderContent {
  readonly places: readonly ProtectedPlace[];
  readonly folders: readonly Folder[];
}

/** Folders that are looked at, outer ones first: what lies deeper in a very large workspace is not found. */
const maxFolders = 4000;

/** In these names of a repository's own folder lies what git runs or follows. */
const metadataNames: Readonly<Record<Exclude<FolderKind, "plain" | "modules" | "worktrees">, ReadonlySet<string>>> = {
  repository: new Set(["hooks", "config", "config.worktree", "commondir"]),
  worktree: new Set(["commondir", "gitdir", "config.worktree"]),
};

/** Makes the index of a workspace (absolute, links resolved) and of further folders that commands write. */
export function createProtectedIndex(workspace: string, others: readonly Folder[] = []): ProtectedIndex {
  const memory = createFolderMemory<FolderContent>();
  return {
    refresh() {
      const places: ProtectedPlace[] = [];
      const waiting: Folder[] = [...others, { path: workspace, kind: "plain" }];
      for (let next = 0; next < waiting.length && next < maxFolders; next += 1) {
        const folder = waiting[next]!;
        const found = memory.read(folder.path, (entries) => sortEntries(folder, entries, workspace));
        if (!found) continue;
        places.push(...found.content.places);
        waiting.push(...found.content.folders);
      }
      memory.endLook();
      return places;
    },
  };
}

function sortEntries({ path, kind }: Folder, entries: readonly Dirent[], workspace: string): FolderContent {
  const names = new Set(entries.map(({ name }) => name));
  const isRepository = kind === "repository" || (names.has("HEAD") && names.has("objects") && names.has("refs"));
  const places: ProtectedPlace[] = [];
  const folders: Folder[] = [];
  const protect = (name: string, placeKind?: "repository"): void => {
    const place = toPlace(join(path, name), placeKind);
    if (place) places.push(place);
  };
  // A folder that looks like a repository is one for git, wherever it lies; without its HEAD it is none.
  if (isRepository && kind === "plain") protect("HEAD");
  for (const entry of entries) {
    const { name } = entry;
    const below = join(path, name);
    if (isRepository && metadataNames.repository.has(name)) protect(name);
    else if (kind === "worktree" && metadataNames.worktree.has(name)) protect(name);
    else if (kind === "plain" && isProtected(name, path, workspace)) {
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

/** As what a folder is looked at; undefined: not at all. */
function toKindBelow(kind: FolderKind, isRepository: boolean, name: string): FolderKind | undefined {
  if (isRepository && name === "modules") return "modules";
  if (isRepository && name === "worktrees") return "worktrees";
  if (kind === "repository" || (isRepository && (name === "objects" || name === "refs"))) return undefined;
  if (kind === "modules") return "modules";
  if (kind === "worktrees") return "worktree";
  // Packages bring such files in great number, and nobody works in there.
  return kind === "plain" && name !== "node_modules" ? "plain" : undefined;
}

/** Plain names are told without the full comparison: there may be a hundred thousand of them. */
function isProtected(name: string, folder: string, workspace: string): boolean {
  if (/^[\w-][\w .+-]*$/.test(name) && !/[/.](claude|gemini|codex|fish)$/i.test(folder)) return false;
  return toProtectedName(join(relative(workspace, folder), name)) !== undefined;
}

function toPlace(path: string, kind?: "repository"): ProtectedPlace | undefined {
  const stat = readStat(path);
  if (!stat) return undefined;
  const found = stat.isSymbolicLink() ? "link" : stat.isDirectory() ? "folder" : "file";
  const target = found === "link" ? ` ${readlinkSync(path)}` : "";
  return { path, kind: kind ?? found, identity: toIdentity(stat) + target };
}
