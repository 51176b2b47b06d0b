/** Finds places of the workspace in git's configuration: their content decides which programs git runs (S-80). */
import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../paths.ts";
import {
  type GitConfig,
  type GitSetting,
  isInclude,
  listUserConfigFiles,
  readGitConfig,
  toConfigPath,
  toGitHome,
} from "./git-config.ts";
import { followLinks } from "../files/follow-links.ts";
import { listEntries } from "../files/list-files.ts";
import { listCandidates, readStats, type Repository } from "../files/repository.ts";
import { toComparablePath } from "../files/comparable-name.ts";
import { isBelow, type Workspace, type WorkspacePath } from "../files/workspace.ts";

/** A place that decides what git runs. */
export interface GitPlace {
  /** Absolute path of a file, or of a folder with all its content; it need not exist. */
  readonly path: string;
  /** The setting or file that points to it, for a message. */
  readonly reason: string;
}

export interface GitPlacesOptions {
  /** Folders in which git may run: the workspace, added folders, their repositories. Absolute, links resolved. */
  readonly folders: readonly string[];
  /** Folders whose inner places are wanted, but not these folders themselves. Absolute, links resolved. */
  readonly inside: readonly string[];
  /** The user's environment, by which the user's configuration is found. */
  readonly environment: Environment;
}

/** Most places. The user's own have priority. */
const maxPlaces = 1000;

/** Most submodules to look at. */
const maxRepositories = 200;

/** Lists the places in the configuration of machine, user and repositories, with the links to them. Never throws. */
export function listGitPlaces({ folders, inside, environment }: GitPlacesOptions): GitPlace[] {
  const home = toGitHome(environment);
  const userFiles = listUserConfigFiles(environment);
  const shared = readGitConfig(userFiles, home).settings;
  const places = new Map<string, GitPlace>();
  const add = (path: string, reason: string): void => {
    for (const spelling of listSpellings(path)) {
      const isWanted = inside.some((folder) => spelling !== folder && isBelow(spelling, folder));
      if (isWanted && !places.has(spelling) && places.size < maxPlaces)
        places.set(spelling, { path: spelling, reason });
    }
  };
  for (const file of userFiles) add(file, "git reads it as its configuration");
  for (const repository of listRepositories(folders)) {
    const { root, gitFolder, commonFolder } = repository;
    const hooks = new Set(gitFolder === "" ? [] : [commonFolder, gitFolder].map((folder) => join(folder, "hooks")));
    for (const setting of [...shared, ...readRepositoryConfig(repository, environment).settings]) {
      for (const path of toNamedPaths(setting, root, home)) add(path, toReason(setting));
      const folder = setting.key === "core.hookspath" ? toConfigPath(setting, root, home) : undefined;
      if (folder === undefined) continue;
      hooks.add(folder);
      for (const path of toHookPlaces(folder, inside)) add(path, toReason(setting));
    }
    for (const link of [...hooks].flatMap(listLinks)) add(link, `${link} leads there, and git runs it as a hook`);
  }
  return [...places.values()];
}

/** Returns the place that a path touches, by its spelling or through links; undefined if it touches none. */
export function findGitPlace({ root, git }: Workspace, { absolute, named }: WorkspacePath): GitPlace | undefined {
  const paths = [absolute, isAbsolute(named) ? named : join(root, named)];
  const folders = [root, ...git.folders, ...paths.flatMap((path) => listRepositoriesAbove(path, root))];
  const places = listGitPlaces({ folders, inside: [root], environment: git.environment });
  const compared = paths.map(toComparablePath);
  return places.find((place) => {
    const other = toComparablePath(place.path);
    // A path above a place matches as well, because replacing that folder or link replaces the place.
    return compared.some((path) => isBelow(path, other) || isBelow(other, path));
  });
}

/** Folders from `path` up to `root` that look like repositories. */
function listRepositoriesAbove(path: string, root: string): string[] {
  const found: string[] = [];
  for (let folder = dirname(path); folder !== root && isBelow(folder, root); folder = dirname(folder)) {
    if ([".git", "HEAD"].some((name) => findKind(join(folder, name)) !== "none")) found.push(folder);
  }
  return found;
}

