/** Enforces the user's rules `Read(…)` and `Write(…)` on commands: what they deny is hidden or read-only. */
import { type Dirent, readlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isBelow } from "../../../workspace/workspace.ts";
import type { FileRule } from "../../permissions/rule.ts";
import { createFolderSearch, type FolderContent, readStat, toIdentity } from "./folder-memory.ts";
import { type DeniedMounts, type Mount, toExistingPath } from "./mounts.ts";
import { takeAway } from "./take-away.ts";

/** The denied places of one workspace, over all commands of a run. */
export interface DeniedPlaces {
  /**
   * For a command that starts now.
   * @throws Error with a sentence when the rules cannot be enforced: then no command runs.
   */
  begin(): DeniedMounts;
  /**
   * For a command that has ended: takes away what it created where nothing may be written, since nothing can be mounted
   * where nothing exists. Returns a sentence for each, for the model and the user.
   */
  end(): string[];
}

/** `folders`: the workspace, then others that commands write; absolute, links resolved. */
export function createDeniedPlaces(folders: readonly string[], rules: readonly FileRule[]): DeniedPlaces {
  const [workspace = ""] = folders;
  const refresh = createDeniedIndex(folders, rules);
  const isWriteDenied = rules.some(({ kind }) => kind === "Write");
  let running = 0;
  let knownPaths = new Set<string>();
  let knownPlaces = new Set<string>();
  const note = ({ places }: DeniedState): void => {
    knownPaths = new Set(places.filter(({ target }) => target === undefined).map(({ path }) => path));
    knownPlaces = new Set(places.map(({ identity }) => identity));
  };
  return {
    begin() {
      const state = refresh();
      if (state.fault !== undefined) throw new Error(state.fault);
      // What appears while no command runs was made by the user.
      if (running === 0) note(state);
      running += 1;
      return toMounts(state);
    },
    end() {
      running -= 1;
      if (!isWriteDenied) return [];
      // A mount protects an existing place: a new file under its name comes from outside the sandbox.
      const isNew = ({ path, identity }: DeniedPlace): boolean => !knownPaths.has(path) && !knownPlaces.has(identity);
      const places = refresh().places.filter((place) => place.access === "read-only" && isNew(place));
      return takeAway(
        places.map(({ path, rule }) => {
          const reason = `The rule ${rule.text} denies writing ${JSON.stringify(relative(workspace, path))}`;
          return { path, reason };
        }),
      );
    },
  };
}

/** A mount on a link would cover its target. */
export function toMounts({ places, ancestors }: DeniedState): DeniedMounts {
  const mounts = places.flatMap(({ path, target = path, access, isFolder }): Mount[] => {
    if (target === "") return [];
    if (access === "read-only") return [{ path: target, access }];
    return [{ path: target, access: isFolder ? "hidden-folder" : "hidden-file" }];
  });
  const isReadOnly = ({ access }: Mount): boolean => access === "read-only";
  return {
    kept: ancestors.map((path) => ({ path, access: "writable" })),
    readOnly: mounts.filter(isReadOnly),
    hidden: mounts.filter((mount) => !isReadOnly(mount)),
  };
}

/** A denied place that exists; places inside it are not listed. */
interface DeniedPlace {
  /** Absolute; only the last part may be a link. */
  readonly path: string;
  readonly access: "hidden" | "read-only";
  readonly isFolder: boolean;
  /** The target of a link, without links. */
  readonly target?: string | undefined;
  /** Device and inode, and a link's text. */
  readonly identity: string;
  readonly rule: FileRule;
}

interface DeniedState {
  /** Outer folders first. */
  readonly places: readonly DeniedPlace[];
  /** Folders that must keep their names, so that the paths of rules stay valid. */
  readonly ancestors: readonly string[];
  /** Why the rules cannot be enforced, and what to do; undefined if they can. */
  readonly fault?: string | undefined;
}

interface Folder {
  readonly path: string;
  /** A rule makes it read-only as a whole: only Read rules still matter inside. */
  readonly isReadOnly: boolean;
}

/** Limits of folders searched and places enforced: each costs time with every command. */
const maxFolders = 20_000;
const maxPlaces = 300;

