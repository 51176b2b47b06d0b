/**
 * What in git's own folders decides which programs git runs later, and where it writes (S-77). Git replaces files there by
 * name, follows links, and takes up an interrupted rebase or cherry-pick from files.
 */
import type { Dirent } from "node:fs";
import { basename, dirname } from "node:path";
import { readSmallBytesIn } from "@sheaf/base/files/open-file";
import { type HeldPlace, toHeldPlace } from "./held-place.ts";

export interface GitFolder {
  /** `root`: it contains `HEAD`. `other`: only links matter in it. */
  readonly kind: "root" | "modules" | "worktrees" | "info" | "objects" | "interrupted" | "other";
  /** It is a submodule's root. */
  readonly isModule?: boolean;
  /** The key of the `HEAD` without which git would not use the folder; undefined: git uses it in any case. */
  readonly basis?: string | undefined;
}

/** Entries of a root. */
const decidingNames: ReadonlySet<string> = new Set([
  "hooks", "config", "config.worktree", "commondir", "gitdir", "branches", "remotes",
]); // prettier-ignore

const innerKinds: Readonly<Record<string, GitFolder["kind"]>> = {
  modules: "modules",
  worktrees: "worktrees",
  info: "info",
  objects: "objects",
  "rebase-merge": "interrupted",
  "rebase-apply": "interrupted",
  sequencer: "interrupted",
};

/** Whether git accepts a folder with these entries as a repository, whatever its name (its `is_git_directory`). */
export function isRepositoryShape(entries: readonly Dirent[]): boolean {
  const hasName = (wanted: string): boolean => entries.some(({ name }) => name.toLowerCase() === wanted);
  return hasName("head") && (hasName("commondir") || (hasName("objects") && hasName("refs")));
}

/** Whether places in the folder depend on the content of files. */
export function hasContentPlaces(git: GitFolder | undefined): boolean {
  return git?.kind === "interrupted" || git?.kind === "root";
}

/** A folder in a git folder; undefined: nothing in it matters. */
export function toInnerGitFolder({ kind, basis }: GitFolder, name: string): GitFolder | undefined {
  switch (kind) {
    case "root":
      return { kind: innerKinds[name] ?? "other", basis };
    case "modules":
      return { kind: "modules", basis };
    case "worktrees":
      return { kind: "root", basis };
    case "objects":
      // The others are named after the objects in them.
      return name === "info" || name === "pack" ? { kind: "other", basis } : undefined;
    default:
      return { kind: "other", basis };
  }
}

/** What matters about an entry of a git folder. `name`: for messages. */
export function listEntryPlaces(path: string, name: string, entry: Dirent, git: GitFolder): HeldPlace[] {
  const { kind, basis } = git;
  if (isDeciding(kind, entry.name.toLowerCase())) {
    const refusal = `${name} is protected, and commands may not create it`;
    const places = toHeldPlace(path, { access: "read-only", refusal, basis });
    return entry.name === "config" && entry.isFile() ? places.map((place) => withText(place, git)) : places;
  }
  // A socket is of git's own watcher; commands get none that answers.
  if (!entry.isFile() && !entry.isDirectory() && !entry.isSocket()) {
    const refusal = `git would follow ${name}, which is neither a file nor a folder, so commands may not create it`;
    return toHeldPlace(path, { refusal, basis });
  }
  if (kind !== "interrupted") return [];
  return listPrograms(path, entry.name).flatMap((program) => {
    const refusal = `${name} would run ${JSON.stringify(program.slice(0, 80))}, which commands may not add`;
    return toHeldPlace(path, { refusal, basis }).map((place) => ({ ...place, keys: [`program ${program}`] }));
  });
}

const maxConfigBytes = 256 * 1024;

/**
 * A config with known text is known, whoever replaced the file: a user's `git push -u` does, and so do editors.
 * `git submodule update` replaces the submodule's config with an equal one, which a mount would prevent.
 */
function withText(place: HeldPlace, { isModule }: GitFolder): HeldPlace {
  const text = readBytes(place.path, maxConfigBytes);
  if (!text) return place;
  const key = `config ${text.toString("latin1").replaceAll(branchSection, "")}`;
  return isModule ? { ...place, keys: [key], access: undefined, text } : { ...place, keys: [...place.keys, key], text };
}

/** What git and editors write about a branch, exactly as git writes it; a remote that is a name, not an address. */
const branchSection =
  /^\[branch "[^"\\\n]*"\]\n(?:\t(?:(?:remote|pushRemote) = [\w.-]+|rebase = (?:true|false)|(?:merge|vscode-merge-base|gh-merge-base|github-pr-owner-number) = [\w./@+#-]+)\n)*/gm;

function isDeciding(kind: GitFolder["kind"], name: string): boolean {
  return (kind === "root" && decidingNames.has(name)) || (kind === "info" && name === "attributes");
}

/** Merge strategies that are part of git. For another name git runs the program `git-merge-NAME`, which may be a path. */
const ownStrategies: ReadonlySet<string> = new Set(["ort", "recursive", "resolve", "octopus", "ours", "subtree"]);

const maxBytes = 4 * 1024 * 1024;

/** What `git rebase --continue` or `git cherry-pick --continue` would run because of a file: one text for each. */
function listPrograms(path: string, name: string): string[] {
  const read = programReaders[name];
  if (!read) return [];
  const bytes = readBytes(path, maxBytes);
  return bytes === undefined ? ["a file that cannot be read"] : read(bytes.toString("latin1"));
}

function readBytes(path: string, limit: number): Buffer | undefined {
  return readSmallBytesIn(dirname(path), basename(path), limit);
}

const programReaders: Readonly<Record<string, (text: string) => string[]>> = {
  "git-rebase-todo": (text) => [...text.matchAll(/^[ \t]*((?:exec|x)\b.*)$/gm)].map(([, line = ""]) => line.trim()),
  strategy: (text) => toForeignStrategies([text]),
  opts: (text) => toForeignStrategies([...text.matchAll(/strategy[ \t]*=([^\n]*)/gi)].map(([, value = ""]) => value)),
};

function toForeignStrategies(values: readonly string[]): string[] {
  const names = values.map((value) => value.trim());
  return names.filter((name) => !ownStrategies.has(name)).map((name) => `git merge-${name}`);
}