/**
 * Reads the repository's own configuration, without the machine's and the user's. It always includes the files in
 * `gitFolder`: while a command runs, its new `commondir` may make git ignore them.
 */
export function readRepositoryConfig({ gitFolder, commonFolder }: Repository, environment: Environment): GitConfig {
  if (gitFolder === "") return { settings: [], unread: [] };
  const folders = [commonFolder, gitFolder];
  const files = folders.flatMap((folder) => ["config", "config.worktree"].map((name) => join(folder, name)));
  return readGitConfig(files, toGitHome(environment));
}

function toReason(setting: GitSetting): string {
  return `git's setting ${toShownKey(setting)} names it`;
}

/** Formats a key such as `core.hookspath in /home/me/.gitconfig`. A subsection may contain any text. */
export function toShownKey({ key, file }: GitSetting): string {
  return `${key.slice(0, 100).replaceAll(/[^ -~]/g, "?")} in ${file}`;
}

/** Lists the repositories of the folders, with their submodules. A folder without a repository may get one. */
function listRepositories(folders: readonly string[]): Repository[] {
  const found = new Map<string, Repository>();
  const waiting = [...folders];
  for (let next = waiting.shift(); next !== undefined && found.size < maxRepositories; next = waiting.shift()) {
    for (const repository of listCandidates(next)) {
      if (found.has(repository.root)) continue;
      found.set(repository.root, repository);
      waiting.push(...listSubmodules(repository));
    }
  }
  return [...found.values()];
}

function listSubmodules({ root }: Repository): string[] {
  const { settings } = readGitConfig([join(root, ".gitmodules")], "");
  const paths = settings.flatMap(({ key, value }) => (value && /^submodule\..*\.path$/s.test(key) ? [value] : []));
  const inner = paths.slice(0, maxRepositories).map((path) => join(root, path));
  return inner.filter((path) => isBelow(path, root));
}

/** Lists the paths on the way to a path's real place, without dots, up to a link that cannot be followed. */
function listSpellings(path: string): string[] {
  const place = resolve(path);
  const spellings = [place];
  try {
    const folder = dirname(place);
    if (existsSync(folder) && realpathSync.native(folder) === folder && !readStats(place)?.isSymbolicLink()) return spellings; // prettier-ignore
    spellings.push(followLinks("/", path.split("/"), (spelling) => spellings.push(spelling)).target);
  } catch {
    // The links form a circle, or this user may not search a folder.
  }
  return spellings;
}

function listLinks(folder: string): string[] {
  return listEntries(folder)
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => join(folder, name));
}

/** Keys whose value is run by git, or by a program that is part of it. */
const programKey = toKeyPattern([
  "core.(?:askpass|editor|pager|sshcommand|fsmonitor|gitproxy|alternaterefscommand)",
  "sequence.editor", "interactive.difffilter", "uploadpack.packobjectshook", "imap.tunnel", "pager.*", "hook.*.command",
  "diff.external", "diff.*.(?:command|textconv)", "merge.*.driver", "filter.*.(?:clean|smudge|process)",
  "(?:mergetool|difftool|browser|man|guitool).*.(?:cmd|path)",
  "gpg.(?:*.)?(?:program|defaultkeycommand)", "credential.(?:*.)?helper", "trailer.*.(?:command|cmd)", "tar.*.command",
  "remote.*.(?:uploadpack|receivepack|vcs)", "instaweb.(?:httpd|browser)",
  "sendemail.(?:*.)?(?:smtpserver|sendmailcmd|tocmd|cccmd|headercmd)",
  "lfs.customtransfer.*.path", "lfs.extension.*.(?:clean|smudge)",
]); // prettier-ignore

