/** Finds places that the user's rules `Read(…)` and `Write(…)` deny to commands (S-06): hidden or read-only. */
import type { Dirent } from "node:fs";
import { join, relative } from "node:path";
import { listFiles } from "@sheaf/base/files/list-files";
import { isBelow } from "@sheaf/base/files/workspace";
import type { FileRule } from "@sheaf/base/files/glob";
import {
  createFolderSearch,
  type FolderContent,
  readStat,
  toIdentity,
  type UnsearchedFolder,
} from "./folder-memory.ts";
import { type HeldPlace, toHeldPlace, toMounts, toShownPath } from "./held-place.ts";
import { listAncestors } from "./mounts.ts";

/** A denied place that exists; places inside it are not listed. */
interface DeniedPlace extends HeldPlace {
  readonly rule: FileRule;
}

export interface DeniedState {
  /** Outer folders first. */
  readonly places: readonly DeniedPlace[];
  /** Folders that must keep their names, so that the paths of rules stay valid. */
  readonly ancestors: readonly string[];
  /** The reason why the rules cannot be enforced, and what to do; undefined if they can. */
  readonly fault?: string | undefined;
}

interface Folder {
  readonly path: string;
  /** True if a rule makes the whole place read-only: only Read rules still matter inside. */
  readonly isReadOnly: boolean;
}

/** The limit of denied places: each one costs time with every command. */
const maxPlaces = 300;

/**
 * Returns a function that finds all denied places as they are now. It reports a fault if a rule cannot be enforced
 * everywhere, so no rule ever applies to a part only. `folders` are the workspace, then others; absolute paths, links
 * resolved. In the others, a rule about a path applies from each folder above as well, as it does for the file tools.
 * `given` are the user's denials.
 */
export function createDeniedIndex(folders: readonly string[], given: readonly FileRule[]): () => DeniedState {
  const rules = given.map((rule) => ({ ...rule, glob: rule.glob.in(folders[0]!) }));
  const search = createFolderSearch<DeniedPlace, Folder>((folder, entries) =>
    sortEntries(folder, entries, folders[0]!, rules),
  );
  const findOtherNames = createNameSearch(folders);
  return () => {
    if (rules.length === 0) return { places: [], ancestors: [] };
    const whole = folders.slice(1).flatMap((path) => {
      const rule = rules.find(({ kind, glob }) => kind === "Read" && glob.isCovering(path));
      return rule ? toPlaces(path, rule, folders[0]!) : [];
    });
    const { places: inner, unsearched } = search(folders.map((path) => ({ path, isReadOnly: false })));
    const named = [...whole, ...inner];
    const places = [...named, ...findOtherNames(named)];
    const fixed = places.filter(({ rule }) => rule.kind === "Write" || !rule.glob.isAnyDepth);
    const ancestors = listAncestors(
      fixed.map(({ path }) => path),
      folders,
    );
    const problem =
      places.length + ancestors.length > maxPlaces
        ? `more than ${maxPlaces} places are denied`
        : (findUnsearched(unsearched) ?? findWideLink(places, folders));
    return { places, ancestors, fault: problem && toFault(problem, rules) };
  };
}

/** Returns a function that finds hard links of files that must not be read. It searches again only after a change. */
function createNameSearch(folders: readonly string[]): (places: readonly DeniedPlace[]) => readonly DeniedPlace[] {
  let last: { readonly key: string; readonly places: readonly DeniedPlace[] } = { key: "", places: [] };
  return (places) => {
    const rules = new Map<string, FileRule>();
    const named = new Set<string>();
    const states: string[] = [];
    for (const { path, rule } of places.filter((place) => place.rule.kind === "Read" && !place.isLink)) {
      for (const file of readStat(path)?.isDirectory() ? listFiles(path) : [path]) {
        const stat = readStat(file);
        if (!stat?.isFile() || stat.nlink < 2n) continue;
        named.add(file);
        rules.set(toIdentity(stat), rule);
        states.push(`${file} ${toIdentity(stat)} ${stat.ctimeNs}`);
      }
    }
    const key = states.join("\n");
    if (key === last.key) return last.places;
    const others = folders.flatMap((folder) => listFiles(folder)).filter((file) => !named.has(file));
    const found = others.flatMap((file) => {
      const stat = readStat(file);
      const rule = stat && stat.nlink > 1n ? rules.get(toIdentity(stat)) : undefined;
      return rule ? toPlaces(file, rule, folders[0]!) : [];
    });
    last = { key, places: found };
    return found;
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
    if (rule) places.push(...toPlaces(path, rule, workspace));
    if (!entry.isDirectory() || rule?.kind === "Read") continue;
    const isReadOnlyBelow = isReadOnly || rule?.kind === "Write";
    const mayMatch = relevant.some(
      ({ kind, glob }) =>
        !(isReadOnlyBelow && kind === "Write") &&
        // Git manages the names inside `.git`.
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

/**
 * Returns the places that a rule denies at a path. A mount protects an existing place, unless it is a link: only
 * a program outside the sandbox makes a new file there.
 */
function toPlaces(path: string, rule: FileRule, workspace: string): DeniedPlace[] {
  const isHidden = rule.kind === "Read";
  const access = isHidden ? "hidden" : "read-only";
  const refusal = isHidden ? undefined : `The rule ${rule.text} denies writing ${toShownPath(path, workspace)}`;
  return toHeldPlace(path, { access, refusal }).map((place) => ({
    ...place,
    keys: place.isLink ? place.keys : [...place.keys, `path ${path}`],
    rule,
  }));
}

function findUnsearched([folder]: readonly UnsearchedFolder[]): string | undefined {
  return folder && `${JSON.stringify(folder.path)} cannot be searched: ${folder.problem}`;
}

function findWideLink(places: readonly DeniedPlace[], folders: readonly string[]): string | undefined {
  const links = places.filter(({ isLink }) => isLink);
  const wide = links.find((place) =>
    toMounts(place).some(({ path }) => folders.some((folder) => isBelow(folder, path))),
  );
  return wide && `the link ${JSON.stringify(wide.path)} leads to a folder that contains the workspace`;
}

function toFault(problem: string, rules: readonly FileRule[]): string {
  const names = rules.slice(0, 5).map(({ text }) => text);
  return `the rules ${names.join(", ")} cannot be enforced on commands (${problem}), so no command runs: make the rules narrower, for instance by naming a folder`;
}