/**
 * Returns what finds all denied places as they are now. A rule that cannot be enforced everywhere is a fault: no rule applies to a part only.
 * `folders`: the workspace, then others; absolute, links resolved. In the others a rule about a path applies from each of
 * the folders above on, as for the file tools. `rules`: the user's denials.
 */
export function createDeniedIndex(folders: readonly string[], rules: readonly FileRule[]): () => DeniedState {
  const search = createFolderSearch<DeniedPlace, Folder>(maxFolders, (folder, entries) =>
    sortEntries(folder, entries, folders[0]!, rules),
  );
  return () => {
    if (rules.length === 0) return { places: [], ancestors: [] };
    const { places, isComplete } = search(folders.map((path) => ({ path, isReadOnly: false })));
    const ancestors = listAncestors(places, folders);
    const fault = isComplete
      ? findFault(places, ancestors, folders)
      : `more than ${maxFolders} folders would have to be searched`;
    return { places, ancestors, fault: fault && toFault(fault, rules) };
  };
}

function sortEntries(
  { path: folder, isReadOnly }: Folder,
  entries: readonly Dirent[],
  workspace: string,
  rules: readonly FileRule[],
): FolderContent<DeniedPlace, Folder> {
  const places: DeniedPlace[] = [];
  const folders: Folder[] = [];
  const relevant = isReadOnly ? rules.filter(({ kind }) => kind === "Read") : rules;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const named = isBelow(path, workspace) ? relative(workspace, path) : path;
    const rule = findRule(relevant, "Read", entry.name, named) ?? findRule(relevant, "Write", entry.name, named);
    const place = rule && toPlace(path, rule);
    if (place) places.push(place);
    if (!entry.isDirectory() || rule?.kind === "Read") continue;
    const isReadOnlyBelow = isReadOnly || rule?.kind === "Write";
    const mayMatch = relevant.some(
      ({ kind, glob }) =>
        !(isReadOnlyBelow && kind === "Write") &&
        // Names inside `.git` are git's own.
        !(entry.name === ".git" && glob.isAnyDepth) &&
        glob.mayMatchBelow(named),
    );
    if (mayMatch) folders.push({ path, isReadOnly: isReadOnlyBelow });
  }
  return { places, folders };
}

function findRule(
  rules: readonly FileRule[],
  kind: FileRule["kind"],
  name: string,
  path: string,
): FileRule | undefined {
  return rules.find((rule) => rule.kind === kind && rule.glob.isCovering(rule.glob.isAnyDepth ? name : path));
}

function toPlace(path: string, rule: FileRule): DeniedPlace | undefined {
  const stat = readStat(path);
  if (!stat) return undefined;
  const access = rule.kind === "Read" ? "hidden" : "read-only";
  const identity = toIdentity(stat);
  if (!stat.isSymbolicLink()) return { path, access, isFolder: stat.isDirectory(), identity, rule };
  const target = toExistingPath(path);
  const isFolder = target !== undefined && readStat(target)?.isDirectory() === true;
  return { path, access, isFolder, target: target ?? "", identity: `${identity} ${readlinkSync(path)}`, rule };
}

/** The folders above places whose rule is about a path, or that must not be recreated under the old path. */
function listAncestors(places: readonly DeniedPlace[], folders: readonly string[]): string[] {
  const found = new Set<string>();
  for (const { path, rule } of places) {
    if (rule.kind === "Read" && rule.glob.isAnyDepth) continue;
    const top = folders.find((folder) => isBelow(path, folder)) ?? "";
    for (let folder = dirname(path); folder.length > top.length; folder = dirname(folder)) found.add(folder);
  }
  return [...found];
}

function findFault(
  places: readonly DeniedPlace[],
  ancestors: readonly string[],
  folders: readonly string[],
): string | undefined {
  if (places.length + ancestors.length > maxPlaces) return `more than ${maxPlaces} places are denied`;
  const wide = places.find(({ target }) => target && folders.some((folder) => isBelow(folder, target)));
  return wide && `the link ${JSON.stringify(wide.path)} leads to a folder that contains the workspace`;
}

function toFault(problem: string, rules: readonly FileRule[]): string {
  const names = rules.slice(0, 5).map(({ text }) => text);
  return `the rules ${names.join(", ")} cannot be enforced on commands (${problem}), so no command runs: make the rules narrower, for instance by naming a folder`;
}