/** Returns a pattern in which a star matches any text, as in a subsection. */
function toKeyPattern(keys: readonly string[]): RegExp {
  return new RegExp(`^(?:${keys.join("|").replaceAll(".", "\\.").replaceAll("*", ".*")})$`, "s");
}

/** True if git runs the value of a setting. Truth values only switch built-in features. */
export function isProgram({ key, value = "" }: GitSetting): boolean {
  if (value === "" || /^(?:true|false|yes|no|on|off|\d+)$/i.test(value)) return false;
  if (/^submodule\..*\.update$/s.test(key)) return value.startsWith("!");
  // These values are the names of tools, or the paths of scripts for them.
  if (/^(?:diff|merge)\.(?:gui)?tool$/.test(key)) return value.includes("/");
  // An alias without "!" is a command of git, which may have a program among its options.
  if (key.startsWith("alias.")) return /^!|(?:^|\s)(?:-[cx]|--exec|run|foreach|filter-branch)/.test(value);
  return programKey.test(key);
}

/** Returns the absolute paths in a setting. */
function toNamedPaths(setting: GitSetting, root: string, home: string): string[] {
  const { key, file, value = "" } = setting;
  if (isProgram(setting)) return toProgramPaths(value, root, home);
  const isFile = isInclude(setting) || key === "core.attributesfile" || key === "init.templatedir";
  const path = isFile ? toConfigPath(setting, isInclude(setting) ? dirname(file) : root, home) : undefined;
  return path === undefined ? [] : [path];
}

/** Returns the places to protect in a folder of hooks. */
function toHookPlaces(folder: string, inside: readonly string[]): string[] {
  const plain = resolve(folder);
  // The workspace itself cannot be a place, so each hook in it is one.
  if (inside.includes(plain)) return hookNames.map((name) => join(plain, name));
  // Husky puts the users' scripts into the folder above.
  return basename(plain) === "_" && !inside.includes(dirname(plain)) ? [dirname(plain)] : [folder];
}

const hookNames = [
  "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit", "post-index-change",
  "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit",
  "pre-push", "pre-rebase", "pre-receive", "prepare-commit-msg", "proc-receive", "push-to-checkout", "reference-transaction",
  "sendemail-validate", "update",
]; // prettier-ignore

/** Characters of a value to search, since a longer one may contain thousands of paths. */
const maxValue = 65_536;

/**
 * Finds the words of a command that may be files: words with a slash, or existing files, such as the script in `python3
 * watch.py`. Relative words start in the root, where git runs them. It ignores existing folders, on which a command
 * only works.
 */
function toProgramPaths(value: string, root: string, home: string): string[] {
  // A variable's value is the home, or most likely the root.
  const text = value
    .slice(0, maxValue)
    .replaceAll(/\$(?:HOME|\{HOME\})(?=\/)/g, "~")
    .replaceAll(/(?:\$\([^()]*\)|\$\{\w+\}|\$\w+|`[^`]*`)(?=\/)/g, ".");
  // A shell may read quoted text again, so it tries each way: cut at quotes, quoted as a whole, with escaped blanks.
  const words = new Set([
    ...text.split(/[\s"'`!;&|()<>=,]+/),
    ...[...text.matchAll(/"([^"|;&]*)"|'([^'|;&]*)'/g)].map(([, one, other]) => one ?? other ?? ""),
    ...[...text.matchAll(/(?:\\ |[^\s\\])+/g)]
      .map(([word]) => word.replaceAll("\\ ", " "))
      .filter((word) => word.includes(" ")),
  ]);
  return [...words].flatMap((word) => {
    if (word.endsWith("/") || word.includes("\0") || /^\w+:\/\//.test(word)) return [];
    const path = word.startsWith("~/") ? home + word.slice(1) : isAbsolute(word) ? word : `${root}/${word}`;
    const kind = findKind(path);
    return kind === "file" || (kind === "none" && word.includes("/")) ? [path] : [];
  });
}

function findKind(path: string): "file" | "folder" | "none" {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return !stats ? "none" : stats.isDirectory() ? "folder" : "file";
  } catch {
    return "none";
  }
}
