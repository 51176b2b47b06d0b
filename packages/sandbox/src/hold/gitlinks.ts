/** Finds folders of other repositories in the user's index: git enters them unasked, even while a command runs. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { readStats, toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import { listGitlinks } from "@sheaf/base/git/git-index";
import { readGitConfig } from "@sheaf/base/git/git-config";
import { findOwnRepository } from "../git/own-repository.ts";
import { type HeldMounts, listAncestors, type Mount } from "./mounts.ts";

interface ReadIndex {
  /** Distinguishes states of the file. */
  readonly state: string;
  readonly paths: readonly string[];
}

/**
 * Returns a function that finds, for a command, the folders that must not be renamed, and empty ones, in which the
 * command must not make a repository. It creates missing ones. `tops` are the folders that commands write; absolute,
 * links resolved.
 */
export function createGitlinkIndex(tops: readonly string[]): () => Pick<HeldMounts, "kept" | "mounts"> {
  const known = new Map<string, ReadIndex>();
  return () => {
    const paths = tops.flatMap((top) => listPaths(top, known));
    const mounts = paths
      .filter((path) => !readStats(join(path, ".git")))
      .map((path): Mount => ({ path, access: "read-only" }));
    const full = paths.filter((path) => !mounts.some((mount) => mount.path === path));
    return { mounts, kept: [...full, ...listAncestors(paths, tops)] };
  };
}

function listPaths(top: string, known: Map<string, ReadIndex>): string[] {
  const repository = findOwnRepository(top);
  const stats = repository && readStats(join(repository.gitFolder, "index"));
  if (!repository || !stats) return [];
  const { root, gitFolder, commonFolder } = repository;
  const state = `${stats.ino}:${stats.mtimeMs}:${stats.ctimeMs}:${stats.size}`;
  const before = known.get(gitFolder);
  const paths = before?.state === state ? before.paths : readPaths(gitFolder, commonFolder);
  known.set(gitFolder, { state, paths });
  return paths.map((path) => join(root, path)).filter((path) => path !== top && isBelow(path, top) && isFolder(path));
}

/** Sparse folders end with a slash; git looks for repositories only in the others. */
function readPaths(gitFolder: string, commonFolder: string): readonly string[] {
  const { settings } = readGitConfig([join(commonFolder, "config")], "");
  const isLong = settings.some(({ key, value }) => key === "extensions.objectformat" && value === "sha256");
  return (listGitlinks(gitFolder, isLong ? 32 : 20) ?? []).filter((path) => !path.endsWith("/"));
}

/** Makes a missing folder, but follows no link. */
function isFolder(path: string): boolean {
  const stats = readStats(path);
  if (stats) return stats.isDirectory() && toRealPlace(path) === path;
  if (!isFolder(dirname(path))) return false;
  mkdirSync(path);
  return true;
}
